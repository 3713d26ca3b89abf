"""Living through the days: what everybody says, asks and keeps, and the background in the evening."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.bench.measure import Times
from recollect.bench.quality.ingest import SetClock
from recollect.bench.years.people import WORK, Day, Note, Person, Talk
from recollect.bench.years.policies import Policy
from recollect.errors import QuotaExceeded
from recollect.model.records import MemoryRecord
from recollect.model.scope import GLOBAL
from recollect.ports.tending import Size
from recollect.tend.tender import Outcome

START = datetime(2023, 1, 1, tzinfo=UTC)
MORNING, EVENING = timedelta(hours=9), timedelta(hours=22)
PAUSE = timedelta(seconds=30)
ASKED_EVERY = 5
"""Each person asks something on one day of so many."""
QUESTIONS = 3


def _seconds() -> dict[str, float]:
    return defaultdict(float)


@dataclass(slots=True)
class User:
    """Somebody of the simulation, with what must not be lost and what went wrong."""

    name: str
    person: Person
    policy: Policy
    pinned: set[str] = field(default_factory=set[str])
    goal: str | None = None
    refused: int = 0
    peaks: dict[str, float] = field(default_factory=dict[str, float])
    """The most that was there on an evening, as a share of each quota."""


@dataclass(slots=True)
class Span:
    """What happened in some days on end."""

    recall: Times = field(default_factory=Times)
    done: Counter[str] = field(default_factory=Counter[str])
    seconds: dict[str, float] = field(default_factory=_seconds)
    """By chore or job."""
    problems: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class World:
    """The memory, the people and the time."""

    memory: Memory
    clock: SetClock
    users: list[User]
    turns: int
    faults: Counter[str] = field(default_factory=Counter[str])
    """What must never happen."""
    recalls: int = 0
    seconds: dict[str, float] = field(default_factory=_seconds)
    """What recording, asking and tending took in all."""


def settle_in(world: World) -> None:
    for user in world.users:
        world.memory.scope(user.name).update_settings(retention=user.policy.setting)


def live(world: World, number: int, span: Span) -> None:
    """One day of everybody's, and the background's work in the evening."""
    for place, user in enumerate(world.users):
        world.clock.at = START + timedelta(days=number) + MORNING + place * timedelta(minutes=1)
        day = user.person.day(number, world.turns)
        begun = perf_counter()
        _speak(world, user, day, number)
        world.seconds["record"] += perf_counter() - begun
        if (number + place) % ASKED_EVERY == 0:
            _ask(world, user, day, span)
    world.clock.at = START + timedelta(days=number) + EVENING
    begun = perf_counter()
    outcomes = world.memory.tend()
    world.seconds["tend"] += perf_counter() - begun
    _note(outcomes, span)
    begun = perf_counter()
    for user in world.users:
        _weigh(world, user)
    world.seconds["check"] += perf_counter() - begun


def _speak(world: World, user: User, day: Day, number: int) -> None:
    scope = world.memory.scope(user.name)
    for place, talk in enumerate(day.talks):
        _talk(world, user, talk, f"day {number}.{place}")
    for note in day.notes:
        _keep(world, user, scope, note)
    if day.goal:
        user.goal = scope.add_goal(day.goal).id
    elif day.reached and user.goal:
        scope.complete_goal(user.goal, result="It works.")
        user.goal = None


def _talk(world: World, user: User, talk: Talk, name: str) -> None:
    scope = world.memory.scope(user.name, talk.channel or GLOBAL, conversation=name)
    messages = [
        {"role": role, "content": content, "at": world.clock.at + place * PAUSE}
        for place, (role, content) in enumerate(talk.turns)
    ]
    try:
        turns = scope.record_many(messages)
    except QuotaExceeded:  # it is full until the background has made room
        user.refused += len(messages)
        return
    for call in talk.calls:
        turn = next((turn.id for turn in turns if turn.role == "tool"), None)
        scope.record_tool(call.tool, call.input, call.output, success=call.success, turn=turn)


def _keep(world: World, user: User, scope: ScopedMemory, note: Note) -> None:
    ends: dict[str, Any] = {} if note.lasts is None else {"expires_at": world.clock.at + note.lasts}
    try:
        kept = scope.remember(note.content, pinned=note.pinned, **ends)
    except QuotaExceeded:
        user.refused += 1
        return
    if note.pinned:
        user.pinned.add(kept.id)


def _ask(world: World, user: User, day: Day, span: Span) -> None:
    for place, question in enumerate(day.questions[:QUESTIONS]):
        scope = world.memory.scope(user.name, WORK if place == 1 else GLOBAL)
        begun = perf_counter()
        found = span.recall.take(lambda s=scope, q=question: s.recall(q))
        world.seconds["recall"] += perf_counter() - begun
        world.recalls += 1
        world.faults["recall with problems"] += bool(found.problems)
        ids = [hit.id for hit in found.hits]
        for memory in _memories(world, user, ids):
            expired = memory.expires_at is not None and memory.expires_at <= world.clock.at
            world.faults["expired and returned"] += expired and not memory.pinned


def _memories(world: World, user: User, ids: list[str]) -> list[MemoryRecord]:
    store = world.memory.store.user(user.name)
    return store.get(MemoryRecord, ids)


def _note(outcomes: list[Outcome], span: Span) -> None:
    for outcome in outcomes:
        span.done[outcome.job] += outcome.done
        span.seconds[outcome.job] += outcome.seconds
        span.problems[outcome.job] += outcome.problem is not None


def _weigh(world: World, user: User) -> None:
    """Whether they have no more than they may, in all and in the channel that differs."""
    sizes = world.memory.store.user(user.name).sizes()
    policy, work = user.policy.retention, user.policy.work
    whole, channel = sizes.get("", Size()), sizes.get(WORK, Size())
    shares = {
        "turns": (whole.turns, policy.turn_quota),
        "memories": (whole.memories, policy.memory_quota),
        "memories at work": (channel.memories, work.channel_memory_quota),
    }
    for name, (size, quota) in shares.items():
        if quota:
            user.peaks[name] = max(user.peaks.get(name, 0.0), size / quota)
            world.faults["over the quota"] += size > quota


def lost(world: World) -> int:
    """How many pinned memories are no more, or no longer pinned."""
    count = 0
    for user in world.users:
        kept = {memory.id for memory in _memories(world, user, sorted(user.pinned)) if memory.pinned}
        count += len(user.pinned - kept)
    return count
