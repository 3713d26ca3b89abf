"""The change feed: what changed in a user's memory, and what is gone from it."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import merge
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, bindparam, or_

from recollect.model.records import MEMORY_KINDS, SEARCHABLE, Record
from recollect.ports.store import FeedEntry
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.copying import deleted_of
from recollect.stores.sql.rows import UserRows, own_select

_SEARCHED = ("turn", *MEMORY_KINDS)
"""What is always searched; of entities, only those of whom there is more to tell than a name."""
_SEQ = own_select(schema.users, schema.users.c.seq)


@lru_cache(maxsize=64)
def _sources(kinds: tuple[str, ...]) -> tuple[tuple[str, bool, Select[Any], Select[Any]], ...]:
    """Where changes of these kinds are found in order, removals first: of which kind, if of one, and whether
    they are removals; what was after one place and up to another, and where the last of so many is. What is
    searched is found by its chunks, which have an index for it and move on when they get their vectors."""
    gone, chunks = schema.deletions.c, schema.chunks.c
    found = [("", True, *_between(gone.seq, gone.id, gone.kind, _among(gone.kind, kinds)))]
    if searched := [kind for kind in kinds if kind in SEARCHABLE]:
        of_kinds = _among(chunks.kind, searched)
        found.append(("", False, *_between(chunks.seq, chunks.owner, chunks.kind, of_kinds)))
    for kind in kinds:
        if kind not in _SEARCHED:
            columns = schema.RECORD_TABLES[kind].c
            found.append((kind, False, *_between(columns.seq, columns.id)))
    return tuple(found)


def _among(column: ColumnElement[Any], kinds: Sequence[str]) -> ColumnElement[bool]:
    return or_(*(column == kind for kind in kinds))


def _between(
    seq: Column[Any], id: Column[Any], kind: Column[Any] | None = None, *only: ColumnElement[bool]
) -> tuple[Select[Any], Select[Any]]:
    after = (seq > bindparam("since"), *only)
    told = (seq, id) if kind is None else (seq, id, kind)
    wanted = own_select(seq.table, *told).where(*after, seq <= bindparam("upto")).order_by(seq, id)
    last = own_select(seq.table, seq).where(*after).order_by(seq)
    return wanted, last.limit(1).offset(bindparam("skipped"))


class FollowedUser:
    """The part of a user's store that others follow."""

    _backend: Backend
    _user: str

    @abstractmethod
    def secret(self) -> bytes: ...

    def feed(self, since: int = 0) -> Iterator[FeedEntry]:
        yield from self._changes(since)

    @only_reads
    def _changes(self, since: int) -> Iterator[FeedEntry]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            tables = {table.name: (table, kind) for kind, table in schema.RECORD_TABLES.items()}
            changed: list[list[FeedEntry]] = []
            for table, kind in tables.values():
                statement = rows.select(table).where(table.c.seq > since).order_by(table.c.seq, table.c.id)
                changed.append(
                    [FeedEntry(r["seq"], r.get("kind", kind), r["id"], False) for r in rows.all(statement)]
                )
            table = schema.deletions
            statement = (
                rows.select(table).where(table.c.seq > since, table.c.kind != "chunk").order_by(table.c.seq)
            )
            gone = [FeedEntry(r["seq"], r["kind"], r["id"], True) for r in rows.all(statement)]
        # Within one step deletions come first: what is still there was stored after them.
        return merge(gone, *changed, key=lambda entry: entry.seq)

    @only_reads
    def steps(self, kinds: Sequence[str], since: int, most: int) -> tuple[list[FeedEntry], int]:
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            seq = [row["seq"] for row in rows.all(_SEQ)]
            sources = _sources(tuple(kinds))
            ends = [rows.all(last, since=since, skipped=most - 1) for *_, last in sources]
            upto = min([*seq, *(found[0]["seq"] for found in ends if found)], default=0)
            last: dict[tuple[str, str, bool], FeedEntry] = {}
            for kind, gone, wanted, _ in sources:
                for place, id, *its in (row.values() for row in rows.all(wanted, since=since, upto=upto)):
                    entry = FeedEntry(place, its[0] if its else kind, id, gone)
                    last[entry.kind, id, gone] = entry
        return sorted(last.values(), key=lambda entry: (entry.seq, not entry.deleted)), upto

    def deleted(self, kind: type[Record], ids: Sequence[str]) -> set[str]:
        return self._deleted(kind, ids, self.secret())

    @only_reads
    def _deleted(self, kind: type[Record], ids: Sequence[str], secret: bytes) -> set[str]:
        with self._backend.read(self._user) as connection:
            return deleted_of(UserRows(connection, self._user), kind, ids, secret)
