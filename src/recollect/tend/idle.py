"""For how long nobody has spoken of something or got it back; what several chores ask."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from recollect.model.records import Entity, MemoryRecord, Record
from recollect.ports.store import Usage, UserView

R = TypeVar("R", bound=Record)

TOGETHER = 500
"""Of how many records the usage is read at once."""


def used_together(view: UserView, found: Iterable[R]) -> Iterator[tuple[list[R], Mapping[str, Usage]]]:
    """Records, some at a time, with how often each was returned."""
    waiting = iter(found)
    while some := list(islice(waiting, TOGETHER)):
        yield some, view.usage([record.id for record in some])


def idle_days(now: datetime, *times: datetime | None) -> float:
    """Days since the last of these times; none of one to come."""
    last = max(time for time in times if time is not None)
    return max(0.0, (now - last) / timedelta(days=1))


def entity_idle(entity: Entity, used: Usage | None, now: datetime) -> float:
    return idle_days(now, entity.first_seen, entity.last_seen, used and used.last_at)


def with_older(view: UserView, memory: MemoryRecord) -> list[MemoryRecord]:
    """The memories that this one replaced, oldest first, and itself. They go in this order: were it to go
    before them, what it corrected would hold again."""
    chain, known = [memory], {memory.id}
    while (before := chain[0].supersedes) is not None and before not in known:
        found = view.get(type(memory), [before])
        if not found:
            break
        chain.insert(0, found[0])
        known.add(before)
    return chain
