"""What has run out goes; what is asked for again and again stays as long again."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from recollect.model.changes import Expect, Renew, Revise
from recollect.model.records import MemoryRecord
from recollect.model.retention import LONGEST_DAYS, Retention
from recollect.model.search import AtMost
from recollect.ports.store import Usage
from recollect.ports.tending import Mark
from recollect.record.retention import TTL
from recollect.tend.idle import used_together, with_older
from recollect.tend.steps import Step
from recollect.workspace import Workspace


def plan_expiry(work: Workspace, mark: Mark) -> Iterator[Step]:
    """Those that have run out, and, to be renewed, those that will before anybody looks again."""
    now = work.clock.now()
    soon = now + timedelta(minutes=work.settings.expire_minutes)
    where = {"expires_at": AtMost(soon), "pinned": False}
    going: set[str] = set()
    for some, usage in used_together(work.store, work.store.find(MemoryRecord, where)):
        for memory in some:
            policy, used = work.retention(memory.channel), usage.get(memory.id)
            if (end := extended(memory, used, policy, now)) is not None:
                yield _renewal(memory, end, used, policy)
            elif memory.expires_at is not None and memory.expires_at <= now:
                steps = [s for s in _gone(work, memory, used, policy) if s.record.id not in going]
                going.update(step.record.id for step in steps)
                yield from steps


def extended(memory: MemoryRecord, used: Usage | None, policy: Retention, now: datetime) -> datetime | None:
    """Until when a memory lives because it is popular: for as long as one that is made now, or, where those
    do not expire, as it was given itself. None for others, and for those whose end somebody has set."""
    popular = used is not None and used.since_renewal >= policy.popular
    if not popular or memory.expires_at is None or TTL not in memory.metadata:
        return None
    given = memory.metadata[TTL]
    own = isinstance(given, int | float) and 0 < given <= LONGEST_DAYS
    days = given if own and not policy.expire else policy.ttl_days
    return max(now, memory.expires_at) + timedelta(days=days)


def _renewal(memory: MemoryRecord, end: datetime, used: Usage | None, policy: Retention) -> Step:
    times = used.since_renewal if used else 0
    return Step(
        action="renew",
        record=memory,
        why=f"returned {times} times since it was new or renewed, {policy.popular} are enough: "
        f"kept until {end:%Y-%m-%d}",
        changes=(
            Expect(memory.kind, memory.id, memory),
            Revise(memory.kind, memory.id, {"expires_at": end}),
            Renew((memory.id,)),
        ),
        details={"returned": times, "popular": policy.popular, "ttl_days": policy.ttl_days},
    )


def _gone(work: Workspace, memory: MemoryRecord, used: Usage | None, policy: Retention) -> Iterator[Step]:
    """What it replaced goes before it, or would hold again; what is pinned of that keeps both."""
    chain = with_older(work.store, memory)
    if any(older.pinned for older in chain):
        return
    times = used.since_renewal if used else 0
    for older in chain:
        why = f"expired on {memory.expires_at:%Y-%m-%d}, returned {times} times, {policy.popular} would do"
        if older is not memory:
            why = f"was replaced by one that expired on {memory.expires_at:%Y-%m-%d}"
        details = {"returned": times, "popular": policy.popular, "ttl_days": policy.ttl_days}
        yield Step(action="expire", record=older, why=why, details=details)
