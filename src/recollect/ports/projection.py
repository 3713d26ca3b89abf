"""Copies of what is stored, in engines made for one thing: to search vectors, to walk a graph.

A projection follows the change feed and is nobody's record: what is lost with it is made again. It knows a
user by their number in the store, which is never given again and tells nothing of who that is; and it only
proposes: what it names is read from the store of record, so that what was forgotten is never found by it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from recollect.ports.store import UserView


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of what changed of a user's memory, up to a place of the feed; `content` is the projection's."""

    upto: int
    content: Any


class Projection(Protocol):
    """Raises `ProjectionError` when its engine fails or is not of the epoch that is asked for."""

    @property
    def name(self) -> str: ...

    @property
    def settles(self) -> timedelta:
        """For how long what was written may not be seen by whoever reads it."""
        ...

    def ping(self) -> None:
        """Raise if its engine does not answer. Changes nothing."""
        ...

    def epoch(self) -> str:
        """Make what is missing of it; which making it is. One that was dropped or lost has another."""
        ...

    def read(self, view: UserView, since: int) -> Portion:
        """What changed after a place of the feed, about as much as is written at once. Asks no engine."""
        ...

    def write(self, epoch: str, number: int, portion: Portion) -> None:
        """Bring it up to date. Doing so again changes nothing."""
        ...

    def forget(self, epoch: str, number: int) -> None:
        """Remove all that it has of a user."""
        ...

    def drop(self) -> None:
        """Remove all of it."""
        ...

    def close(self) -> None: ...
