"""The change feed: what changed in a user's memory, and what is gone from it."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from heapq import merge

from recollect.model.records import Record
from recollect.ports.store import FeedEntry
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.copying import deleted_of
from recollect.stores.sql.rows import UserRows


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

    def deleted(self, kind: type[Record], ids: Sequence[str]) -> set[str]:
        return self._deleted(kind, ids, self.secret())

    @only_reads
    def _deleted(self, kind: type[Record], ids: Sequence[str], secret: bytes) -> set[str]:
        with self._backend.read(self._user) as connection:
            return deleted_of(UserRows(connection, self._user), kind, ids, secret)
