"""Connections that are kept ready: to take one from SQLAlchemy's pool and to give it back costs more than
most reads do.

Whoever writes takes one of them too. SQLite keeps the pages that a connection has read until another one
writes: where the same one reads and writes in turn, as in the background, they are read once.
"""

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from sqlalchemy import Connection

from recollect.stores.sqlite.commit import execute, roll_back

MOST = 8


class Ready:
    """Safe in any thread; a connection is lent to one at a time."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: deque[Connection] = deque()
        self.era = 0
        """Connections of an earlier one are closed by whoever still has them."""

    def lent(self) -> AbstractContextManager[Connection]:
        """A connection; a transaction that was begun and not committed is undone."""
        return _Loan(self, "")

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the database."""
        return _Loan(self, "BEGIN")

    def clear(self) -> None:
        """Close all of them."""
        self.era += 1
        while self._idle:
            self._idle.pop().close()

    def take(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def give_back(self, era: int, connection: Connection) -> None:
        if era != self.era or connection.invalidated or len(self._idle) >= MOST:
            close(connection)
            return
        roll_back(connection)
        if connection.in_transaction():  # as SQLAlchemy sees it: each statement of its own has begun one
            connection.rollback()
        self._idle.append(connection)


class _Loan:
    """Written out: a generator would take longer than the read."""

    __slots__ = ("_begin", "_connection", "_era", "_ready")

    def __init__(self, ready: Ready, begin: str) -> None:
        self._ready = ready
        self._begin = begin

    def __enter__(self) -> Connection:
        self._era, connection = self._ready.era, self._ready.take()
        self._connection = connection
        if self._begin:
            try:
                execute(connection, self._begin)
            except BaseException:
                close(connection)
                raise
        return connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is not None:
            close(self._connection)
        else:
            self._ready.give_back(self._era, self._connection)


def close(connection: Connection) -> None:
    with connection:
        roll_back(connection)
