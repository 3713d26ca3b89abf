"""The conversations of the demo, read from the files beside this one."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from importlib.resources import files
from typing import Any

from recollect.model.scope import GLOBAL

FILES = ("quarter1.toml", "quarter2.toml", "quarter3.toml", "quarter4.toml")
PACE = timedelta(minutes=1)
"""From one step of a conversation to the next."""
ROLES = {"user": "user", "assistant": "assistant", "remember": "note"}
"""The steps that are turns, by what they are called in the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation: what was said and done in it, each a step whose first key says what it is."""

    id: str
    title: str
    days: int
    """How long before the day on which it is loaded."""
    at: str
    steps: tuple[Mapping[str, Any], ...]
    channel: str = GLOBAL
    agent: str
    outcome: str | None = None
    success: bool | None = None
    review: bool = False
    """Whether what contradicts what is known is left for somebody to look at."""

    def times(self, now: datetime) -> Iterator[tuple[datetime, Mapping[str, Any]]]:
        """When each step happened, seen from now."""
        day = now.astimezone(UTC).date() - timedelta(days=self.days)
        begun = datetime.combine(day, time.fromisoformat(self.at), UTC)
        return ((begun + number * PACE, step) for number, step in enumerate(self.steps))

    def said(self) -> list[tuple[str, str]]:
        """The role and the words of each turn, in order."""
        return [(role, step[name]) for step in self.steps for name, role in ROLES.items() if name in step]


def talks() -> list[Talk]:
    """All of them, the oldest first."""
    texts = [files("recollect.demo").joinpath(name).read_text("utf-8") for name in FILES]
    return [_talk(**talk) for text in texts for talk in tomllib.loads(text)["talk"]]


def _talk(*, steps: list[Mapping[str, Any]], **more: Any) -> Talk:
    return Talk(steps=tuple(steps), **more)
