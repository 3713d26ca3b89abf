"""Which users differ from the deployment's retention policy, kept for a moment: recording asks each time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

KEPT = timedelta(seconds=30)
MOST = 10_000

Differences = Mapping[str, Mapping[str, Any]]
"""By channel; under the empty name, for all of them."""


class Policies:
    """What users have set, as it was at most so long ago. What is set in this process holds at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[datetime, Differences]] = OrderedDict()

    def of(self, user: str, now: datetime, read: Callable[[], Differences]) -> Differences:
        with self._lock:
            at, found = self._known.get(user, (now - KEPT, {}))
        if abs(now - at) < KEPT:
            return found
        found = read()
        with self._lock:
            self._known[user] = (now, found)
            self._known.move_to_end(user)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return found

    def forget(self, user: str) -> None:
        with self._lock:
            self._known.pop(user, None)
