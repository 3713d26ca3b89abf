"""The wall between users: every statement about a user's rows is built here and carries the user."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Select,
    Table,
    Update,
    delete,
    insert,
    select,
    update,
)

from recollect.stores.sql.codec import encode_text

IN_LIMIT = 500
"""How many values one IN list gets; longer ones are asked for in turn."""


def groups(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The values as columns hold them: what no column can hold then simply is not found."""
    values = [encode_text(value) if isinstance(value, str) else value for value in values]
    for start in range(0, len(values), IN_LIMIT):
        yield values[start : start + IN_LIMIT]


class UserRows:
    """One user's rows, on one connection."""

    __slots__ = ("connection", "user")

    def __init__(self, connection: Connection, user: str) -> None:
        self.connection = connection
        self.user = user

    def select(self, table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
        return select(*(columns or tuple(table.c))).where(table.c.user_id == self.user)

    def update(self, table: Table) -> Update:
        return update(table).where(table.c.user_id == self.user)

    def delete(self, table: Table) -> Delete:
        return delete(table).where(table.c.user_id == self.user)

    def insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows; the user is set here, whatever they say."""
        if rows:
            for row in rows:
                row["user_id"] = self.user
            self.connection.execute(insert(table), rows)

    def all(self, statement: Select[Any]) -> list[Mapping[str, Any]]:
        return cast(list[Mapping[str, Any]], self.connection.execute(statement).mappings().all())

    def all_in(
        self, statement: Select[Any], column: ColumnElement[Any], values: Sequence[Any]
    ) -> list[Mapping[str, Any]]:
        """What the statement finds where the column has one of many values."""
        return [row for group in groups(values) for row in self.all(statement.where(column.in_(group)))]

    def delete_in(self, table: Table, column: ColumnElement[Any], values: Sequence[Any]) -> int:
        return sum(
            self.connection.execute(self.delete(table).where(column.in_(group))).rowcount
            for group in groups(values)
        )
