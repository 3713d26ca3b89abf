"""What several do at once to the same record: nothing of it is lost, and one correction wins."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Conflict, Invalid, ScopedMemory
from recollect.model.changes import Expect, Put, Remove
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import contents
from tests.unit.test_erase_bytes import left_in


def test_of_several_corrections_one_is_in_force(derek: ScopedMemory) -> None:
    old = derek.remember("Lives in Lyon")

    def correct(city: str) -> str:
        try:
            return derek.correct(old.id, f"Lives in {city}").id
        except Invalid:
            return ""

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(correct, ("Porto", "Paris", "Rome", "Oslo", "Bern", "Riga", "Kyiv", "Lima")))
    (winner,) = filter(None, done)
    assert [hit.id for hit in derek.recall("lives", kinds=["fact"]).hits] == [winner]


def test_no_update_of_a_profile_is_lost(derek: ScopedMemory) -> None:
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda i: derek.update_profile(preferences={f"p{i}": i}), range(12)))
        list(threads.map(lambda i: derek.update_settings(custom={f"s{i}": i}), range(12)))
    assert len(derek.profile().preferences) == 12
    assert len(derek.settings().values["custom"]) == 12


def test_no_difference_of_a_policy_is_lost(derek: ScopedMemory) -> None:
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda i: derek.set_retention(channel=f"c{i}", popular=i + 1), range(12)))
    assert len(derek.settings().values["retention"]) == 12


def test_blockers_done_at_once_free_the_goal(derek: ScopedMemory) -> None:
    blockers = [derek.add_goal(f"step {i}").id for i in range(4)]
    last = derek.add_goal("arrive", blocked_by=blockers)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(derek.complete_goal, blockers))
    assert [goal.id for goal in derek.goals()] == [last.id]


def test_expecting_something_else_stops_the_whole_change(derek: ScopedMemory) -> None:
    goal = derek.add_goal("learn to surf")
    store = derek._work.store
    with pytest.raises(Conflict, match="read it again"):
        store.apply([Remove("goal", (goal.id,)), Expect("goal", goal.id, goal)])
    with pytest.raises(Conflict):
        store.apply([Expect("goal", goal.id, None), Put(goal)])
    assert derek.get(goal.id) == goal


def test_a_pinned_memory_does_not_expire(derek: ScopedMemory, clock: ManualClock) -> None:
    fact = derek.remember("The code of the door is 4711", expires_at=START + timedelta(days=1))
    derek.pin(fact.id)
    clock.advance(days=2)
    assert contents(derek.recall("code of the door")) == [fact.content]
    derek.pin(fact.id, pinned=False)
    assert contents(derek.recall("code of the door")) == []


def test_the_name_of_a_forgotten_conversation_is_gone(derek: ScopedMemory, path: Path) -> None:
    derek.record("user", "hello", conversation="divorce-from-quorblatt")
    derek.forget(conversation="divorce-from-quorblatt")
    assert left_in(path, "divorce-from-quorblatt") == []


def test_of_a_long_turn_the_part_that_was_found_is_shown(derek: ScopedMemory) -> None:
    long = " ".join(["Nothing of interest happened."] * 900) + " The safe opens with 80-14-92."
    derek.record("user", long)
    found = derek.recall("What opens the safe?", context_tokens=500)
    assert found.hits[0].content == long
    assert "80-14-92" in found.hits[0].excerpt
    assert "The safe opens with 80-14-92." in found.context


def test_a_note_is_not_said(derek: ScopedMemory) -> None:
    derek.remember("Likes tea")
    assert [event.what for event in derek.timeline()] == ["learnt"]
