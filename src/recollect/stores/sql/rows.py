"""The wall between users: every statement about a user's rows is built here and carries the user.

Statements are built once and kept, with the user as a parameter: building one costs SQLAlchemy several
times what running it does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Delete,
    Dialect,
    Executable,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from recollect.stores.sql.codec import encode_text

IN_LIMIT = 500
"""How many values one IN list gets; longer ones are asked for in turn."""

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


@cache
def own_delete(table: Table) -> Delete:
    return delete(table).where(_of_user(table))


@cache
def _insert(table: Table, dialect: Dialect) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
    """The statement as text, and how to get its parameters from a row: for many rows, filling them in
    costs SQLAlchemy more than inserting them costs the database."""
    compiled = insert(table).compile(dialect=dialect)
    names = compiled.positiontup
    return str(compiled), itemgetter(*names) if names else dict


@lru_cache(maxsize=256)
def _among(statement: Any, column: ColumnElement[Any]) -> Any:
    return statement.where(column.in_(bindparam(_VALUES, expanding=True)))


class UserRows:
    """One user's rows, on one connection. Statements go through `run`, which says whose they are."""

    __slots__ = ("connection", "user")

    def __init__(self, connection: Connection, user: str) -> None:
        self.connection = connection
        self.user = user

    def select(self, table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
        return own_select(table, *columns)

    def update(self, table: Table) -> Update:
        return own_update(table)

    def delete(self, table: Table) -> Delete:
        return own_delete(table)

    def run(self, statement: Executable, **parameters: Any) -> CursorResult[Any]:
        return self.connection.execute(statement, {_USER: self.user, **parameters})

    def insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows; the user is set here, whatever they say."""
        if rows:
            for row in rows:
                row["user_id"] = self.user
            statement, parameters = _insert(table, self.connection.dialect)
            self.connection.exec_driver_sql(statement, [parameters(row) for row in rows])

    def all(self, statement: Select[Any], **parameters: Any) -> list[Mapping[str, Any]]:
        return cast(list[Mapping[str, Any]], self.run(statement, **parameters).mappings().all())

    def all_in(
        self, statement: Select[Any], column: ColumnElement[Any], values: Sequence[Any], **parameters: Any
    ) -> list[Mapping[str, Any]]:
        """What the statement finds where the column has one of many values."""
        chosen = _among(statement, column)
        return [row for group in groups(values) for row in self.all(chosen, **{_VALUES: group}, **parameters)]

    def delete_in(self, table: Table, column: ColumnElement[Any], values: Sequence[Any]) -> int:
        chosen = _among(own_delete(table), column)
        return sum(self.run(chosen, **{_VALUES: group}).rowcount for group in groups(values))
