"""The search index in Milvus.

A collection for each making of it, named by the database, the space of its vectors and chance; an alias tells
which one is filled. Whoever asks for one that was dropped is told so, rather than finding nothing. What is
written is removed and put in again: the upsert of some servers forgets the partition that a row belongs to.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeVar

from recollect.errors import ProjectionError, RecollectError
from recollect.model.search import Search
from recollect.model.space import Space
from recollect.ports.projection import Portion
from recollect.ports.store import Store, UserView
from recollect.ports.stored import SearchedFeed
from recollect.stores.milvus import collection
from recollect.stores.milvus.connecting import Connection, address, reason
from recollect.stores.milvus.filters import expression
from recollect.stores.milvus.rows import docs_of, key, rows

T = TypeVar("T")

CHUNKS = 2000
"""About how many chunks are read at once."""
BATCH = 1000
"""How many are written at once, and how many bytes of vectors: a message has to be below 64 MiB."""
BATCH_BYTES = 8 << 20
PATIENCE = 60.0
"""Seconds that the background waits for an answer."""
BOUNDED = timedelta(seconds=6)
"""After how long a reader sees what was written: Milvus promises 5 seconds."""


class MilvusIndex:
    """The `SearchIndex` port."""

    name = "milvus"

    def __init__(self, store: Store, where: str, *, token: str, timeout: float) -> None:
        self._store = store
        self._where = address(where)
        self._timeout = timeout
        self._connection = Connection(self._where, token, timeout)

    @property
    def settles(self) -> timedelta:
        return timedelta(0) if self._where.lite else BOUNDED

    def ping(self) -> None:
        self._ask(self._made)

    def epoch(self) -> str:
        """The collection of the space that is searched; empty while there is none. Those of other spaces, and
        what was left of one that was being made, go."""
        space = self._store.active_space()
        return "" if space is None else self._ask(lambda client: self._current(client, space))

    def read(self, view: UserView, since: int) -> Portion:
        feed = view.searched_since(since, CHUNKS)
        return Portion(feed.upto, feed)

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        feed: SearchedFeed = portion.content
        if not feed.chunks and not feed.gone:
            return None
        if feed.space is None:
            return self._remove(epoch, number, feed) if epoch else None
        self._check(epoch, feed.space)
        size = max(1, min(BATCH, BATCH_BYTES // (4 * feed.space.dimensions)))
        self._remove(epoch, number, feed)
        for batch in _batches(rows(number, feed.chunks), size):
            self._ask(lambda client, batch=batch: client.insert(epoch, batch, timeout=self._patience))
        return None

    def _remove(self, epoch: str, number: int, feed: SearchedFeed) -> None:
        keys = [key(number, doc) for doc in (*feed.gone, *(chunk.doc for chunk in feed.chunks))]
        for batch in _batches(keys, BATCH):
            self._ask(lambda client, batch=batch: client.delete(epoch, ids=batch, timeout=self._patience))

    def forget(self, epoch: str, number: int) -> None:
        if epoch:
            everything = f"user_id == {number}"
            self._ask(lambda client: client.delete(epoch, filter=everything, timeout=self._patience))

    def drop(self) -> None:
        self._ask(lambda client: self._drop_all_but(client, ""))

    def propose(self, epoch: str, number: int, search: Search, limit: int) -> tuple[int, ...]:
        if search.vector is None or search.space is None or not all(search.filter.wanted.values()):
            return ()
        self._check(epoch, search.space)
        most = min(limit, collection.MOST)
        (found,) = self._ask(
            lambda client: client.search(
                epoch,
                data=[search.vector],
                anns_field="vector",
                filter=expression(number, search.filter),
                limit=most,
                search_params=collection.search_params(most, lite=self._where.lite),
                consistency_level="Bounded",
                timeout=self._timeout,
            )
        )
        return tuple(dict.fromkeys(docs_of(number, (hit["id"] for hit in found))))

    def close(self) -> None:
        self._connection.close()

    @cached_property
    def _ours(self) -> str:
        """How the name of every collection of this database begins."""
        return f"recollect_{self._store.identity()}_"

    def _alias(self, space: Space) -> str:
        return f"{self._ours}{space.code}"

    def _check(self, epoch: str, space: Space) -> None:
        if not epoch.startswith(f"{self._alias(space)}_"):
            raise ProjectionError(
                f"Milvus at {self._where.shown} has nothing of {space.model} yet: `recollect tend` copies it "
                "there."
            )

    def _current(self, client: Any, space: Space) -> str:
        alias = self._alias(space)
        current = next((name for name in self._made(client) if alias in self._aliases(client, name)), None)
        if current is None:
            current = f"{alias}_{secrets.token_hex(6)}"
            collection.make(client, current, space, lite=self._where.lite, timeout=self._patience)
            # Of two who make it at once, one fails here.
            client.create_alias(current, alias, timeout=self._patience)
        self._drop_all_but(client, current)
        return current

    def _made(self, client: Any) -> Iterator[str]:
        # Without a timeout the client would go on asking a server that is down for minutes.
        names = client.list_collections(timeout=self._timeout)
        return (name for name in names if name.startswith(self._ours))

    def _drop_all_but(self, client: Any, current: str) -> None:
        for name in self._made(client):
            if name != current:
                for alias in self._aliases(client, name):
                    client.drop_alias(alias, timeout=self._patience)
                client.drop_collection(name, timeout=self._patience)

    def _aliases(self, client: Any, name: str) -> Sequence[str]:
        return client.list_aliases(name, timeout=self._timeout)["aliases"]

    @property
    def _patience(self) -> float:
        return max(self._timeout, PATIENCE)

    def _ask(self, ask: Callable[[Any], T]) -> T:
        try:
            return ask(self._connection.client())
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - the client raises what several libraries do
            raise ProjectionError(
                f"Milvus at {self._where.shown} failed ({reason(error)}): see that it runs and that "
                "RECOLLECT_MILVUS and RECOLLECT_MILVUS_TOKEN are right."
            ) from None


def _batches(found: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (found[start : start + size] for start in range(0, len(found), size))
