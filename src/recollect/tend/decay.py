"""What nobody speaks of counts for less with time, and so does what was merely inferred."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from recollect.model.changes import Expect, Put
from recollect.model.records import Entity, Fact
from recollect.model.retention import Retention, faded
from recollect.model.search import AtMost
from recollect.ports.store import Usage
from recollect.ports.tending import Mark
from recollect.record.turns import said_at
from recollect.tend.idle import Met, entity_idle, glanced, idle_days, used_together
from recollect.tend.steps import Step
from recollect.workspace import Workspace

LEAST = 0.05
"""What moves by less is not written: it would be noticed by nobody and cost a row each, every day."""

FIGURES = ("decay_rate", "decay_idle_hours", "inferred_decay_days", "access_boost", "recency_boost")
"""What of the policy it is decided by."""


def plan_decay(work: Workspace, mark: Mark) -> Iterator[Step]:
    yield from _entities(work)
    yield from _inferred(work)


def entity_salience(entity: Entity | Met, used: Usage | None, policy: Retention, now: datetime) -> float:
    """How much an entity matters by now."""
    initial = entity.salience if entity.initial is None else entity.initial
    return faded(initial, entity_idle(entity, used, now), policy, used.count if used else 0)


def fact_confidence(
    fact: Fact, said: datetime, used: Usage | None, policy: Retention, now: datetime
) -> float:
    """How sure an inferred fact is by now; `said` is when it was last said."""
    initial = fact.confidence if fact.initial is None else fact.initial
    idle = idle_days(now, said, fact.recorded_at, used and used.last_at)
    return faded(initial, idle, policy, used.count if used else 0, policy.inferred_decay_days)


def _entities(work: Workspace) -> Iterator[Step]:
    now = work.clock.now()

    def by_now(entity: Entity | Met, used: Usage | None) -> float:
        return entity_salience(entity, used, work.retention(entity.channel), now)

    for some, usage in used_together(work.store, glanced(work.store, Entity, Met, {})):
        moved = [e.id for e in some if abs(by_now(e, usage.get(e.id)) - e.salience) >= LEAST]
        for entity in work.store.get(Entity, moved):
            used, policy = usage.get(entity.id), work.retention(entity.channel)
            value, idle = by_now(entity, used), entity_idle(entity, used, now)
            yield _moved(entity, "salience", value, idle, used, policy)


def _inferred(work: Workspace) -> Iterator[Step]:
    """Facts in force that were inferred; what somebody said or saved outright is as sure as ever."""
    now, most = work.clock.now(), work.settings.inferred_confidence
    where = {"confidence": AtMost(most), "superseded_by": None, "pinned": False}
    for some, usage in used_together(work.store, work.store.find(Fact, where)):
        facts = [f for f in some if f.origin != "explicit" and (f.initial is None or f.initial <= most)]
        said = _said(work, facts)
        for fact in facts:
            used, last = usage.get(fact.id), said.get(fact.id, fact.recorded_at)
            policy = work.retention(fact.channel)
            value = fact_confidence(fact, last, used, policy, now)
            if abs(value - fact.confidence) >= LEAST:
                idle = idle_days(now, last, fact.recorded_at, used and used.last_at)
                yield _moved(fact, "confidence", value, idle, used, policy)


def _said(work: Workspace, facts: list[Fact]) -> dict[str, datetime]:
    """When each fact was last said."""
    cited = list({source for fact in facts for source in fact.sources})
    at = said_at(work.store, cited)
    return {f.id: max(at[s] for s in f.sources if s in at) for f in facts if at.keys() & {*f.sources}}


def _moved(
    record: Entity | Fact, field: str, value: float, idle: float, used: Usage | None, policy: Retention
) -> Step:
    known: float = getattr(record, field)
    first = known if record.initial is None else record.initial
    times = used.count if used else 0
    changed = replace(record, initial=first, **{field: value})
    return Step(
        action="decay",
        record=record,
        why=f"idle for {idle:.1f} days, returned {times} times: {field} {known:.2f} -> {value:.2f}",
        changes=(Expect(record.kind, record.id, record), Put(changed)),
        together=True,
        details={name: getattr(policy, name) for name in FIGURES},
    )
