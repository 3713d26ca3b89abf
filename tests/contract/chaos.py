"""What the tests of killed workers share: how the memory is opened, a chore that leaves a trace, and what has
to be so in the end. Chores that are added to the background take part by themselves."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from time import sleep
from typing import Any

from sqlalchemy import func, select

from recollect import Memory
from recollect.model.changes import Expect, Put
from recollect.model.records import MEMORY_TYPES, AuditEntry, Conversation, Fact, Turn
from recollect.ports.tending import Mark
from recollect.stores.sql import schema
from recollect.tend import work
from recollect.tend.steps import Chore, Step
from recollect.testing.store_counting import counted
from recollect.workspace import Workspace
from tests.contract.mining import assert_whole

PAUSE = 0.05
OFTEN = 0.01
"""Minutes between two runs of a chore."""
HURRIED: dict[str, Any] = {
    "lease_seconds": 2.0,
    "mine_quiet_seconds": 0.0,
    "mine_retry_seconds": 0.05,
    "chore_retry_seconds": 0.05,
    "idle_minutes": OFTEN,
    **{f"{name}_minutes": OFTEN for name in ("consolidate", "patterns", "promote")},
    **{f"{name}_minutes": OFTEN for name in ("decay", "expire", "cleanup")},
    "db_pool": 2,
    "db_timeout": 60.0,
}


def _stamping(workspace: Workspace, mark: Mark) -> Iterator[Step]:
    """Every fact is stamped once."""
    for found in workspace.store.find(Fact):
        if "stamp" not in found.metadata:
            stamped = replace(found, metadata={**found.metadata, "stamp": 1})
            changes = Expect("fact", found.id, found), Put(stamped)
            yield Step(action="stamp", record=found, why="it has no stamp", changes=changes)


STAMP = Chore("stamp", _stamping, lambda settings: timedelta(minutes=OFTEN), on_change=True)


def opened(address: object, **given: Any) -> Memory:
    return Memory.open(str(address), embedder="hashing", **{**HURRIED, **given})


def worker(address: str) -> None:
    """Does the background's work until it is killed."""
    work.CHORES = (*work.CHORES, STAMP)
    with opened(address) as memory:
        while True:
            memory.tend()
            sleep(PAUSE)


def assert_sound(memory: Memory, user: str, said: list[str]) -> None:
    """What was recorded is there once, was mined once, and every step was taken once."""
    store = memory.store.user(user)
    assert sorted(turn.content for turn in store.find(Turn)) == sorted(said)
    talks = list(store.find(Conversation))
    assert [(t.id, t.mining_problem) for t in talks if t.mined_to < t.next_index] == []
    audit = list(store.find(AuditEntry))
    mined = Counter[str | None]()
    for entry in audit:
        if entry.operation == "mine":
            mined[entry.conversation] += entry.details["turns"]
    assert mined == {talk.id: talk.next_index for talk in talks}
    assert_whole(memory, user)
    told = [
        (e.operation, e.subject, e.conversation, json.dumps(e.details, sort_keys=True))
        for e in audit
        if e.details and e.operation != "mine"
    ]
    assert [step for step, count in Counter(told).items() if count > 1] == []
    stamped = [entry.subject for entry in audit if entry.operation == "stamp"]
    assert {f"fact {found.id}" for found in store.find(Fact)} <= set(stamped)
    assert len(stamped) == len(set(stamped))
    assert store.sizes() == counted(store)
    ids = [m.id for kind in MEMORY_TYPES for m in store.find(kind)]
    assert all(usage.since_renewal <= usage.count for usage in store.usage(ids).values())


def assert_nothing_is_left(memory: Memory) -> None:
    """Nothing waits, nothing is held."""
    assert list(memory.tending()) == []
    stats = memory.store.stats()
    assert {name: found["conversations"] for name, found in stats["waiting"].items()} == {
        "mine": 0,
        "conclude": 0,
    }
    assert stats["parked"] == {"chunks": 0, "mining": {}, "chores": {}}
    waiting = ("chunks_waiting_for_a_vector", "spaces_to_drop")
    assert [stats["rows"][name] for name in waiting] == [0, 0]
    assert [job.problem for job in memory.store.jobs() if job.problem] == []
    with memory.store._backend.read() as connection:  # type: ignore[attr-defined]
        held = select(func.count()).select_from(schema.visits).where(schema.visits.c.holder.is_not(None))
        assert connection.execute(held).scalar_one() == 0
        assert connection.execute(select(func.count()).select_from(schema.leases)).scalar_one() == 0
    assert memory.store.check() == []
