"""How much a user may have: said in time, and of too many memories the least valuable mined ones go.

Only what somebody records or saves is refused. Mining is not, because what was said is there already and
the next round makes room; nor are a copy and an import, which bring back what was stored once before.
"""

import heapq
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from recollect.errors import QuotaExceeded
from recollect.model.records import MemoryRecord, UserSettings
from recollect.model.retention import EVERYWHERE, Retention, faded
from recollect.model.scope import GLOBAL
from recollect.ports.store import Usage
from recollect.ports.tending import Mark, Size
from recollect.record.ledger import user_settings
from recollect.record.sizes import filled
from recollect.tend.cleanup import in_force
from recollect.tend.erase import erase_all
from recollect.tend.idle import Rated, glanced, idle_days, older, used_together
from recollect.tend.steps import Step
from recollect.workspace import Workspace, rereading

log = logging.getLogger("recollect.tend")

T = TypeVar("T")

WARNING = "quota_warning"
ROOM = 0.01
"""The share of a quota that is made free at once, so that not every memory saved looks for the next one."""


@dataclass(frozen=True, slots=True)
class Level:
    """How much of a quota is used: of one channel's or, with an empty name, of all."""

    channel: str
    what: str
    used: int
    quota: int

    def is_high(self, policy: Retention) -> bool:
        return self.used >= policy.quota_warning * self.quota

    @property
    def figures(self) -> str:
        """Without a name: the audit keeps it, and a channel may be forgotten."""
        return f"{self.used:,} of at most {self.quota:,} {self.what}"

    def __str__(self) -> str:
        return self.figures + (f" in the channel {self.channel!r}" if self.channel else "")


def levels(sizes: Mapping[str, Size], policy: Callable[[str], Retention]) -> list[Level]:
    """How far every quota that there is has been used up."""
    found = [
        level
        for channel, size in filled(sizes, policy).items()
        for level in (
            Level(channel, "turns", size.turns, size.turn_quota),
            Level(channel, "memories", size.memories, size.memory_quota),
        )
    ]
    return [level for level in found if level.quota]


def worth(
    memory: MemoryRecord | Rated, used: Usage | None, policy: Retention, now: datetime
) -> tuple[bool, float, int, str]:
    """By which memories are put in order, the least valuable first: what no longer holds, then by how much
    it matters, how sure it is, and how long nobody asked for it."""
    times = used.count if used else 0
    fresh = faded(
        1.0,
        idle_days(now, memory.recorded_at, used and used.last_at),
        policy,
        times,
        policy.inferred_decay_days,
    )
    holds = memory.superseded_by is None and in_force(memory, now)
    return holds, memory.salience * memory.confidence * fresh, times, memory.id


def plan_quota(work: Workspace, mark: Mark) -> Iterator[Step]:
    found = levels(work.store.sizes(), work.retention)
    yield from _warnings(work, found)
    gone: dict[str, MemoryRecord] = {}
    for level in _of_memories(found):
        yield from _evicting(work, level, level.used - level.quota - _freed(level, gone.values()), gone)


def _of_memories(found: Iterable[Level]) -> list[Level]:
    """All channels together come last: what goes from one of them makes room there, too."""
    return sorted((level for level in found if level.what == "memories"), key=lambda x: not x.channel)


def _freed(level: Level, gone: Iterable[MemoryRecord | Rated]) -> int:
    return sum(level.channel in (EVERYWHERE, memory.channel) for memory in gone)


def _evicting(work: Workspace, level: Level, too_many: int, gone: dict[str, MemoryRecord]) -> Iterator[Step]:
    """The least valuable of the mined memories, so many of them."""
    if too_many <= 0:
        return
    where = " in its channel" if level.channel else ""
    why = f"there are {level.figures}{where}: the least valuable goes"
    for memory in _least(work, level, too_many, gone):
        gone[memory.id] = memory
        details = {"quota": level.quota, "used": level.used, "what": level.what}
        yield Step(action="evict", record=memory, why=why, details=details)


def _least(work: Workspace, level: Level, most: int, gone: Iterable[str]) -> list[MemoryRecord]:
    left, going, now = most, {*gone}, work.clock.now()
    chosen: list[str] = []
    # Some of the candidates cannot go because of what they replaced: so a few more are looked at.
    candidates = _candidates(work, level.channel, now)
    for _, memory in heapq.nsmallest(most * 2 + 100, candidates, key=lambda c: c[0]):
        if left <= 0:
            break
        chain = [m for m in (*older(work.store, memory), memory) if m.id not in going]
        if memory.id in going or any(m.pinned or m.origin == "explicit" for m in chain):
            continue
        chosen += (m.id for m in chain)
        going.update(chosen)
        left -= _freed(level, chain)
    return work.store.get(MemoryRecord, chosen)


def _candidates(
    work: Workspace, channel: str, now: datetime
) -> Iterator[tuple[tuple[bool, float, int, str], Rated]]:
    """What may go, to choose among."""
    where = {"pinned": False, **({"channel": channel} if channel else {})}
    for some, usage in used_together(work.store, glanced(work.store, MemoryRecord, Rated, where)):
        for memory in some:
            if memory.origin != "explicit":
                policy = work.retention(memory.channel)
                yield worth(memory, usage.get(memory.id), policy, now), memory


def making_room(work: Workspace, save: Callable[[], T], count: int) -> T:
    """Save something; where that is too much, once again when mined memories have gone for it."""
    try:
        return save()
    except QuotaExceeded:
        if not _make_room(work, count):
            raise
    return save()


@rereading
def _make_room(work: Workspace, count: int) -> int:
    sizes = {c: s for c, s in work.store.sizes().items() if c in (EVERYWHERE, work.scope.channel)}
    gone: dict[str, MemoryRecord] = {}
    found = levels(sizes, work.retention)
    if any(level.what == "turns" and level.used + count > level.quota for level in found):
        return 0  # the notes have no room, whatever goes
    for level in _of_memories(found):
        freed = _freed(level, gone.values())
        too_many = level.used + count - level.quota - freed
        if too_many > 0:
            least = _least(work, level, max(too_many, int(level.quota * ROOM) - freed), gone)
            if _freed(level, least) < too_many:  # it would be refused all the same
                return 0
            gone |= {m.id: m for m in least}
    if gone:
        why = {"why": "a memory was to be saved"}
        logged = work.log("evict", "memories", count=len(gone), details=why, always=True)
        erase_all(work, list(gone.values()), logged)
    return len(gone)


def _warnings(work: Workspace, found: Iterable[Level]) -> Iterator[Step]:
    """Whenever it is looked at, which is once a day, as long as a quota is nearly used up."""
    for level in found:
        if level.is_high(work.retention(level.channel)):
            yield _told(work, level)


def _subject(level: Level) -> str:
    return f"{level.what} of the {'channel' if level.channel else 'user'}"


def _told(work: Workspace, level: Level) -> Step:
    record: UserSettings = user_settings(work)

    def tell(_: Callable[[], bool]) -> int:
        log.warning("A quota is nearly used up: %s of %s %s", level.used, level.quota, level.what)
        place = replace(work, scope=replace(work.scope, channel=level.channel or GLOBAL))
        details = {"used": level.used, "quota": level.quota}
        if logged := place.log(WARNING, _subject(level), count=level.used, details=details):
            work.apply(*logged)
        return 1

    return Step(action=WARNING, record=record, why=f"there are {level}", do=tell)
