"""Exact search of one user's chunks, in process.

A user's vectors and filter columns are kept in memory and brought up to date from the user's change
feed, so a recorded turn never reloads a matrix. A search sees one committed state: the feed's number,
the delta and the postings are read in one transaction.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam

from recollect.model.search import Candidate, Near, Search
from recollect.model.space import Space
from recollect.stores.sql import schema
from recollect.stores.sql.codec import decode_time
from recollect.stores.sql.columns import Columns
from recollect.stores.sql.rows import UserRows, own_select
from recollect.text.bm25 import Occurring, Postings, scores

MANY_DEAD = 1000
"""With more rows than this that are dead, and more than are not, the others are copied out."""
FEW = 4
"""Which part of the chunks is so small that it is worth the while to copy it out."""


class UserState(NamedTuple):
    """Where a user is, as the transaction sees it."""

    number: int
    seq: int
    next_doc: int


TermReader = Callable[[UserRows, UserState, Sequence[str]], Iterable[Occurring]]
"""From the text index, for each term: the documents of the user that have it. Those that have gone may be
among them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One user's chunks at one moment, with the postings of one question."""

    columns: Columns
    postings: Sequence[Postings]
    documents: int
    terms: int
    space: Space | None

    def candidates(self, search: Search) -> list[Candidate]:
        """The best by vector and the best by words, each with both scores."""
        columns = self.columns
        allowed = columns.allowed(search.filter)
        chosen = np.empty(0, np.int64)
        compared = allowed if search.near is None else allowed & self._proposed(search.near)
        query = search.vector_in(self.space)
        similarity = None if query is None else self._similarities(query, compared)
        if similarity is not None:
            near = np.where(compared & columns.has_vector, similarity, -np.inf)
            best = _best(near, search.limit)
            chosen = best[compared[best] & (near[best] >= search.threshold)]
        text = None
        if self.postings:
            text = np.where(allowed, scores(self.postings, columns.terms, self.documents, self.terms), 0)
            best = _best(text, search.limit)
            chosen = np.union1d(chosen, best[text[best] > 0])
            if (
                query is not None and similarity is not None and search.near is not None
            ):  # those found by words are compared too
                similarity[chosen] = self._similarity(query, chosen)
        has_vector = [False] * len(chosen) if similarity is None else columns.has_vector[chosen].tolist()
        near = has_vector if similarity is None else similarity[chosen].tolist()
        rows = zip(
            columns.names_of("kind", chosen),
            columns.owners_of(chosen),
            columns.start[chosen].tolist(),
            columns.stop[chosen].tolist(),
            [value if has else None for value, has in zip(near, has_vector, strict=True)],
            [0.0] * len(chosen) if text is None else text[chosen].tolist(),
            map(decode_time, columns.at[chosen].tolist()),
            columns.names_of("conversation", chosen),
            columns.names_of("role", chosen),
            [None if place < 0 else place for place in columns.place[chosen].tolist()],
            columns.weight[chosen].tolist(),
            strict=True,
        )
        return [*map(Candidate._make, rows)]

    def _proposed(self, near: Near) -> NDArray[np.bool_]:
        """Which chunks an index has named, and those that it may not know of yet."""
        mask = self.columns.seq > near.since
        places = self.columns.places(np.array(near.docs, np.int64))
        mask[places[places >= 0]] = True
        return mask

    def _similarities(self, query: NDArray[np.float32], compared: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Of those that are to be compared; where that is a small part, the others are not. In this thread
        alone: those of BLAS's wait busily for the next product, longer than this one takes, and where another
        needs their core it takes ten times as long."""
        places = np.flatnonzero(compared)
        if len(places) * FEW > len(compared):
            return self._similarity(query, slice(None))
        near = np.full(len(compared), -np.inf, np.float32)
        near[places] = self._similarity(query, places)
        return near

    def _similarity(
        self, query: NDArray[np.float32], places: NDArray[np.int64] | slice
    ) -> NDArray[np.float32]:
        dots = np.vecdot(self.columns.vectors[places], query)
        return dots if self.space is None else self.space.similarity(dots)


def _best(values: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Where the greatest values are, in no order."""
    if limit <= 0:
        return np.empty(0, np.int64)
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(values, -limit)[-limit:]


@dataclass(slots=True)
class _Cached:
    number: int
    space_id: int | None
    seq: int
    columns: Columns
    size: int = 0


def _nothing(number: int, space_id: int | None, space: Space | None) -> _Cached:
    return _Cached(number, space_id, 0, Columns(space.dimensions if space else 0))


class Searcher:
    """Keeps users' columns, the least recently searched ones dropped over the limit."""

    def __init__(self, cache_bytes: int, terms: TermReader) -> None:
        self._terms = terms
        self._limit = cache_bytes
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _Cached] = OrderedDict()
        self._size = 0
        self._hits = self._misses = 0
        self._locks: dict[str, threading.Lock] = {}

    @property
    def cached_bytes(self) -> int:
        return self._size

    def tally(self) -> dict[str, int]:
        """How often a user's columns were in memory, if not up to date, and how often not at all."""
        with self._lock:
            hits, misses, self._hits, self._misses = self._hits, self._misses, 0, 0
        return {"cache_hits": hits, "cache_misses": misses}

    def snapshot(self, rows: UserRows, search: Search) -> Snapshot | None:
        """The user's chunks as of this transaction; None for a user with nothing stored."""
        found = rows.all(_STATE)
        if not found:
            self._drop(rows.user)
            return None
        row = found[0]
        space = None
        if row["id"] is not None:
            space = Space(row["model"], row["dimensions"], row["unrelated"])
        columns = self._current(rows, row["number"], row["seq"], row["id"], space)
        terms = list(dict.fromkeys(search.terms))
        user = UserState(row["number"], row["seq"], row["next_doc"])
        postings = [_postings(found, columns) for found in self._terms(rows, user, terms)]
        return Snapshot(
            columns, [p for p in postings if len(p.places)], row["documents"], row["terms"], space
        )

    def _current(
        self, rows: UserRows, number: int, seq: int, space_id: int | None, space: Space | None
    ) -> Columns:
        with self._lock:
            lock = self._locks.setdefault(rows.user, threading.Lock())
        with lock:
            with self._lock:
                cached = self._cached.get(rows.user)
            if cached is None or (cached.number, cached.space_id) != (number, space_id):
                cached = _nothing(number, space_id, space)
            with self._lock:
                self._hits, self._misses = self._hits + bool(cached.seq), self._misses + (not cached.seq)
            if cached.seq > seq:  # others have searched a newer state meanwhile
                old = cached.columns.as_of(seq)
                return old or _refreshed(rows, _nothing(number, space_id, space), seq).columns
            if cached.seq < seq:
                cached = _refreshed(rows, cached, seq)
                if cached.columns.dead > max(MANY_DEAD, cached.columns.count // 2):
                    cached.columns = cached.columns.compacted()
            self._keep(rows.user, cached)
            return cached.columns

    def _keep(self, user: str, cached: _Cached) -> None:
        with self._lock:
            known = self._cached.get(user)
            if known is not cached:
                cached.size = cached.columns.size
                self._size += cached.size - (known.size if known else 0)
                self._cached[user] = cached
            self._cached.move_to_end(user)
            while self._size > self._limit and len(self._cached) > 1:
                dropped, old = self._cached.popitem(last=False)
                self._size -= old.size
                self._locks.pop(dropped, None)

    def _drop(self, user: str) -> None:
        with self._lock:
            if (known := self._cached.pop(user, None)) is not None:
                self._size -= known.size
            self._locks.pop(user, None)


_SPACES, _CHUNKS, _VECTORS, _GONE = schema.spaces, schema.chunks, schema.vectors, schema.deletions
_STATE = own_select(
    schema.users,
    schema.users.c.number,
    schema.users.c.seq,
    schema.users.c.next_doc,
    schema.users.c.documents,
    schema.users.c.terms,
    _SPACES.c.id,
    _SPACES.c.model,
    _SPACES.c.dimensions,
    _SPACES.c.unrelated,
).select_from(schema.users.outerjoin(_SPACES, _SPACES.c.active))
_EVERY = own_select(_CHUNKS, *_CHUNKS.c, _VECTORS.c.vector).select_from(
    _CHUNKS.outerjoin(
        _VECTORS,
        (_VECTORS.c.user_id == _CHUNKS.c.user_id)
        & (_VECTORS.c.space == bindparam("space"))
        & (_VECTORS.c.doc == _CHUNKS.c.doc),
    )
)
# Without an order the few new rows are found by their number; with one, SQLite would read them all.
_NEWER = _EVERY.where(_CHUNKS.c.seq > bindparam("since"))
_GONE_SINCE = own_select(_GONE, _GONE.c.id).where(_GONE.c.seq > bindparam("since"), _GONE.c.kind == "chunk")


def _refreshed(rows: UserRows, cached: _Cached, seq: int) -> _Cached:
    """The columns with everything that changed since they were last read."""
    space = cached.space_id or 0
    if not cached.seq:
        changed, gone = rows.all(_EVERY, space=space), []
    else:
        changed = rows.all(_NEWER, space=space, since=cached.seq)
        gone = [int(row["id"]) for row in rows.all(_GONE_SINCE, since=cached.seq)]
    return _Cached(cached.number, cached.space_id, seq, cached.columns.extended(changed, gone, seq))


def _postings(found: Occurring, columns: Columns) -> Postings:
    places = columns.places(found.docs)
    if len(places) and places.min() >= 0:
        return Postings(places, found.counts)
    known = places >= 0
    return Postings(places[known], found.counts[known])
