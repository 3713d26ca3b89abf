"""What is learnt has to come out the same on every engine, sealed or not."""

from datetime import timedelta

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.changes import Revise
from recollect.model.scope import Scope
from recollect.ports.tending import Mark
from recollect.tend.consolidate import plan_consolidation
from recollect.tend.patterns import plan_patterns
from recollect.testing.store_samples import START, ManualClock
from tests.unit.learning import DEPLOY, carried_out, episodes, procedures, summaries, talk, task
from tests.unit.mining import in_force


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    return request.node.originalname


def test_from_conversations_to_a_procedure_and_back(
    memory: Memory, derek: ScopedMemory, user: str, clock: ManualClock
) -> None:
    task(memory, "one", user=user)
    task(memory, "two", user=user, last="It still fails.")
    clock.advance(minutes=61)
    memory.tend()
    assert [(e.tools, e.success) for e in episodes(derek)] == [(DEPLOY, True), (DEPLOY, False)]
    assert len(summaries(derek)) == 2
    (learnt,) = procedures(derek)
    assert (learnt.successes, learnt.failures) == (1, 1)
    task(memory, "three", user=user)
    clock.advance(minutes=61)
    memory.tend()
    assert [(p.successes, p.failures) for p in procedures(derek)] == [(2, 1)]
    derek.forget(conversation="two")
    derek.forget(conversation="one")
    (left,) = procedures(derek)
    assert (left.id, left.successes, left.failures) == (learnt.id, 1, 0)
    derek.forget(conversation="three")
    assert (procedures(derek), episodes(derek), summaries(derek)) == ([], [], [])


def test_ended_and_opened_again(memory: Memory, derek: ScopedMemory, user: str, clock: ManualClock) -> None:
    inside = task(memory, "c", user=user, last=None, outcome="It runs", success=True)
    store = memory.store.user(user)
    before = START - timedelta(days=1)
    assert [c.id for c in store.unconcluded(before)] == ["c"]
    assert user in memory.store.users_due(START, before)
    memory.tend()
    assert (store.unconcluded(before), [e.outcome for e in episodes(derek)]) == ([], ["It runs"])
    inside.record("user", "Hm.")
    assert talk(memory, "c", user).ended_at is None
    assert store.unconcluded(before) == []
    assert [c.id for c in store.unconcluded(clock.now())] == ["c"]
    inside.record("user", "Early.", index=20)
    store.apply([Revise("conversation", "c", {"concluded_to": 21})])
    inside.record("user", "Earlier.", index=10)
    assert talk(memory, "c", user).concluded_to == 10


def test_the_rank_follows_how_it_went(derek: ScopedMemory, memory: Memory) -> None:
    given = {"kind": "procedure", "context": "deploy the shop"}
    bad = derek.remember("To deploy the shop, use rsync.", successes=0, failures=5, **given)
    good = derek.remember("To deploy the shop, use docker.", successes=9, failures=1, **given)
    assert [p.id for p in derek.procedures("deploy the shop")] == [good.id, bad.id]
    for id in (good.id, bad.id):
        memory.store.user(derek.scope.user).apply([Revise("procedure", id, {"salience": 0.3})])
    assert [p.id for p in derek.procedures("deploy the shop")] == [good.id, bad.id]


def test_duplicates_become_one_with_what_was_counted(memory: Memory, derek: ScopedMemory, user: str) -> None:
    one, two = derek.remember("Derek likes green tea"), derek.remember("derek likes green tea.")
    store = memory.store.user(user)
    store.touch({one.id: ("fact", 2, START), two.id: ("fact", 3, START)})
    work = memory._workspace(Scope(user))
    for done in (1, 0):
        tally = carried_out(work, plan_consolidation(work, Mark()))
        assert (tally.done, tally.problem) == (done, None)
    (kept,) = in_force(derek)
    assert (kept.id, len(kept.sources)) == (one.id, 2)
    assert {id: u.count for id, u in store.usage([one.id, two.id]).items()} == {one.id: 5}


def test_planned_twice_it_is_counted_once(memory: Memory, derek: ScopedMemory, user: str) -> None:
    saved = {"kind": "episode", "goal": "deploy the shop", "tools": ["ci", "ship"], "success": True}
    for n in range(3):
        derek.remember(f"Deployed the shop {n}.", **saved)
    work = memory._workspace(Scope(user))
    plans = [list(plan_patterns(work, Mark())) for _ in range(2)]
    done = [carried_out(work, plan).done for plan in plans]
    assert (done, [p.successes for p in procedures(derek)]) == ([3, 0], [3])


def test_goals_around_goals(derek: ScopedMemory) -> None:
    trip = derek.add_goal("Trip")
    visa = derek.add_goal("Visa", parent=trip.id)
    flight = derek.add_goal("Flight", parent=trip.id, blocked_by=[visa.id])
    assert [g.id for g in derek.goal(visa.id).blocks] == [flight.id]
    derek.complete_goal(visa.id)
    assert derek.goal(flight.id).goal.status == "active"
    derek.forget(trip.id)
    assert derek.goal(flight.id).parent is None
    assert [s.tool for s in derek.tools()] == []
