"""Of several turns about the same matter the newest comes first; what is among the hits stays the same."""

from datetime import timedelta

import pytest

from recollect import ScopedMemory
from recollect.testing.store_samples import ManualClock
from tests.unit.support import contents

OLD, NEW = "I own three bikes for the road and the town", "By now I own four bikes, one for gravel"


@pytest.fixture
def cyclist(derek: ScopedMemory, clock: ManualClock) -> ScopedMemory:
    derek.record("user", OLD, conversation="march")
    clock.advance(days=60)
    derek.record("user", NEW, conversation="may")
    clock.advance(days=1)
    return derek


def order(user: ScopedMemory, query: str, **asking: object) -> list[str]:
    return contents(user.recall(query, kinds=["turn"], threshold=-1, **asking))  # type: ignore[arg-type]


def test_the_newest_of_two_comes_first(cyclist: ScopedMemory) -> None:
    assert order(cyclist, "How many bikes do I own?") == [NEW, OLD]
    found = cyclist.recall("How many bikes do I own?", kinds=["turn"], threshold=-1).hits
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@pytest.mark.parametrize(
    "query", ["How many bikes for the road and the town did I own at first?", "When did I own three bikes?"]
)
def test_a_question_about_the_past_is_left_alone(cyclist: ScopedMemory, query: str) -> None:
    on = order(cyclist, query)
    assert on == order(cyclist, query, techniques={"updates": False})


def test_a_question_as_of_a_time_is_left_alone(cyclist: ScopedMemory, clock: ManualClock) -> None:
    query = "How many bikes for the road do I own?"
    then = clock.now() - timedelta(minutes=1)
    assert order(cyclist, query, as_of=then) == order(
        cyclist, query, as_of=then, techniques={"updates": False}
    )


def test_what_an_assistant_says_and_what_is_said_in_one_conversation_is_no_update(
    derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.record("user", OLD, conversation="march")
    clock.advance(days=2)
    derek.record("assistant", NEW, conversation="may")
    derek.record("user", NEW, conversation="march")
    assert order(derek, "How many bikes do I own?") == order(
        derek, "How many bikes do I own?", techniques={"updates": False}
    )


def test_the_same_hits_in_another_order(cyclist: ScopedMemory) -> None:
    query = "How many bikes for the road and the town do I own?"
    assert sorted(order(cyclist, query)) == sorted(order(cyclist, query, techniques={"updates": False}))
