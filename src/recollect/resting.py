"""What failed slowly a moment ago is not waited for again at once, and what fails is not logged by each."""

import logging
import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

SLOW = 0.5
"""Seconds after which a failure is worth avoiding."""
REST = 30.0
"""Seconds for which it is avoided."""
QUIET = 60.0
"""Seconds for which the same is not logged again."""
_KEPT = 1000
_NUMBERS = re.compile(r"[\d.]+")

log = logging.getLogger("recollect")


class Resting:
    """Which of the services that recall can do without are left alone for now."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, slow: float = SLOW) -> None:
        self._now = now
        self._slow = slow
        self._lock = threading.Lock()
        self._until: dict[str, tuple[float, str]] = {}
        self._warned: dict[str, float] = {}

    def reason(self, name: str) -> str | None:
        """Why the service is not asked now; None when it may be."""
        with self._lock:
            until, reason = self._until.get(name, (0.0, ""))
        left = until - self._now()
        return f"{reason} It is asked again in {left:.0f} s." if left > 0 else None

    def warn(self, said: str) -> None:
        """Log it, unless the same was logged a moment ago, whatever numbers it has."""
        about, now = _NUMBERS.sub("", said), self._now()
        with self._lock:
            if now < self._warned.get(about, now):
                return
            if len(self._warned) >= _KEPT:
                self._warned.clear()
            self._warned[about] = now + QUIET
        log.warning("%s", said)

    @contextmanager
    def after_slow_failure(self, name: str, what: str) -> Generator[None]:
        """Leave the service alone for a while if it fails in here, and not at once."""
        begun = self._now()
        try:
            yield
        except Exception as error:
            if self._now() - begun >= self._slow:
                self.rest(name, f"{what}: {error or type(error).__name__}")
            raise

    def rest(self, name: str, reason: str) -> None:
        """Leave the service alone for a while."""
        with self._lock:
            self._until[name] = (self._now() + REST, reason)
