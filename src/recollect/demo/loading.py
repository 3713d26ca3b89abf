"""Lives the year of the demo through, with the verbs that everybody has: what is known in the end is what the
memory made of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from recollect.demo.story import Talk, talks
from recollect.errors import Conflict, NotFound
from recollect.memory import Memory
from recollect.model.records import Fact, Goal, Record, Turn
from recollect.scoped import ScopedMemory

MARK = "demo"
"""Among the user's own settings: how far the demo was loaded."""
ENDED = "loaded"
PAGE = 500
"""How many records are looked at in one go."""

Progress = Callable[[int, int], None]
R = TypeVar("R", bound=Record)


class Then:
    """A clock that is set to the time of what happens."""

    def __init__(self, now: datetime) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is there now, and whether it was there before."""

    counts: dict[str, int]
    conversations: int
    before: bool


def load(memory: Memory, clock: Then, user: str, progress: Progress = lambda done, total: None) -> Loaded:
    """Put the year that ends yesterday into the memory of a user who has none; `clock` is the memory's.
    Where it is already nothing changes; what a load that was killed left is begun anew. `Conflict` for a
    user with a memory of their own."""
    mine, now, story = memory.scope(user), clock.now(), talks()
    if is_loaded(mine):
        return Loaded(mine.counts(), len(story), before=True)
    _make_room(mine)
    clock.time, _ = next(story[0].times(now))  # before anything is made: ids go by the clock, and never back
    mine.update_settings(custom={MARK: "begun"})
    mine.set_retention(prune_entities=False)  # Hamburg and Nordlicht are worth a look in the past, too
    goals: dict[str, str] = {}
    reviewing = _reviewing(memory)
    for number, talk in enumerate(story, start=1):
        living = reviewing if talk.review else memory
        _live(living.scope(user, talk.channel, talk.agent, talk.id), clock, now, talk, goals)
        memory.tend(user=user)
        progress(number, len(story))
    reviewing.flush()
    clock.time = now
    mine.update_settings(custom={MARK: ENDED})
    return Loaded(mine.counts(), len(story), before=False)


def _make_room(mine: ScopedMemory) -> None:
    """Take out what is left of a load that did not come to its end."""
    if _mark(mine) is not None:
        remove(mine)
    elif mine.counts():
        raise _occupied(mine, "memories")


def _reviewing(memory: Memory) -> Memory:
    """The same memory, but one that asks when it hears two things that cannot both be so."""
    settings = replace(memory.settings, contradictions="flag_review")
    return Memory(memory.store, memory.embedder, memory.clock, settings, working=memory.working_store)


def is_loaded(mine: ScopedMemory) -> bool:
    """Whether the whole demo was put into this user's memory."""
    return _mark(mine) == ENDED


def _mark(mine: ScopedMemory) -> str | None:
    custom: dict[str, str] = mine.settings().values.get("custom") or {}
    return custom.get(MARK)


def remove(mine: ScopedMemory) -> int:
    """Forget the demo, and with it the user; how many records went. `NotFound` where it is not, `Conflict`
    where there is anything else: that is for its owner to forget."""
    if _mark(mine) is None:
        raise NotFound(
            f"The demo is not in the memory of {mine.scope.user!r}; `recollect demo --load` loads it."
        )
    if found := others(mine):
        raise _occupied(mine, found)
    return mine.forget(everything=True).total


def _occupied(mine: ScopedMemory, what: str) -> Conflict:
    user = mine.scope.user
    return Conflict(
        f"The memory of {user!r} holds {what} that the demo did not bring. --user NAME is for another user; "
        f"`recollect forget --all --user {user}` erases all that is there."
    )


def others(mine: ScopedMemory) -> str:
    """What there is besides the demo, in words; nothing when there is only that. Whatever is derived comes
    from turns, and what is saved outright has a note: looking at turns and goals is enough."""
    story = talks()
    said = {(talk.id, index): words for talk in story for index, (_, words) in enumerate(talk.said())}
    wanted = {step["goal"] for talk in story for step in talk.steps if "goal" in step}
    if any(turn.content != said.get((turn.conversation, turn.index)) for turn in _all(mine, Turn)):
        return "turns or notes"
    return "goals" if any(goal.description not in wanted for goal in _all(mine, Goal)) else ""


def _all(mine: ScopedMemory, kind: type[R]) -> Iterator[R]:
    """All records of a kind."""
    after: str | None = None
    while page := mine.list(kind.kind, limit=PAGE, after=after):
        yield from (one for one in page if isinstance(one, kind))
        after = page[-1].id


@dataclass(slots=True)
class _Life:
    """One conversation while it goes on."""

    mine: ScopedMemory
    title: str
    at: datetime
    goals: dict[str, str]
    """The ids of the goals, by the name that the story has for them."""
    index: int = 0

    def step(self, at: datetime, step: Mapping[str, Any]) -> None:
        self.at = at
        (what, value), *more = step.items()
        _STEPS[what](self, value, dict(more))

    def say(self, role: str, words: str) -> None:
        self.mine.record(role, words, index=self.index, at=self.at, title=self.title)
        self.index += 1

    def remember(self, words: str, more: dict[str, Any]) -> None:
        self.mine.remember(words, **more)
        self.index += 1  # of its note

    def call(self, tool: str, more: dict[str, Any]) -> None:
        latency = more.pop("ms")
        self.mine.record_tool(tool, more.pop("input"), latency_ms=latency, **more)

    def want(self, description: str, more: dict[str, Any]) -> None:
        name, days = more.pop("name"), more.pop("in_days", None)
        goal = self.mine.add_goal(
            description,
            priority=more.pop("priority", 0),
            deadline=None if days is None else self.at + timedelta(days=days),
            parent=self.goals[more.pop("parent")] if "parent" in more else None,
            blocked_by=[self.goals[one] for one in more.pop("blocked_by", [])],
        )
        self.goals[name] = goal.id

    def close(self, name: str, status: str, more: dict[str, Any]) -> None:
        self.mine.complete_goal(self.goals[name], status, **more)

    def fact(self, content: str) -> str:
        """The id of what the memory made of something that was said."""
        found = (fact for fact in _all(self.mine, Fact) if fact.content == content and not fact.superseded_by)
        if (fact := next(found, None)) is None:
            raise NotFound(f"The demo wants to speak of {content!r}, which was not mined from it.")
        return fact.id


_STEPS: dict[str, Callable[[_Life, str, dict[str, Any]], object]] = {
    "user": lambda life, words, more: life.say("user", words),
    "assistant": lambda life, words, more: life.say("assistant", words),
    "remember": _Life.remember,
    "tool": _Life.call,
    "goal": _Life.want,
    "reached": lambda life, name, more: life.close(name, "completed", more),
    "given_up": lambda life, name, more: life.close(name, "abandoned", more),
    "pin": lambda life, content, more: life.mine.pin(life.fact(content)),
    "forget": lambda life, content, more: life.mine.forget(life.fact(content), with_sources=True),
}
"""What is done for each kind of step."""


def _live(mine: ScopedMemory, clock: Then, now: datetime, talk: Talk, goals: dict[str, str]) -> None:
    life = _Life(mine, talk.title, now, goals)
    for at, step in talk.times(now):
        clock.time = at
        life.step(at, step)
    mine.mine(talk.id)
    mine.end(talk.id, talk.outcome, success=talk.success)
