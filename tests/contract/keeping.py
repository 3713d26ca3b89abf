"""What the tests of the retention policy share."""

from datetime import timedelta
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import AuditEntry, Fact, MemoryRecord
from recollect.ports.store import Usage
from recollect.testing.store_samples import ManualClock

DAY = timedelta(days=1)


def pass_time(clock: ManualClock, time: timedelta) -> None:
    clock.advance(seconds=time.total_seconds())


def returned(memory: Memory, user: ScopedMemory, record: Any, times: int) -> None:
    given = {record.id: (record.kind, times, memory.clock.now())}
    memory.store.user(user.scope.user).touch(given)


def usage(memory: Memory, user: ScopedMemory, id: str) -> Usage:
    return memory.store.user(user.scope.user).usage([id])[id]


def planned(memory: Memory, user: ScopedMemory) -> list[tuple[str, str, str]]:
    """What the chores would do for the user, without learning from what was said: action, id, why."""
    steps = [step for step in memory.tending() if step.user == user.scope.user]
    return [(step.action, step.id, step.why) for step in steps if step.action not in ("mine", "conclude")]


def tended(memory: Memory, user: ScopedMemory) -> list[tuple[str, str, str]]:
    """Tend once: what was done is what was told, and there is nothing left to do."""
    told = planned(memory, user)
    problems = [outcome.problem for outcome in memory.tend() if outcome.problem]
    assert problems == []
    return told


def audited(user: ScopedMemory, operation: str) -> list[AuditEntry]:
    found = user.list("audit", limit=1000, operation=operation, oldest_first=True)
    return [entry for entry in found if isinstance(entry, AuditEntry)]


def a_fact(user: ScopedMemory, id: str) -> MemoryRecord:
    found = user.get(id)
    assert isinstance(found, MemoryRecord)
    return found


def inferred(memory: Memory, user: ScopedMemory, **given: Any) -> Fact:
    fact = Fact(
        id=given.pop("id", "0195a3c2-0000-7000-8000-000000000001"),
        content=given.pop("content", "Derek may like jazz."),
        recorded_at=memory.clock.now(),
        valid_from=memory.clock.now(),
        **{"confidence": 0.7, "origin": "rules", **given},
    )
    memory.store.user(user.scope.user).apply([Put(fact, ())])
    return fact
