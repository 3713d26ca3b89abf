"""Rows to records, and the conditions to find them by."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    ScalarSelect,
    Select,
    Text,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from recollect.model.places import beginnings
from recollect.model.records import BY_KIND, MemoryRecord, Record
from recollect.model.search import AtLeast, AtMost
from recollect.model.searched import searchable_text
from recollect.model.space import Space
from recollect.stores.sql import schema
from recollect.stores.sql.codec import (
    decode_text,
    encode_fields,
    encode_time,
    from_row,
    link_fields,
    table_of,
)
from recollect.stores.sql.rows import UserRows, as_list, own_select

R = TypeVar("R", bound=Record)

PAGE_SIZE = "page_size"
"""The name of the parameter."""


@lru_cache(maxsize=256)
def of_kind(statement: Select[Any], kind: type[Record]) -> Select[Any]:
    """Memories of all kinds share a table."""
    if issubclass(kind, MemoryRecord) and kind is not MemoryRecord:
        return statement.where(schema.memories.c.kind == kind.kind)
    return statement


def _matches(column: ColumnElement[Any], value: Any) -> ColumnElement[bool]:
    if not isinstance(value, list):
        return column.is_not_distinct_from(value)
    values = cast(list[Any], value)
    given = column.in_([part for part in values if part is not None])
    return or_(given, column.is_(None)) if None in values else given


Shape = tuple[tuple[str, str, Any], ...]
"""Of conditions: which field is compared how; with None and yes or no, which are no parameters, also what
with."""


def shaped(
    rows: UserRows, kind: type[Record], where: Mapping[str, Any] | None
) -> tuple[Shape, dict[str, Any]]:
    """How fields are to compare, and what with, as parameters of `meeting`: equality with each, or with any
    of a list of values. A statement that is built once costs a third of one that is built anew."""
    table = table_of(kind)
    given: Mapping[str, Any] = {} if where is None else where
    bounds = {name: value for name, value in given.items() if isinstance(value, AtMost | AtLeast)}
    equal = {name: value for name, value in given.items() if name not in bounds}
    limits = encode_fields(kind, {name: bound.value for name, bound in bounds.items()})
    values = {**rows.closed(table, encode_fields(kind, equal)), **limits}
    shape = tuple(_way(name, value, bounds.get(name), rows.server) for name, value in values.items())
    return shape, {f"given_{name}": _given(how, values[name]) for name, how, _ in shape if how != "is"}


def _given(how: str, value: Any) -> Any:
    return as_list(value) if how == "listed" else value


def _way(name: str, value: Any, bound: AtMost | AtLeast | None, server: bool) -> tuple[str, str, Any]:
    if bound is not None:
        return name, "most" if isinstance(bound, AtMost) else "least", None
    if isinstance(value, list):
        values = cast(list[Any], value)
        if None in values or not values:
            return name, "is", tuple(values)
        return name, "among" if server else "listed", None
    return (name, "is", value) if value is None or isinstance(value, bool) else (name, "same", None)


@lru_cache(maxsize=512)
def meeting(kind: type[Record], shape: Shape) -> tuple[ColumnElement[bool], ...]:
    """Conditions of a shape, with parameters for values."""
    columns = table_of(kind).c
    return tuple(_met(columns[name], f"given_{name}", how, value) for name, how, value in shape)


def _met(column: ColumnElement[Any], name: str, how: str, value: Any) -> ColumnElement[bool]:
    match how:
        case "most":
            return column <= bindparam(name, type_=column.type)
        case "least":
            return column >= bindparam(name, type_=column.type)
        case "listed":
            listed = func.json_each(bindparam(name, type_=Text)).table_valued("value")
            return column.in_(select(listed.c.value))
        case "among":
            return column.in_(bindparam(name, type_=column.type, expanding=True))
        case "same":
            return column == bindparam(name, type_=column.type)  # never None: that an index finds
        case _:
            return _matches(column, list(cast(tuple[Any, ...], value)) if isinstance(value, tuple) else value)


_HOW_MANY = func.count()
Key = tuple[ColumnElement[Any], ColumnElement[Any]]


def ordered(key: Key, descending: bool) -> tuple[ColumnElement[Any], ...]:
    """An order of two columns, in which no value is the least."""
    first, second = key
    if not getattr(first, "nullable", True):  # else PostgreSQL would sort what an index has in order
        return (first.desc(), second.desc()) if descending else (first.asc(), second.asc())
    if descending:
        return first.desc().nulls_last(), second.desc()
    return first.asc().nulls_first(), second.asc()


@lru_cache(maxsize=512)
def page_of(kind: type[Record], shape: Shape, order: str, descending: bool) -> Select[Any]:
    """The first `PAGE_SIZE` of what has this shape, in an order."""
    table = table_of(kind)
    found = of_kind(own_select(table), kind).where(*meeting(kind, shape))
    by = ordered((table.c[order], table.c.id), descending)
    return found.order_by(*by).limit(bindparam(PAGE_SIZE, type_=Integer))


@lru_cache(maxsize=512)
def count_of(kind: type[Record], shape: Shape) -> Select[Any]:
    """How many have this shape."""
    return of_kind(own_select(table_of(kind), _HOW_MANY), kind).where(*meeting(kind, shape))


@lru_cache(maxsize=512)
def ids_of(kind: type[Record], shape: Shape) -> Select[Any]:
    """Which have this shape."""
    table = table_of(kind)
    return of_kind(own_select(table, table.c.id), kind).where(*meeting(kind, shape))


def beyond(key: Key, place: tuple[Any, Any], descending: bool) -> ColumnElement[bool]:
    """Behind a place in that order."""
    (first, second), (a, b) = key, place
    if first is second:  # so told that an index leads there: else each page would read those before it
        return second < b if descending else second > b
    same = and_(first.is_not_distinct_from(a), second < b if descending else second > b)
    if descending:
        return same if a is None else or_(first < a, first.is_(None), same)
    return or_(first.is_not(None) if a is None else first > a, same)


def records(rows: UserRows, kind: type[R], found: Sequence[Mapping[str, Any]], bare: bool = False) -> list[R]:
    """Rows of a kind's table, as records; with their links, unless `bare`."""
    links = linked(rows, [row["id"] for row in found]) if link_fields(kind) and not bare else {}
    if kind is not MemoryRecord:
        return [from_row(kind, row, links.get(row["id"], {})) for row in found]
    return [from_row(cast(type[R], BY_KIND[row["kind"]]), row, links.get(row["id"], {})) for row in found]


