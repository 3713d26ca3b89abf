"""Questions about a time, from the words to the hits, by an injected clock (C2)."""

from datetime import timedelta

import pytest

from recollect import ScopedMemory
from recollect.testing.store_samples import START, ManualClock
from tests.unit.support import OpenMemory, contents

KAYAK = "The kayak is blue and made of wood"
NEW = "The kayak is red now"


@pytest.fixture
def told(derek: ScopedMemory, clock: ManualClock) -> ScopedMemory:
    """Asked on a Wednesday; START is a Sunday."""
    derek.record("user", KAYAK, conversation="a", at=START - timedelta(days=20))
    derek.record("user", NEW, conversation="b", at=START - timedelta(days=4))
    derek.record("user", "Lunch was good", conversation="c", at=START + timedelta(days=2))
    clock.advance(days=3)
    return derek


def note(derek: ScopedMemory, query: str) -> str:
    (step,) = [step for step in derek.recall(query).used if step.name == "gather"]
    return step.note


def test_what_was_said_then_is_a_filter(told: ScopedMemory) -> None:
    assert contents(told.recall("What did I say last week about the kayak?")) == [NEW]
    assert "only what was said last week" in note(told, "What did I say last week about the kayak?")
    assert set(contents(told.recall("What did I say about the kayak?"))) == {KAYAK, NEW}


def test_a_time_in_which_nothing_was_said_is_left_aside(told: ScopedMemory) -> None:
    query = "What did I tell you in January about the kayak?"
    assert set(contents(told.recall(query))) == {KAYAK, NEW}
    assert "which matched nothing: searched without the time" in note(told, query)


def test_what_was_said_today(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.record("user", "The kayak is green", at=START - timedelta(days=1))
    derek.record("user", NEW)
    clock.advance(hours=2)
    assert contents(derek.recall("What did I say today about the kayak?")) == [NEW]


def test_what_happened_then_is_preferred_and_the_rest_still_found(told: ScopedMemory) -> None:
    found = told.recall("What colour was my kayak last week?")
    assert contents(found) == [NEW, KAYAK]
    new, old = found.hits
    assert (new.signals["in_time"], old.signals["in_time"]) == (1.0, 0.0)
    assert "times" in new.paths
    assert (
        new.score
        > told.recall("What colour was my kayak last week?", techniques={"times": False}).hits[0].score
    )


def test_times_that_the_caller_gave_come_first(told: ScopedMemory) -> None:
    span = (START - timedelta(days=21), START - timedelta(days=19))
    found = told.recall("What did I say last week about the kayak?", since=span[0], until=span[1])
    assert contents(found) == [KAYAK]


def test_switched_off_a_time_is_words_like_others(told: ScopedMemory) -> None:
    found = told.recall("What did I say last week about the kayak?", techniques={"times": False})
    assert set(contents(found)) >= {KAYAK, NEW}


@pytest.mark.parametrize("embedder", ["hashing", "none"])
def test_since_an_event_is_looked_up(open_memory: OpenMemory, clock: ManualClock, embedder: str) -> None:
    derek = open_memory(embedder=embedder).scope("derek")
    derek.record("user", "My rent is 700", conversation="a", at=START - timedelta(days=90))
    derek.record("user", "I moved to Berlin", conversation="b", at=START - timedelta(days=30))
    derek.record("user", "My rent is 900", conversation="c", at=START - timedelta(days=9))
    found = derek.recall("How high is my rent since I moved to Berlin?")
    after, before = (next(h for h in found.hits if h.content == f"My rent is {n}") for n in (900, 700))
    assert after.score > before.score
    assert (after.signals["in_time"], before.signals["in_time"]) == (1.0, 0.0)
    without = derek.recall("How high is my rent since I moved to Berlin?", techniques={"anchor": False})
    assert {hit.signals["in_time"] for hit in without.hits} == {0.0}


def test_an_event_that_nobody_told_of_gives_no_time(told: ScopedMemory) -> None:
    found = told.recall("Which kayak do I have since the xyzzy quux?", threshold=2)
    assert {hit.signals["in_time"] for hit in found.hits} == {0.0}


@pytest.mark.parametrize(
    "query",
    ["kayak 2024 years ago", "kayak 2030 years ago", "kayak 99999999 days ago", "kayak on 9999-12-31"],
)
def test_times_beyond_the_calendar_are_no_error(told: ScopedMemory, query: str) -> None:
    assert set(contents(told.recall(query))) == {KAYAK, NEW}


@pytest.mark.parametrize(
    "query",
    [
        "What did I say last week?",
        "what did we talk about last week",
        "Can you tell me everything we discussed last week?",
        "What happened last week?",
    ],
)
def test_a_question_for_a_time_alone_gets_what_is_of_it(told: ScopedMemory, query: str) -> None:
    assert contents(told.recall(query, threshold=0.9))[:1] == [NEW]


def test_a_time_alone_does_not_lower_the_threshold_elsewhere(told: ScopedMemory) -> None:
    assert contents(told.recall("What did I say last week?", threshold=0.9)) == [NEW]
    assert told.recall("What did I say in 2019?", threshold=0.9).hits == ()
