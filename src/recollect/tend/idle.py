"""For how long nobody has spoken of something or got it back; what several chores ask."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from recollect.model.records import Entity, MemoryRecord, Record
from recollect.ports.store import Usage, UserView


class Rated(NamedTuple):
    """What memories are chosen by, when there are many of them."""

    id: str
    channel: str
    origin: str
    pinned: bool
    salience: float
    confidence: float
    recorded_at: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    retired_at: datetime | None
    supersedes: str | None
    superseded_by: str | None


class Met(NamedTuple):
    """The same of entities."""

    id: str
    channel: str
    salience: float
    initial: float | None
    first_seen: datetime
    last_seen: datetime | None


R = TypeVar("R", bound=Record | Rated | Met)
G = TypeVar("G", Rated, Met)

TOGETHER = 500
"""Of how many records the usage is read at once."""


def used_together(view: UserView, found: Iterable[R]) -> Iterator[tuple[list[R], Mapping[str, Usage]]]:
    """Records, some at a time, with how often each was returned."""
    waiting = iter(found)
    while some := list(islice(waiting, TOGETHER)):
        yield some, view.usage([record.id for record in some])


def glanced(view: UserView, kind: type[Record], shape: type[G], where: Mapping[str, Any]) -> Iterator[G]:
    """Records as they are chosen by; those that are chosen are then read in full."""
    return map(shape._make, view.fields(kind, shape._fields, where))


def idle_days(now: datetime, *times: datetime | None) -> float:
    """Days since the last of these times; none of one to come."""
    last = max(time for time in times if time is not None)
    return max(0.0, (now - last) / timedelta(days=1))


def entity_idle(entity: Entity | Met, used: Usage | None, now: datetime) -> float:
    return idle_days(now, entity.first_seen, entity.last_seen, used and used.last_at)


def with_older(view: UserView, memory: MemoryRecord) -> list[MemoryRecord]:
    """The memories that this one replaced, oldest first, and itself. They go in this order: were it to go
    before them, what it corrected would hold again."""
    return [*older(view, memory), memory]


def older(view: UserView, memory: MemoryRecord | Rated) -> list[MemoryRecord]:
    """The memories that this one replaced, oldest first."""
    chain: list[MemoryRecord] = []
    known, before = {memory.id}, memory.supersedes
    while before is not None and before not in known:
        found = view.get(MemoryRecord, [before])
        if not found:
            break
        chain.insert(0, found[0])
        known.add(before)
        before = found[0].supersedes
    return chain
