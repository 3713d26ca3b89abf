"""Ending what nobody waits for any more: who does it says how it is ended, whatever it is blocked in."""

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar


class Ending:
    """Whether something is over for whoever wanted it, and what is to be done then. Safe in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._then: list[Callable[[], object]] = []
        self.over = False

    def then(self, act: Callable[[], object]) -> None:
        """Do this when it is over; at once, if it is."""
        with self._lock:
            if not self.over:
                self._then.append(act)
                return
        with suppress(Exception):
            act()

    def end(self) -> None:
        with self._lock:
            self.over, then, self._then = True, self._then, []
        for act in then:
            with suppress(Exception):  # of whoever wanted to be told; the others are told all the same
                act()


ENDING: ContextVar[Ending | None] = ContextVar("recollect_ending", default=None)
"""The ending of what is being done here, where somebody may lose interest in it."""
