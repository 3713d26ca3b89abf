"""Users a slice at a time, for what only a look at every user finds: statements of which none takes long,
however many users there are."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, select

from recollect.stores.sql.schema import users

USERS = 50_000
"""How many are looked at in one statement."""


class Slice(NamedTuple):
    """Users behind one name and up to another; all who are left when there is none."""

    last: str
    end: str | None

    def has(self, user: ColumnElement[Any]) -> tuple[ColumnElement[bool], ...]:
        """Conditions, for every table that is looked at: a database does not tell one's from another's."""
        behind = user > self.last
        return (behind,) if self.end is None else (behind, user <= self.end)


def slice_behind(connection: Connection, last: str) -> Slice:
    name = users.c.user_id
    end = select(name).where(name > last).order_by(name).limit(1).offset(USERS - 1)
    return Slice(last, connection.execute(end).scalar())
