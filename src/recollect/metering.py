"""What models are asked for each user, and what that takes: counted as it happens, written later."""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, date

from recollect.errors import RecollectError
from recollect.measuring import Measures, called
from recollect.ports.clock import Clock
from recollect.ports.language_model import Tokens
from recollect.ports.spending import Spend
from recollect.ports.store import Spent, Store

log = logging.getLogger("recollect")

MOST = 1 << 40
"""More tokens than a call can use, whatever a server says."""

_Key = tuple[date, str, str]


class Meter:
    """Adds up what is spent, until it is written. Safe in any thread."""

    def __init__(self, store: Store, clock: Clock, measures: Measures) -> None:
        self._store = store
        self._measures = measures
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[_Key, list[int]]] = {}
        self._calls = 0

    def of(self, user: str, after: Callable[[int], None]) -> Spend:
        """Notes what is spent for this user, and tells `after` how many calls wait to be written."""

        def spend(source: str, model: str, tokens: Tokens) -> None:
            key = (self._clock.now().astimezone(UTC).date(), source, model)
            prompt, completion = (min(max(0, count), MOST) for count in tokens)
            with self._lock:
                self._calls = calls = self._calls + 1
                total = self._waiting.setdefault(user, {}).setdefault(key, [0, 0, 0])
                total[0] += 1
                total[1] += prompt
                total[2] += completion
            self._measures.count(called(source))
            after(calls)

        return spend

    def write(self) -> None:
        """Have it stored; what cannot be is dropped."""
        with self._lock:
            waiting, self._waiting, self._calls = self._waiting, {}, 0
        for user, totals in waiting.items():
            try:
                self._store.user(user).spend([Spent(*key, *total) for key, total in totals.items()])
            except RecollectError as error:
                log.warning("What models used was not counted: %s", error)
