"""Where several servers count together how often somebody asked."""

from typing import NamedTuple, Protocol


class Level(NamedTuple):
    """How full somebody's bucket is."""

    used: float
    counted: bool
    """Whether there was room for this request."""


class Buckets(Protocol):
    """A bucket for each caller that holds a minute's requests and drains evenly. Safe in any thread."""

    def take(self, who: str, a_minute: int) -> Level | None:
        """Count a request, if there is room; None while nobody can be asked."""
        ...

    def close(self) -> None: ...
