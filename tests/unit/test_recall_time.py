"""What was true, what was known, and what no longer is (C6)."""

from datetime import timedelta

import pytest

from recollect import Fact, Memory, ScopedMemory
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import OpenMemory, contents


def day(number: float) -> timedelta:
    return timedelta(days=number)


@pytest.fixture
def moved(derek: ScopedMemory, clock: ManualClock) -> ScopedMemory:
    """Day 0: lives in Lisbon. Day 10: it turns out that it has been Porto since day 5."""
    old = derek.remember("Lives in Lisbon")
    clock.advance(days=10)
    derek.correct(old.id, "Lives in Porto", since=START + day(5))
    clock.advance(days=10)
    return derek


def test_now_only_what_holds_is_found(moved: ScopedMemory) -> None:
    assert contents(moved.recall("lives")) == ["Lives in Porto"]


@pytest.mark.parametrize(
    ("at", "expected"), [(0, "Lisbon"), (4, "Lisbon"), (5, "Porto"), (7, "Porto"), (19, "Porto")]
)
def test_as_of_asks_what_was_true(moved: ScopedMemory, at: int, expected: str) -> None:
    assert contents(moved.recall("lives", as_of=START + day(at))) == [f"Lives in {expected}"]


@pytest.mark.parametrize(
    ("at", "expected"), [(0, "Lisbon"), (7, "Lisbon"), (9.9, "Lisbon"), (10, "Porto"), (20, "Porto")]
)
def test_known_at_asks_what_was_known(moved: ScopedMemory, at: float, expected: str) -> None:
    assert contents(moved.recall("lives", known_at=START + day(at))) == [f"Lives in {expected}"]


def test_as_of_and_known_at_together(moved: ScopedMemory) -> None:
    found = moved.recall("lives", as_of=START + day(7), known_at=START + day(8))
    assert contents(found) == ["Lives in Lisbon"]  # on day 8 nobody knew better about day 7
    found = moved.recall("lives", as_of=START + day(4), known_at=START + day(15))
    assert contents(found) == ["Lives in Lisbon"]


def test_before_anything_nothing_was_true_or_known(moved: ScopedMemory) -> None:
    assert moved.recall("lives", as_of=START - day(1)).hits == ()
    assert moved.recall("lives", known_at=START - day(1)).hits == ()


def test_a_memory_may_have_been_true_before_it_was_recorded(derek: ScopedMemory) -> None:
    derek.remember("Married to Ann", valid_from=START - day(1000), valid_to=START - day(500))
    assert derek.recall("married").hits == ()
    (hit,) = derek.recall("married", as_of=START - day(700)).hits
    assert hit.valid_to == START - day(500)
    assert derek.recall("married", as_of=START - day(400)).hits == ()
    assert derek.recall("married", as_of=START - day(700), known_at=START - day(1)).hits == ()


