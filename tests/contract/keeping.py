"""What the tests of the retention policy share."""

from collections import Counter
from datetime import timedelta
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import AuditEntry, Fact, MemoryRecord
from recollect.ports.store import Usage
from recollect.ports.tending import Mark
from recollect.tend.chores import CHORES
from recollect.tend.steps import Step
from recollect.tend.visits import Planned
from recollect.testing.store_samples import ManualClock

DAY = timedelta(days=1)


def pass_time(clock: ManualClock, time: timedelta) -> None:
    clock.advance(seconds=time.total_seconds())


def returned(memory: Memory, user: ScopedMemory, record: Any, times: int) -> None:
    given = {record.id: (record.kind, times, memory.clock.now())}
    memory.store.user(user.scope.user).touch(given)


def usage(memory: Memory, user: ScopedMemory, id: str) -> Usage:
    return memory.store.user(user.scope.user).usage([id])[id]


LEARNING = ("mine", "conclude")


def planned(memory: Memory, user: ScopedMemory) -> list[tuple[str, str, str]]:
    """What the chores would do for the user, without learning from what was said: action, id, why."""
    return [(step.action, step.id, step.why) for step in _planned(memory, user)]


def _planned(memory: Memory, user: ScopedMemory) -> list[Planned]:
    return [step for step in memory.tending(user.scope.user) if step.chore not in LEARNING]


def tended(memory: Memory, user: ScopedMemory) -> list[tuple[str, str, str]]:
    """Tend once: what was done is what was told, and there is nothing left to do."""
    told = _planned(memory, user)
    outcomes = memory.tend(user=user.scope.user)
    done = {one.job: one.done for one in outcomes if one.done and one.job not in LEARNING}
    assert done == Counter(step.chore for step in told)
    assert left(memory, user) == []
    outcomes += memory.tend()
    assert [outcome.problem for outcome in outcomes if outcome.problem] == []
    return [(step.action, step.id, step.why) for step in told]


def left(memory: Memory, user: ScopedMemory) -> list[str]:
    """What the chores would still do for the user, were they due again; to warn puts nothing right."""
    work = memory._workspace(user.scope)
    marks = work.store.marks()
    chores = [chore for chore in CHORES if chore.name not in LEARNING]
    steps = [step for chore in chores for step in chore.plan(work, marks.get(chore.name, Mark()))]
    return [step.action for step in steps if isinstance(step, Step) and step.action != "quota_warning"]


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
