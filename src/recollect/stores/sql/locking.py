"""One writer of a user's memory at a time, and a number for who is new."""

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend
from recollect.stores.sql.rows import UserRows

_NEXT_USER = "next_user"


def lock_user(backend: Backend, rows: UserRows) -> Mapping[str, Any]:
    """The user's row, held until the transaction ends; made when it is the first write."""
    statement = backend.locked(rows.select(schema.users))
    while not (found := rows.all(statement)):  # again, should another erase the user whom another just made
        new = {
            "number": backend.user_number(rows),
            "seq": 0,
            "next_doc": 1,
            "documents": 0,
            "terms": 0,
            "secret": secrets.token_hex(32),
        }
        if rows.insert_missing(schema.users, new):
            return new
    return found[0]


def next_number(connection: Connection, count: int = 1) -> int:
    """The first of so many user numbers that nobody had before. Whoever asks next waits until this
    transaction ends."""
    table = schema.meta
    bump = update(table).where(table.c.key == _NEXT_USER).values(value=table.c.value + count)
    connection.execute(bump)
    last: int = connection.execute(select(table.c.value).where(table.c.key == _NEXT_USER)).scalar_one()
    return last - count + 1
