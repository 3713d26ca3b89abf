"""Where the time comes from. Injected everywhere, so that tests move it and nothing sleeps."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time, in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)
