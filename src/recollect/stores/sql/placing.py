"""How much is in each place of the palace: kept by whoever writes closets, so that a page of a palace costs
the same however much is in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Table,
    Text,
    bindparam,
    case,
    distinct,
    func,
    literal,
    select,
    union,
    union_all,
)

from recollect.ports.stored import Tally
from recollect.stores.sql import schema
from recollect.stores.sql.codec import decode_time
from recollect.stores.sql.rows import UserRows, own_delete, own_select, own_update

WINGS = 0
"""In place of the number of a wing: wings are in none."""
PLAIN = "topic"
"""The type of a subject of which no more is known."""

_FIELDS = ("wing", "room", "channel", "conversation", "first", "last", "at", "type")
_NEVER, _EVER = 2**62, -(2**62)
_KEPT = schema.places.c
_CLOSETS = schema.closets.c

Key = tuple[int, int, str]
"""A place: the wing that it is in, its number there, and a channel."""


def _of_place(table: Table) -> tuple[ColumnElement[bool], ...]:
    return (
        table.c.inside == bindparam("the_inside"),
        table.c.number == bindparam("the_number"),
        table.c.channel == bindparam("the_channel"),
    )


def _earlier(column: ColumnElement[Any], given: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((column < given, column), else_=given)


_ADD = (
    own_update(schema.places)
    .where(*_of_place(schema.places))
    .values(
        rooms=_KEPT.rooms + bindparam("more_rooms"),
        closets=_KEPT.closets + bindparam("more_closets"),
        drawers=_KEPT.drawers + bindparam("more_drawers"),
        first=_earlier(_KEPT.first, bindparam("new_first", type_=BigInteger)),
        last=-_earlier(-_KEPT.last, -bindparam("new_last", type_=BigInteger)),
        closet=func.coalesce(bindparam("new_closet", type_=Text), _KEPT.closet),
    )
    .returning(_KEPT.closets)
)
_DROP = own_delete(schema.places).where(*_of_place(schema.places))
_MEND = (
    own_update(schema.places)
    .where(*_of_place(schema.places))
    .values({name: bindparam(f"new_{name}") for name in ("first", "last", "closet")})
)
_SEVERAL = own_select(schema.places, _KEPT.number).limit(1)
_PAGE = (
    own_select(schema.places)
    .where(_KEPT.inside == bindparam("the_inside"), _KEPT.number > bindparam("behind"))
    .where(_KEPT.channel.in_(bindparam("channels", expanding=True)))
    .order_by(_KEPT.number, _KEPT.channel)
    .limit(bindparam("most", type_=Integer))
)

_COUNTS: tuple[ColumnElement[Any], ...] = (
    func.count().label("closets"),
    func.sum(_CLOSETS.last - _CLOSETS.first + 1).label("drawers"),
    func.min(_CLOSETS.at).label("first"),
    func.max(_CLOSETS.at).label("last"),
)
_NAMED = func.coalesce(func.min(case((_CLOSETS.type != PLAIN, _CLOSETS.id))), func.min(_CLOSETS.id)).label(
    "closet"
)
"""A closet that tells what a place is called: one that knows what its subject is, if there is one."""


def _columns(wings: bool) -> tuple[ColumnElement[Any], ...]:
    inside = literal(WINGS) if wings else _CLOSETS.wing
    number = _CLOSETS.wing if wings else _CLOSETS.room
    rooms = func.count(distinct(_CLOSETS.room)) if wings else literal(0)
    places = (inside.label("inside"), number.label("number"), _CLOSETS.channel)
    return *places, rooms.label("rooms"), *_COUNTS


def _counted(statement: Select[Any], wings: bool) -> Select[Any]:
    """All wings, or all rooms, counted anew."""
    by = (_CLOSETS.user_id, _CLOSETS.wing, _CLOSETS.channel, *(() if wings else (_CLOSETS.room,)))
    return statement.where(_CLOSETS.conversation.is_not(None)).group_by(*by)


_ALL = tuple(_counted(own_select(schema.closets, *_columns(wings), _NAMED), wings) for wings in (True, False))
_AGAIN = tuple(
    own_select(schema.closets, *_COUNTS[2:], _NAMED)
    .where(_CLOSETS.wing == bindparam("the_wing"), _CLOSETS.channel == bindparam("the_channel"))
    .where(_CLOSETS.conversation.is_not(None), *more)
    for more in ((), (_CLOSETS.room == bindparam("the_room"),))
)


@dataclass(slots=True)
class _More:
    """What comes to a place, less what goes from it."""

    closets: int = 0
    drawers: int = 0
    first: int = _NEVER
    last: int = _EVER
    named: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])
    """Which closets came, and whether each has no type to tell."""
    gone: bool = False
    """Whether something went that may have been the first, the last or what it is named by."""


class Places:
    """What one transaction adds to and takes from the places of the palace."""

    def __init__(self, rows: UserRows) -> None:
        self._rows = rows
        self._gone: dict[str, Mapping[str, Any]] = {}
        self._come: dict[str, Mapping[str, Any]] = {}

    def add(self, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
        """Closets (as columns hold them) were stored."""
        if table is schema.closets:
            for place, id in enumerate(columns["id"]):
                self._come[id] = {name: columns[name][place] for name in _FIELDS}

    def remove(self, table: Table, ids: Sequence[str]) -> None:
        """Closets are about to go, or to be replaced."""
        if table is schema.closets and ids:
            for row in self._stored(ids):
                if self._come.pop(row["id"], None) is None:
                    self._gone[row["id"]] = row

    def revised(self, table: Table, id: str) -> None:
        """A closet is another than it was when it was removed."""
        if table is schema.closets:
            self._come |= {row["id"]: row for row in self._stored([id])}

    def _stored(self, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        columns = [_CLOSETS[name] for name in ("id", *_FIELDS)]
        return self._rows.all_in(self._rows.select(schema.closets, *columns), _CLOSETS.id, ids)

    def settle(self) -> None:
        """Write it down. What is older than these counts is counted the first time something changes."""
        more = self._more()
        if not more:
            return
        if not self._rows.all(_SEVERAL):
            self._rows.insert(schema.places, list(_all(self._rows)))
            return
        rooms = {key: self._grown(key, change) for key, change in more.items()}
        for (wing, channel), keys in _by_wing(more):
            changes = _sum(more[key] for key in keys)
            self._grown((WINGS, wing, channel), changes, sum(rooms[key] for key in keys))

    def _more(self) -> dict[Key, _More]:
        """By room and channel, in order. A closet that grew stays where it was, and is as old."""
        more: dict[Key, _More] = {}
        for rows, sign in ((self._gone, -1), (self._come, 1)):
            for id, row in rows.items():
                if row["conversation"] is None:  # erased, but for its number
                    continue
                change = more.setdefault((row["wing"], row["room"], row["channel"]), _More())
                change.closets += sign
                change.drawers += sign * (row["last"] - row["first"] + 1)
                other = (self._come if sign < 0 else self._gone).get(id)
                if sign < 0:
                    change.gone |= other is None or any(other[name] != row[name] for name in _NAMING)
                else:
                    change.first, change.last = min(change.first, row["at"]), max(change.last, row["at"])
                    change.named.append((row["type"] == PLAIN, id))
        return dict(sorted(more.items()))

    def _grown(self, key: Key, change: _More, rooms: int = 0) -> int:
        """By how many places there are more now."""
        place = {"the_inside": key[0], "the_number": key[1], "the_channel": key[2]}
        plain, closet = min(change.named, default=(True, None))
        found = self._rows.all(
            _ADD,
            **place,
            more_rooms=rooms,
            more_closets=change.closets,
            more_drawers=change.drawers,
            new_first=change.first,
            new_last=change.last,
            new_closet=None if plain else closet,
        )
        if not found:
            counts = {"closets": change.closets, "drawers": change.drawers, "closet": closet}
            times = {"first": change.first, "last": change.last}
            at = {"inside": key[0], "number": key[1], "channel": key[2]}
            self._rows.insert(schema.places, [{**at, "rooms": rooms, **counts, **times}])
            return 1
        if not found[0]["closets"]:
            self._rows.change(_DROP, **place)
            return -1
        if change.gone:
            self._mend(key, place)
        return 0

    def _mend(self, key: Key, place: Mapping[str, Any]) -> None:
        inside, number, channel = key
        if inside == WINGS:
            (row,) = self._rows.all(_AGAIN[0], the_wing=number, the_channel=channel)
        else:
            (row,) = self._rows.all(_AGAIN[1], the_wing=inside, the_room=number, the_channel=channel)
        self._rows.change(_MEND, **place, **{f"new_{name}": value for name, value in row.items()})


_NAMING = ("wing", "room", "channel", "at", "type", "conversation")


def _by_wing(more: Iterable[Key]) -> Iterator[tuple[tuple[int, str], list[Key]]]:
    in_order = sorted(more, key=itemgetter(0, 2))
    return ((wing, list(keys)) for wing, keys in groupby(in_order, key=itemgetter(0, 2)))


def _sum(changes: Iterable[_More]) -> _More:
    whole = _More()
    for change in changes:
        whole.closets += change.closets
        whole.drawers += change.drawers
        whole.first, whole.last = min(whole.first, change.first), max(whole.last, change.last)
        whole.named += change.named
        whole.gone |= change.gone
    return whole


def _all(rows: UserRows) -> Iterator[Mapping[str, Any]]:
    """All places, counted anew."""
    for statement in _ALL:
        yield from rows.all(statement)


def places(rows: UserRows, channels: Sequence[str], wing: int | None, behind: int, limit: int) -> list[Tally]:
    inside = WINGS if wing is None else wing
    most = limit * len(channels)
    found = rows.all(_PAGE, the_inside=inside, behind=behind, channels=list(channels), most=most)
    if not found and not rows.all(_SEVERAL):  # they are older than these counts, or there are none
        told = [row for row in _all(rows) if row["inside"] == inside and row["channel"] in channels]
        found = sorted((row for row in told if row["number"] > behind), key=itemgetter("number"))
    grouped = groupby(found, key=itemgetter("number"))
    return [_tally(number, list(group)) for number, group in islice(grouped, limit)]


def _tally(number: int, kept: Sequence[Mapping[str, Any]]) -> Tally:
    return Tally(
        number=number,
        rooms=sum(row["rooms"] for row in kept),
        closets=sum(row["closets"] for row in kept),
        drawers=sum(int(row["drawers"]) for row in kept),
        first=decode_time(min(row["first"] for row in kept)),
        last=decode_time(max(row["last"] for row in kept)),
        closet=kept[0]["closet"],
    )


def wrong_places() -> Select[Any]:
    """Counts that are kept and are not what there is, and those that are missing where others are kept."""
    names = ("inside", "number", "channel", "rooms", "closets", "drawers", "first", "last")
    noted = select(_KEPT.user_id, *(_KEPT[name] for name in names))
    counted = union_all(
        *(_counted(select(_CLOSETS.user_id, *_columns(wings)), wings) for wings in (True, False))
    )
    found = select(counted.subquery())
    wrong, others = noted.except_(found).subquery(), found.except_(noted).subquery()
    kept = select(_KEPT.user_id).where(_KEPT.user_id == others.c.user_id).exists()
    places = (select(*(told.c[name] for name in ("user_id", *names[:3]))) for told in (wrong, others))
    return select(union(next(places), next(places).where(kept)).subquery())
