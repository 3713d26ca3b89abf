"""The search index in Milvus.

A collection for each making of it, named by the database, the space of its vectors and chance; an alias tells
which one is filled. Whoever asks for one that was dropped is told so, rather than finding nothing. What is
written is removed and put in again: the upsert of some servers forgets the partition that a row belongs to.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from recollect.errors import ProjectionError, RecollectError
from recollect.model.search import Search
from recollect.model.space import Space
from recollect.ports.projection import Portion
from recollect.ports.search_index import Proposed
from recollect.ports.store import Store, UserView
from recollect.ports.stored import SearchedFeed
from recollect.stores.milvus import collection
from recollect.stores.milvus.connecting import Connection, address, reason
from recollect.stores.milvus.filters import expression
from recollect.stores.milvus.rows import docs_of, key, rows, tokens

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


@dataclass(frozen=True, slots=True)
class _Copied:
    """What is read of a portion, with the words of each document, if any collection takes them."""

    feed: SearchedFeed
    words: Mapping[int, str] | None


class MilvusIndex:
    """The `SearchIndex` port."""

    name = "milvus"

    def __init__(self, store: Store, where: str, *, token: str, timeout: float) -> None:
        self._store = store
        self._where = address(where)
        # Asked now: whoever asks the index later has a connection of the store's in use.
        self._ours = f"recollect_{store.identity()}_"
        """How the name of every collection of this database begins."""
        self._timeout = timeout
        self._connection = Connection(self._where, token, timeout)
        self._with_words: dict[str, bool] = {}  # collections that were met: they never change

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
        if self._with_words and not any(self._with_words.values()):
            feed, words = view.searched_since(since, CHUNKS), None
        else:
            feed, secret = view.searched_since(since, CHUNKS, terms=True), view.secret()
            words = {chunk.doc: tokens(secret, chunk.terms) for chunk in feed.chunks}
        return Portion(feed.upto, _Copied(feed, words))

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        copied: _Copied = portion.content
        feed = copied.feed
        if not feed.chunks and not feed.gone:
            return None
        if feed.space is None:
            return self._remove(epoch, number, feed) if epoch else None
        self._check(epoch, feed.space)
        words = copied.words if self._ask(lambda client: self._has_words(client, epoch)) else None
        if words is None and self._with_words[epoch]:  # made while this was read, the first to take words
            raise ProjectionError(f"Milvus at {self._where.shown} was made anew: the next round copies.")
        longest = max(map(len, words.values()), default=0) if words else 0
        size = max(1, min(BATCH, BATCH_BYTES // (4 * feed.space.dimensions + longest)))
        self._remove(epoch, number, feed)
        for batch in _batches(rows(number, feed.chunks, words), size):
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

    def propose(self, epoch: str, number: int, secret: bytes, search: Search, limit: int) -> Proposed:
        if search.vector is None or search.space is None or not all(search.filter.wanted.values()):
            return Proposed()
        self._check(epoch, search.space)
        most, vector = min(limit, collection.MOST), search.vector
        passing = expression(number, search.filter)

        def found(client: Any, field: str, data: Any, params: dict[str, Any]) -> tuple[int, ...]:
            (hits,) = client.search(
                epoch,
                data=[data],
                anns_field=field,
                filter=passing,
                limit=most,
                output_fields=["id"],
                search_params=params,
                consistency_level="Bounded",
                timeout=self._timeout,
            )
            return tuple(dict.fromkeys(docs_of(number, (hit["id"] for hit in hits))))

        def both(client: Any) -> Proposed:
            params = collection.search_params(most, lite=self._where.lite)
            near = found(client, "vector", vector, params)
            if not search.terms or not self._has_words(client, epoch):
                return Proposed(near)
            asked = tokens(secret, search.terms)
            return Proposed(near, found(client, "ranked", asked, {"metric_type": "BM25"}))

        return self._ask(both)

    def close(self) -> None:
        self._connection.close()

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
        self._has_words(client, current)
        return current

    def _has_words(self, client: Any, epoch: str) -> bool:
        if epoch not in self._with_words:
            self._with_words[epoch] = collection.has_words(client, epoch, timeout=self._timeout)
        return self._with_words[epoch]

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
            with self._connection.client() as client:
                return ask(client)
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - the client raises what several libraries do
            raise ProjectionError(
                f"Milvus at {self._where.shown} failed ({reason(error)}): see that it runs and that "
                "RECOLLECT_MILVUS and RECOLLECT_MILVUS_TOKEN are right."
            ) from None


def _batches(found: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (found[start : start + size] for start in range(0, len(found), size))