def test_turns_are_asked_about_by_the_same_times(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.record("user", "tea today")
    clock.advance(days=2)
    derek.record("user", "tea later")
    assert contents(derek.recall("tea", as_of=START + day(1))) == ["tea today"]
    assert contents(derek.recall("tea", known_at=START + day(1))) == ["tea today"]


def test_an_expired_memory_is_not_found_at_any_time(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.remember("The code is 4711", expires_at=START + day(1))
    assert derek.recall("code").hits
    clock.advance(days=1)
    assert derek.recall("code").hits == ()
    assert derek.recall("code", as_of=START).hits == ()
    assert derek.recall("code", known_at=START).hits == ()


def test_a_chain_of_corrections_leaves_one_answer_at_any_time(
    derek: ScopedMemory, clock: ManualClock
) -> None:
    memory = derek.remember("Version zero")
    for number in ("one", "two", "three"):
        clock.advance(days=1)
        memory = derek.correct(memory.id, f"Version {number}")
    assert contents(derek.recall("version")) == ["Version three"]
    for at, number in enumerate(("zero", "one", "two", "three")):
        then = START + day(at)
        assert contents(derek.recall("version", as_of=then)) == [f"Version {number}"]
        assert contents(derek.recall("version", known_at=then)) == [f"Version {number}"]


def test_a_clock_that_goes_back_loses_nothing(
    derek: ScopedMemory, memory: Memory, clock: ManualClock, open_memory: OpenMemory
) -> None:
    old = derek.remember("Lives in Lisbon")
    first = derek.record("user", "lives well", conversation="c")
    new = derek.correct(old.id, "Lives in Porto")
    clock.advance(days=-400)
    second = derek.record("user", "lives on", conversation="c")
    assert second.id > first.id > old.id
    expected = {"Lives in Porto", "lives well", "lives on"}
    assert set(contents(derek.recall("lives"))) == expected
    assert set(contents(open_memory().scope("derek").recall("lives"))) == expected
    newer = derek.correct(new.id, "Lives in Faro")
    assert set(contents(derek.recall("lives"))) == {"Lives in Faro", "lives well", "lives on"}
    assert [turn.id for turn in derek.conversation("c")] == [first.id, second.id]
    clock.advance(days=800)
    assert set(contents(derek.recall("lives"))) == {"Lives in Faro", "lives well", "lives on"}
    kept = derek.get(new.id)
    assert isinstance(kept, Fact)
    assert kept.superseded_by == newer.id


def test_a_memory_that_had_ended_stays_ended_when_it_is_corrected(
    derek: ScopedMemory, clock: ManualClock
) -> None:
    old = derek.remember("Rents in Lisbon", valid_to=START + day(30))
    clock.advance(days=150)
    new = derek.correct(old.id, "Rents in Porto")
    assert contents(derek.recall("rents", as_of=START + day(10))) == ["Rents in Lisbon"]
    assert derek.recall("rents", as_of=START + day(90)).hits == ()
    assert derek.recall("rents", known_at=START + day(60)).hits == ()
    assert contents(derek.recall("rents", known_at=START + day(29))) == ["Rents in Lisbon"]
    derek.forget(new.id)
    assert derek.get(old.id) == old
    assert derek.recall("rents").hits == ()


def test_before_its_correction_a_memory_was_believed_until_its_own_end(
    derek: ScopedMemory, clock: ManualClock
) -> None:
    old = derek.remember("Rents in Lisbon", valid_to=START + day(30))
    clock.advance(days=10)
    new = derek.correct(old.id, "Rents in Porto")
    derek.correct(new.id, "Rents in Faro")
    kept = derek.get(old.id)
    assert isinstance(kept, Fact)
    assert (kept.valid_to, kept.stated_to) == (START + day(10), START + day(30))
    then = START + day(20)
    assert contents(derek.recall("rents", as_of=then, known_at=START + day(5))) == ["Rents in Lisbon"]
    assert contents(derek.recall("rents", as_of=then)) == ["Rents in Faro"]
    assert derek.recall("rents", as_of=START + day(40), known_at=START + day(5)).hits == ()
    derek.forget(new.id)  # the next correction takes its place
    kept = derek.get(old.id)
    assert isinstance(kept, Fact)
    assert (kept.valid_to, kept.stated_to) == (START + day(10), START + day(30))


def test_a_correction_for_later_is_not_in_force_yet(
    derek: ScopedMemory, clock: ManualClock, open_memory: OpenMemory
) -> None:
    old = derek.remember("Works at Acme")
    new = derek.correct(old.id, "Works at Initech", since=START + day(10))
    for scoped in (derek, open_memory().scope("derek")):
        assert contents(scoped.recall("works")) == ["Works at Acme"]
        assert contents(scoped.recall("works", as_of=START + day(11))) == ["Works at Initech"]
    clock.advance(days=-400)
    assert contents(derek.recall("works")) == ["Works at Acme"]
    clock.advance(days=410)
    assert contents(derek.recall("works")) == ["Works at Initech"]
    derek.forget(new.id)
    assert contents(derek.recall("works")) == ["Works at Acme"]


def test_a_plan_and_a_correction_without_its_predecessor_are_found(derek: ScopedMemory) -> None:
    derek.remember("Flies to Rome", valid_from=START + day(10))
    old = derek.remember("Flies to Oslo")
    derek.correct(old.id, "Flies to Bern", since=START + day(10))
    assert set(contents(derek.recall("flies"))) == {"Flies to Rome", "Flies to Oslo"}
    derek.forget(old.id)
    assert set(contents(derek.recall("flies"))) == {"Flies to Rome", "Flies to Bern"}
