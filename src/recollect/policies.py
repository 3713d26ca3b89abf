"""Which users differ from the deployment's retention policy, kept for a moment: recording asks each time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from recollect.model.retention import Retention

KEPT = timedelta(seconds=30)
MOST = 10_000

Differences = Mapping[str, Mapping[str, Any]]
"""By channel; under the empty name, for all of them."""


class Kept(NamedTuple):
    """What a user has set, when that was read, and the policies that were worked out from it."""

    at: datetime
    differences: Differences
    made: dict[str, Retention]


class Policies:
    """What users have set, as it was at most so long ago. What is set in this process holds at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Kept] = OrderedDict()

    def of(self, user: str, now: datetime, read: Callable[[], Differences]) -> Kept:
        with self._lock:
            found = self._known.get(user)
        if found is not None and abs(now - found.at) < KEPT:
            return found
        found = Kept(now, read(), {})
        with self._lock:
            self._known[user] = found
            self._known.move_to_end(user)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return found

    def forget(self, user: str) -> None:
        with self._lock:
            self._known.pop(user, None)
