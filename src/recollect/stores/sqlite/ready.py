"""Connections that are kept ready: to take one from SQLAlchemy's pool and to give it back costs more than most
reads do.

Whoever writes takes one of them too. SQLite keeps the pages that a connection has read until another one
writes: where the same one reads and writes in turn, as in the background, they are read once.
"""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlalchemy import Connection

from recollect.stores.sqlite.commit import execute, roll_back

MOST = 8


class Ready:
    """Safe in any thread; a connection is lent to one at a time."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: deque[Connection] = deque()
        self._era = 0
        """Connections of an earlier one are closed by whoever still has them."""

    @contextmanager
    def lent(self) -> Generator[Connection]:
        """A connection; a transaction that was begun and not committed is undone."""
        era, connection = self._era, self._take()
        try:
            yield connection
        except BaseException:
            self._close(connection)
            raise
        self._give_back(era, connection)

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self.lent() as connection:
            execute(connection, "BEGIN")
            yield connection

    def clear(self) -> None:
        """Close all of them."""
        self._era += 1
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _give_back(self, era: int, connection: Connection) -> None:
        if era != self._era or connection.invalidated or len(self._idle) >= MOST:
            self._close(connection)
            return
        roll_back(connection)
        if connection.in_transaction():  # as SQLAlchemy sees it: each statement of its own has begun one
            connection.rollback()
        self._idle.append(connection)

    def _close(self, connection: Connection) -> None:
        with connection:
            roll_back(connection)
