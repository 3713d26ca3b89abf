"""Some fields of many records, without the records: what a plan chooses among them by, and when they came."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Column, Integer, Select, bindparam, func, literal

from recollect.model.records import Record
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decoded_columns, table_of
from recollect.stores.sql.reading import PAGE_SIZE, Shape, beyond, meeting, of_kind, shaped
from recollect.stores.sql.rows import UserRows, own_select

PAGE = 2000

Page = list[tuple[Any, ...]]


@lru_cache(maxsize=256)
def _page_of(kind: type[Record], names: tuple[str, ...], shape: Shape) -> Select[Any]:
    """The id, to go on behind, and the fields."""
    table = table_of(kind)
    wanted = own_select(table, table.c.id, *(table.c[name] for name in names if name != "id"))
    found = of_kind(wanted, kind).where(*meeting(kind, shape))
    return found.order_by(table.c.id).limit(bindparam(PAGE_SIZE, type_=Integer))


_DAY = timedelta(days=1) // timedelta(microseconds=1)
_EPOCH = date(1970, 1, 1)


def _by_day(time: Column[Any], *kind: Column[Any]) -> Select[Any]:
    """How many rows came on which day, by kind where a table has several."""
    day = (time // literal(_DAY, BigInteger)).label("day")
    return own_select(time.table, *kind, day, func.count().label("times")).group_by(*kind, day)


_ARRIVALS = {
    "turn": _by_day(schema.turns.c.recorded_at),
    "memory": _by_day(schema.memories.c.recorded_at, schema.memories.c.kind),
    "entity": _by_day(schema.entities.c.first_seen),
    "relation": _by_day(schema.relations.c.recorded_at),
}


class GlancedUser:
    """The part of a user's store that is looked through."""

    _backend: Backend
    _user: str

    def fields(
        self, kind: type[Record], names: Sequence[str], where: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        last = None
        while True:
            found, last = self._fields(kind, tuple(names), where, last)
            yield from found
            if len(found) < PAGE:
                return

    @only_reads
    def _fields(
        self, kind: type[Record], names: tuple[str, ...], where: Mapping[str, Any] | None, last: str | None
    ) -> tuple[Page, str | None]:
        key = table_of(kind).c.id
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            shape, given = shaped(rows, kind, where)
            wanted = _page_of(kind, names, shape)
            if last is not None:
                wanted = wanted.where(beyond((key, key), (last, last), descending=False))
            found = rows.all(wanted, **given, **{PAGE_SIZE: PAGE})
        return decoded_columns(kind, names, found), found[-1]["id"] if found else None

    @only_reads
    def arrivals(self) -> dict[str, dict[date, int]]:
        found: dict[str, dict[date, int]] = {}
        with self._backend.read(self._user) as connection:
            rows = UserRows(connection, self._user)
            for kind, by_day in _ARRIVALS.items():
                for row in rows.all(by_day):
                    day = _EPOCH + timedelta(days=row["day"])
                    found.setdefault(row.get("kind", kind), {})[day] = row["times"]
        return found
