"""The wall between users: every statement about a user's rows is built here and carries the user.

Statements are built once and kept, with the user as a parameter: building one costs SQLAlchemy several
times what running it does.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, cast

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    CursorResult,
    Delete,
    Dialect,
    Executable,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from recollect.stores.sql.arrays import ColumnValues
from recollect.stores.sql.codec import encode_text
from recollect.stores.sql.kept import insert_directly, kept
from recollect.stores.sql.sealing import Seal, sealed_places

IN_LIMIT = 500
"""How many values one IN list gets; longer ones are asked for in turn."""

as_list: Callable[[Sequence[Any]], str] = json.JSONEncoder(ensure_ascii=False).encode
"""Values as one parameter that SQLite takes apart; `json.dumps` would make an encoder each time."""
_USER = "the_user"
_VALUES = "the_values"


def groups(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The values as columns hold them: what no column can hold then simply is not found."""
    values = [encode_text(value) if isinstance(value, str) else value for value in values]
    for start in range(0, len(values), IN_LIMIT):
        yield values[start : start + IN_LIMIT]


def _of_user(table: Table) -> ColumnElement[bool]:
    return table.c.user_id == bindparam(_USER)


@lru_cache(maxsize=256)
def own_select(table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
    return select(*(columns or tuple(table.c))).where(_of_user(table))


@cache
def own_update(table: Table) -> Update:
    return update(table).where(_of_user(table))


@lru_cache(maxsize=256)
def own_revision(table: Table, key: ColumnElement[Any], names: tuple[str, ...]) -> Update:
    """Sets some columns (`new_` and their names) where another has one value (`which`)."""
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    return own_update(table).where(key == bindparam("which")).values(values)


@cache
def own_delete(table: Table) -> Delete:
    return delete(table).where(_of_user(table))


@cache
def _insertion(
    table: Table, dialect: Dialect, sealed: bool
) -> tuple[str, Callable[[Iterable[list[Any]]], Any]]:
    """The statement as text, and how it takes a list of values for each of the table's columns."""
    if dialect.name != "postgresql":
        return str(insert(table).compile(dialect=dialect)), lambda columns: [*zip(*columns, strict=True)]
    # All rows in one statement, a parameter for each column. (COPY does not go through row-level security.)
    quoted = dialect.identifier_preparer.quote
    names = ", ".join(map(quoted, table.c.keys()))
    types = [column.type.compile(dialect).split()[0].lower() for column in table.c]
    if sealed:
        types = ["bytea" if name == "halfvec" else name for name in types]
    arrays = ", ".join(f"%b::{name}[]" for name in types)
    statement = f"INSERT INTO {quoted(table.name)} ({names}) SELECT * FROM unnest({arrays})"
    return statement, lambda columns: tuple(map(ColumnValues, types, columns))


@lru_cache(maxsize=256)
def _among(statement: Any, column: ColumnElement[Any], server: bool) -> Any:
    """All the values are one parameter, so that the statement stays the same however many there are."""
    if server:
        return statement.where(column == func.any(bindparam(_VALUES, type_=ARRAY(column.type))))
    listed = func.json_each(bindparam(_VALUES, type_=Text)).table_valued("value")
    return statement.where(column.in_(select(listed.c.value)))


@lru_cache(maxsize=256)
def _having(statement: Any, column: ColumnElement[Any]) -> Any:
    return statement.where(column == bindparam(_VALUES))


class UserRows:
    """One user's rows, on one connection. Statements go through `run`, which says whose they are."""

    __slots__ = ("connection", "seal", "user")

    def __init__(self, connection: Connection, user: str) -> None:
        self.connection = connection
        self.user = user
        self.seal: Seal | None = connection.get_execution_options().get("seal")
        """Set when the database is encrypted, column by column."""

    def select(self, table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
        return own_select(table, *columns)

    def update(self, table: Table) -> Update:
        return own_update(table)

    def delete(self, table: Table) -> Delete:
        return own_delete(table)

    def run(self, statement: Executable, **parameters: Any) -> CursorResult[Any]:
        return self.connection.execute(statement, {_USER: self.user, **parameters})

    def insert(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows that have the same columns."""
        if rows:
            self.insert_columns(table, len(rows), {name: [row[name] for row in rows] for name in rows[0]})

    def insert_columns(self, table: Table, count: int, columns: Mapping[str, list[Any]]) -> None:
        """Insert so many rows, given by column; the user is set here, whatever they say."""
        if count:
            self._insert(table, count, columns)

    def insert_missing(self, table: Table, row: Mapping[str, Any]) -> bool:
        """Insert a row, unless somebody else just did; whether it is this one."""
        columns = {name: [value] for name, value in row.items()}
        return self._insert(table, 1, columns, " ON CONFLICT DO NOTHING") == 1

    def _insert(self, table: Table, count: int, columns: Mapping[str, list[Any]], end: str = "") -> int:
        statement, parameters = _insertion(table, self.connection.dialect, self.seal is not None)
        own = {**self.closed(table, columns), "user_id": [self.user] * count}
        given = parameters(own[column.name] for column in table.c)
        if self.server:
            return self.connection.exec_driver_sql(statement + end, given).rowcount
        return insert_directly(self.connection, statement + end, given)

    def closed(self, table: Table, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Values of a table's columns as they are stored."""
        return values if self.seal is None else self.seal.closed(self.user, table, values)

    def all(self, statement: Executable, **parameters: Any) -> list[Mapping[str, Any]]:
        found = self._found(statement, parameters)
        if self.seal is None or not found or not (places := sealed_places(statement)):
            return found
        return [self.seal.opened(self.user, places, row) for row in found]

    def _found(self, statement: Executable, parameters: dict[str, Any]) -> list[Mapping[str, Any]]:
        if not self.server and (known := kept(statement)).is_ready(self.connection.dialect):
            return [*known.all(self.connection, {_USER: self.user, **parameters})]
        return cast(list[Mapping[str, Any]], self.run(statement, **parameters).mappings().all())

    def change(self, statement: Executable, **parameters: Any) -> int:
        """Run a statement that is built once; how many rows it changed."""
        if not self.server and (known := kept(statement)).is_ready(self.connection.dialect):
            return known.run(self.connection, {_USER: self.user, **parameters}).rowcount
        return self.run(statement, **parameters).rowcount

    def all_in(
        self, statement: Select[Any], column: ColumnElement[Any], values: Sequence[Any], **parameters: Any
    ) -> list[Mapping[str, Any]]:
        """What the statement finds where the column has one of many values."""
        chosen, lists = self._chosen(statement, column, values)
        return [row for group in lists for row in self.all(chosen, **group, **parameters)]

    def tuples_in(
        self, statement: Select[Any], column: ColumnElement[Any], values: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        """`all_in` of columns that are stored as they are: rows that are no mappings take half the time."""
        found: list[tuple[Any, ...]] = []
        chosen, lists = self._chosen(statement, column, values)
        for group in lists:
            if not self.server and (known := kept(chosen)).is_ready(self.connection.dialect):
                found += known.run(self.connection, {_USER: self.user, **group})
            else:
                found += map(tuple, self.run(chosen, **group))
        return found

    def change_in(
        self, statement: Update | Delete, column: ColumnElement[Any], values: Sequence[Any], **parameters: Any
    ) -> int:
        """Run an update or a deletion that is built once where the column has one of many values."""
        chosen, lists = self._chosen(statement, column, values)
        return sum(self.change(chosen, **group, **parameters) for group in lists)

    def delete_in(self, table: Table, column: ColumnElement[Any], values: Sequence[Any]) -> int:
        return self.change_in(own_delete(table), column, values)

    @property
    def server(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    def _chosen(
        self, statement: Any, column: ColumnElement[Any], values: Sequence[Any]
    ) -> tuple[Any, Iterator[dict[str, Any]]]:
        """The statement for one of these values in the column, and they as its parameter, many at a time."""
        if len(values) == 1:  # most often, and to take a list apart takes longer than to look one up
            return _having(statement, column), ({_VALUES: value} for (value,) in groups(values))
        lists = ({_VALUES: list(group) if self.server else as_list(group)} for group in groups(values))
        return _among(statement, column, self.server), lists
