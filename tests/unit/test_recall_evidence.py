"""What mining knows of the hits: said once, and what no longer holds with its end."""

import pytest

from recollect import Memory, ScopedMemory
from recollect.testing.store_samples import ManualClock
from tests.unit.mining import say
from tests.unit.support import contents


def test_a_fact_and_the_turn_that_says_it_are_one(derek: ScopedMemory) -> None:
    say(derek, "I love green tea.")
    derek.mine()
    assert len(derek.recall("Do I love green tea?").hits) == 1
    explained = derek.recall("Do I love green tea?", explain=True)
    assert any("says it" in out.reason for out in explained.left_out)


def test_a_turn_that_says_more_is_told_beside_its_fact(derek: ScopedMemory) -> None:
    long = "I love green tea. " + " ".join(
        f"Then we went up hill number {n} and looked around." for n in range(9)
    )
    say(derek, long)
    derek.mine()
    found = contents(derek.recall("What do I love, green tea?", top_k=10))
    assert long in found


@pytest.fixture
def moved(derek: ScopedMemory, clock: ManualClock) -> ScopedMemory:
    say(derek, "I live in Lyon. My sister Anna lives in Berlin.")
    derek.mine()
    clock.advance(days=30)
    say(derek, "I live in Porto.", conversation="b")
    derek.mine()
    clock.advance(days=1)
    return derek


def test_what_no_longer_holds_is_told_with_its_end_and_later(moved: ScopedMemory) -> None:
    first, *others = moved.recall("Where do I live?").hits
    assert "Porto" in first.content
    assert first.valid_to is None
    (lyon,) = [hit for hit in others if "Lyon" in hit.content]
    assert lyon.valid_to is not None
    assert "until 2" in moved.recall("Where do I live?").context


def test_what_else_a_turn_says_still_holds(moved: ScopedMemory) -> None:
    (said,) = [
        h
        for h in moved.recall("Where does my sister Anna live?").hits
        if h.kind == "turn" and "Anna" in h.content
    ]
    assert said.valid_to is None


def test_what_holds_now_is_told_though_nothing_found_it(memory: Memory, clock: ManualClock) -> None:
    derek = memory.scope("derek")
    say(derek, "My favourite colour is green.")
    derek.mine()
    clock.advance(days=1)
    say(derek, "My favourite colour is blue.", conversation="b")
    derek.mine()
    found = derek.recall("my favourite colour is green", top_k=3)
    assert any("blue" in hit.content for hit in found.hits)
    assert all(hit.valid_to for hit in found.hits if "green" in hit.content)


def test_a_question_about_oneself_is_answered_by_what_is_said_of_oneself(derek: ScopedMemory) -> None:
    say(derek, "My friend Carla works at Amazon.")
    say(derek, "I work at Stripe as a designer of forms.", conversation="b")
    derek.mine()
    assert "Stripe" in derek.recall("Where do I work?").hits[0].content
    assert "Amazon" in derek.recall("Where does Carla work?").hits[0].content


def test_as_of_a_time_nothing_has_ended_since(moved: ScopedMemory, clock: ManualClock) -> None:
    clock.advance(days=-20)
    then = clock.now()
    clock.advance(days=20)
    found = moved.recall("Where do I live?", as_of=then)
    assert all(hit.valid_to is None for hit in found.hits if hit.kind == "turn")
