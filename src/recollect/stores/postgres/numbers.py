"""Numbers for users who are new, some at a time.

They come from one row. Taken in the transaction that records something, it would be held until that ends, and
all who are new would wait for one another.
"""

import os
from threading import Lock

from recollect.stores.postgres.session import Sessions
from recollect.stores.sql.fork import watch
from recollect.stores.sql.locking import next_number

MOST = 64
"""Numbers that a process keeps at most; those that it does not use nobody has."""


class Numbers:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._process = os.getpid()
        self._lock = Lock()
        self._left = range(0)
        self._count = 1
        watch(self)

    def take(self) -> int:
        with self._lock:
            if not self._left:
                count = self._count
                first = self._sessions.beside(lambda connection: next_number(connection, count))
                self._left, self._count = range(first, first + count), min(2 * count, MOST)
            number, self._left = self._left[0], self._left[1:]
            return number

    def before_fork(self) -> None: ...

    def after_fork(self) -> None:
        if os.getpid() != self._process:  # those that are left are the parent's
            self._process, self._lock, self._left = os.getpid(), Lock(), range(0)