_LINKS = own_select(schema.links, schema.links.c.owner, schema.links.c.name, schema.links.c.target).order_by(
    schema.links.c.owner, schema.links.c.name, schema.links.c.place
)


def linked(rows: UserRows, owners: Sequence[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """What each owner links to, by the name of the link."""
    links: dict[str, dict[str, tuple[str, ...]]] = {}
    found = rows.tuples_in(_LINKS, schema.links.c.owner, owners)
    for (owner, name), told in groupby(found, itemgetter(0, 1)):
        links.setdefault(owner, {})[name] = tuple(map(itemgetter(2), told))
    return links


_LINKING = own_select(schema.links, schema.links.c.owner).where(schema.links.c.name == bindparam("link"))


def linking(rows: UserRows, link: str, targets: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What the owners of a link to one of the targets link to by it."""
    found = rows.all_in(_LINKING, schema.links.c.target, list(targets), link=link)
    owners = list(dict.fromkeys(row["owner"] for row in found))
    return {owner: links.get(link, ()) for owner, links in linked(rows, owners).items()}


def may_be_mined(now: datetime) -> ColumnElement[bool]:
    after = schema.conversations.c.mining_after
    return or_(after.is_(None), after <= encode_time(now))


_NOW = bindparam("now", type_=schema.conversations.c.mining_after.type)
_TALKS = schema.conversations.c
UNMINED = own_select(schema.conversations).where(schema.unmined).order_by(_TALKS.last_at, _TALKS.id)
MINABLE = UNMINED.where(or_(_TALKS.mining_after.is_(None), _TALKS.mining_after <= _NOW))


def is_over(quiet_since: Any, recorded: Select[Any]) -> ColumnElement[bool]:
    """It has ended, or nobody spoke since. What was said last may be dated ahead: then it goes by when that
    was `recorded`."""
    turns = schema.turns.c
    last = (
        turns.user_id == _TALKS.user_id,
        turns.conversation == _TALKS.id,
        turns.index == _TALKS.next_index - 1,
    )
    stored = recorded.where(*last).correlate(schema.conversations).scalar_subquery()
    return or_(_TALKS.ended_at.is_not(None), _TALKS.last_at <= quiet_since, stored <= quiet_since)


RECORDED = schema.turns.c.recorded_at
UNCONCLUDED = (
    own_select(schema.conversations)
    # Their own turns, or the server opens every partition.
    .where(schema.unconcluded, is_over(bindparam("quiet"), own_select(schema.turns, RECORDED)))
    .order_by(_TALKS.last_at, _TALKS.id)
)


_PLACES = own_select(
    schema.closets, *(schema.closets.c[n] for n in ("conversation", "first", "last", "wing", "room"))
)
_PLACES_NEAR = _PLACES.where(schema.closets.c.first.in_(bindparam("beginnings", expanding=True)))


def rooms(rows: UserRows, turns: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
    """The wing and room of each of the turns that has a place."""
    talks = list({conversation for conversation, _ in turns})
    near = beginnings(index for _, index in turns)
    closets: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows.all_in(
        _PLACES_NEAR if near else _PLACES,
        schema.closets.c.conversation,
        talks,
        **({"beginnings": near["first"]} if near else {}),
    ):
        closets.setdefault(decode_text(row["conversation"]), []).append(row)
    return {
        (conversation, index): (row["wing"], row["room"])
        for conversation, index in turns
        for row in closets.get(conversation, ())
        if row["first"] <= index <= row["last"]
    }


def texts(rows: UserRows, chunks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The whole text behind each of the chunks, by its owner."""
    owners: dict[str, list[str]] = {}
    for chunk in chunks:
        owners.setdefault(chunk["kind"], []).append(chunk["owner"])
    found: dict[str, str] = {}
    for name, ids in owners.items():
        kind, table = BY_KIND[name], schema.RECORD_TABLES[name]
        for row in rows.all_in(rows.select(table), table.c.id, list(dict.fromkeys(ids))):
            found[row["id"]] = searchable_text(from_row(kind, row, {}))
    return found


_ACTIVE = select(schema.spaces).where(schema.spaces.c.active)


def active_space(connection: Connection) -> tuple[int, Space] | None:
    """The space that is searched, and its number."""
    row = connection.execute(_ACTIVE).one_or_none()
    return None if row is None else (row.id, Space(row.model, row.dimensions, row.unrelated))


def space_id(space: Space) -> ScalarSelect[int]:
    table = schema.spaces
    return (
        select(table.c.id)
        .where(table.c.model == space.model, table.c.dimensions == space.dimensions)
        .scalar_subquery()
    )
