"""Exact search of one user's chunks, in process.

A user's vectors and filter columns are kept in memory and brought up to date from the user's change
feed, so a recorded turn never reloads a matrix. A search sees one committed state: the feed's number,
the delta and the postings are read in one transaction.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from recollect.model.search import Candidate, Search
from recollect.model.space import Space
from recollect.stores.sql import schema
from recollect.stores.sql.rows import UserRows
from recollect.stores.sqlite.columns import Columns
from recollect.stores.sqlite.text import occurrences
from recollect.text.bm25 import Postings, scores


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
        similarity = self._similarities(search)
        chosen: set[int] = set()
        if similarity is not None:
            near = np.where(allowed & columns.has_vector, similarity, -np.inf)
            chosen.update(i for i in _best(near, search.limit) if near[i] >= search.threshold)
        text = np.zeros(0, np.float32)
        if self.postings:
            text = np.where(allowed, scores(self.postings, columns.terms, self.documents, self.terms), 0)
            chosen.update(i for i in _best(text, search.limit) if text[i] > 0)
        return [
            Candidate(
                columns.kind_of(i),
                columns.owners[i],
                int(columns.start[i]),
                int(columns.stop[i]),
                float(similarity[i]) if similarity is not None and columns.has_vector[i] else None,
                float(text[i]) if len(text) else 0.0,
            )
            for i in chosen
        ]

    def _similarities(self, search: Search) -> NDArray[np.float32] | None:
        query = search.vector
        if query is None or self.space is None or query.shape != (self.space.dimensions,):
            return None
        if search.space is not None and not search.space.compares_with(self.space):
            return None
        if not np.isfinite(query).all():
            return None
        cosine = self.columns.vectors @ query
        return (cosine - self.space.unrelated) / (1.0 - self.space.unrelated)


def _best(values: NDArray[np.float32], limit: int) -> list[int]:
    if limit <= 0:
        return []
    if len(values) <= limit:
        return list(range(len(values)))
    return np.argpartition(values, -limit)[-limit:].tolist()


@dataclass(slots=True)
class _Cached:
    number: int
    space_id: int | None
    seq: int
    columns: Columns


class Searcher:
    """Keeps users' columns, the least recently searched ones dropped over the limit."""

    def __init__(self, cache_bytes: int) -> None:
        self._limit = cache_bytes
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _Cached] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}

    @property
    def cached_bytes(self) -> int:
        with self._lock:
            return sum(cached.columns.size for cached in self._cached.values())

    def snapshot(self, connection: Connection, user: str, search: Search) -> Snapshot | None:
        """The user's chunks as of this transaction; None for a user with nothing stored."""
        rows = UserRows(connection, user)
        found = rows.all(rows.select(schema.users))
        if not found:
            self._drop(user)
            return None
        row = found[0]
        space_id, space = _active_space(connection)
        columns = self._current(rows, row["number"], row["seq"], space_id, space)
        postings = [
            _postings(connection, row["number"], term, columns) for term in dict.fromkeys(search.terms)
        ]
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
            if cached is None or (cached.number, cached.space_id) != (number, space_id) or cached.seq > seq:
                cached = _Cached(number, space_id, 0, Columns(space.dimensions if space else 0))
            if cached.seq < seq:
                cached = _refreshed(rows, cached, seq)
                if cached.columns.dead > max(1000, cached.columns.count // 2):
                    empty = Columns(space.dimensions if space else 0)
                    cached = _refreshed(rows, _Cached(number, space_id, 0, empty), seq)
            self._keep(rows.user, cached)
            return cached.columns

    def _keep(self, user: str, cached: _Cached) -> None:
        with self._lock:
            self._cached[user] = cached
            self._cached.move_to_end(user)
            total = sum(c.columns.size for c in self._cached.values())
            while total > self._limit and len(self._cached) > 1:
                _, dropped = self._cached.popitem(last=False)
                total -= dropped.columns.size

    def _drop(self, user: str) -> None:
        with self._lock:
            self._cached.pop(user, None)


def _refreshed(rows: UserRows, cached: _Cached, seq: int) -> _Cached:
    """The columns with everything that changed since they were last read."""
    chunks, vectors, gone = schema.chunks, schema.vectors, schema.deletions
    joined = chunks.outerjoin(
        vectors,
        (vectors.c.user_id == chunks.c.user_id)
        & (vectors.c.space == (cached.space_id or 0))
        & (vectors.c.doc == chunks.c.doc),
    )
    changed = rows.all(
        rows.select(chunks, *chunks.c, vectors.c.vector)
        .select_from(joined)
        .where(chunks.c.seq > cached.seq)
        .order_by(chunks.c.doc)
    )
    deleted: list[int] = []
    if cached.seq:
        statement = rows.select(gone, gone.c.id).where(gone.c.seq > cached.seq, gone.c.kind == "chunk")
        deleted = [int(row["id"]) for row in rows.all(statement)]
    return _Cached(cached.number, cached.space_id, seq, cached.columns.extended(changed, deleted))


def _active_space(connection: Connection) -> tuple[int | None, Space | None]:
    table = schema.spaces
    row = connection.execute(select(table).where(table.c.active)).one_or_none()
    return (None, None) if row is None else (row.id, Space(row.model, row.dimensions, row.unrelated))


def _postings(connection: Connection, number: int, term: str, columns: Columns) -> Postings:
    docs, counts = np.unique(occurrences(connection, number, term), return_counts=True)
    places = columns.places(docs)
    known = places >= 0
    return Postings(places[known], counts[known])
