"""What users have set for their own memory, kept for a moment: recording and recalling ask each time."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from recollect.model.retention import Retention
from recollect.wishes import Wishes

KEPT = timedelta(seconds=30)
MOST = 10_000


class Kept(NamedTuple):
    """What a user has set, when that was read, and the policies that were worked out from it."""

    at: datetime
    wishes: Wishes
    made: dict[str, Retention]


class Policies:
    """What users have set, as it was at most so long ago. What is set in this process holds at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Kept] = OrderedDict()
        self._changes = 0

    def of(self, user: str, now: datetime, read: Callable[[], Wishes]) -> Kept:
        with self._lock:
            found, changes = self._known.get(user), self._changes
        if found is not None and abs(now - found.at) < KEPT:
            return found
        found = Kept(now, read(), {})
        with self._lock:
            if changes != self._changes:  # it may have been read before the change
                return found
            self._known[user] = found
            self._known.move_to_end(user)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return found

    def forget(self, user: str) -> None:
        with self._lock:
            self._changes += 1
            self._known.pop(user, None)
