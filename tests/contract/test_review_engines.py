"""Memories that contradict each other wait for somebody to say which one holds, on every engine."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from recollect import Fact, Invalid, Memory, NotFound, ScopedMemory
from recollect.mine.resolve import REVIEW
from recollect.model.records import MemoryRecord, mined
from recollect.testing.store_samples import START, ManualClock
from tests.unit.mining import facts

LYON, PORTO, FARO = (f"The user lives in {town}." for town in ("Lyon", "Porto", "Faro"))


@pytest.fixture
def memory(place: dict[str, str], clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(
        embedder="hashing",
        clock=clock,
        contradictions="flag_review",
        **place,  # type: ignore[arg-type]
    ) as memory:
        yield memory


def said(user: ScopedMemory, *towns: str) -> None:
    for number, town in enumerate(towns):
        at = START - timedelta(days=30 - number)
        user.record("user", f"I live in {town}.", conversation=town, at=at)
        user.mine()


def pairs(user: ScopedMemory, **asked: object) -> list[tuple[str, str]]:
    return [(pair.new.content, pair.old.content) for pair in user.contradictions(**asked)]  # type: ignore[arg-type]


def test_they_are_listed_newest_first_a_page_at_a_time(derek: ScopedMemory) -> None:
    assert derek.contradictions() == []
    derek.remember("Likes tea")
    said(derek, "Lyon", "Porto", "Faro")
    assert pairs(derek) == [(FARO, LYON), (PORTO, LYON)]
    (first,) = derek.contradictions(limit=1)
    assert pairs(derek, limit=1, after=first.id) == [(PORTO, LYON)]
    for wrong in ({"limit": -1}, {"after": 5}):
        with pytest.raises(Invalid):
            derek.contradictions(**wrong)  # type: ignore[arg-type]


def test_the_new_one_corrects_the_old_and_the_next_is_held_against_it(derek: ScopedMemory) -> None:
    said(derek, "Lyon", "Porto", "Faro")
    faro, porto = derek.contradictions()
    derek.settle(porto.id, "new")
    assert facts(derek) == [FARO, PORTO]
    assert pairs(derek) == [(FARO, PORTO)]
    old, new = derek.get(porto.old.id), derek.get(porto.id)
    assert isinstance(old, Fact)
    assert isinstance(new, Fact)
    assert (old.superseded_by, new.supersedes, new.slot) == (new.id, old.id, old.slot)
    assert old.valid_to == new.valid_from
    assert REVIEW not in mined(new)
    derek.settle(faro.id, "new")
    assert (facts(derek), pairs(derek)) == ([FARO], [])
    derek.forget(faro.id)  # as any correction
    assert facts(derek) == [PORTO]
    assert [e.details for e in derek.audit("settle")] == [{"keep": "new"}] * 2


def test_the_old_one_stays_and_the_new_one_is_forgotten_for_good(derek: ScopedMemory) -> None:
    said(derek, "Lyon", "Porto")
    (pair,) = derek.contradictions()
    derek.settle(pair.id, "old")
    assert (facts(derek), pairs(derek)) == ([LYON], [])
    with pytest.raises(NotFound):
        derek.get(pair.id)
    said(derek, "Porto")
    assert (facts(derek), pairs(derek)) == ([LYON], [])
    assert len(derek.audit("forget")) == 1


def test_both_stay_and_saying_it_again_asks_nobody_again(derek: ScopedMemory) -> None:
    said(derek, "Lyon", "Porto")
    (pair,) = derek.contradictions()
    derek.settle(pair.id, "both")
    assert (facts(derek), pairs(derek)) == ([LYON, PORTO], [])
    derek.record("user", "I live in Porto.", conversation="again")
    derek.mine()
    assert (facts(derek), pairs(derek)) == ([LYON, PORTO], [])
    again = derek.get(pair.id)
    assert isinstance(again, MemoryRecord)
    assert len(again.sources) == 2


def test_what_was_put_right_or_forgotten_meanwhile(derek: ScopedMemory) -> None:
    said(derek, "Lyon", "Porto")
    (pair,) = derek.contradictions()
    now = derek.correct(pair.old.id, "Lives in Rome")
    assert pairs(derek) == [(PORTO, "Lives in Rome")]
    derek.settle(pair.id, "new")
    assert facts(derek) == [PORTO]
    derek.unmine("Porto")
    assert facts(derek) == ["Lives in Rome"]
    said(derek, "Faro")
    assert pairs(derek) == [(FARO, "Lives in Rome")]
    derek.forget(now.id)
    assert pairs(derek) == [(FARO, LYON)]
    derek.forget(pair.old.id)
    assert (facts(derek), pairs(derek)) == ([FARO], [])


def test_only_what_waits_is_settled(memory: Memory, derek: ScopedMemory) -> None:
    said(derek, "Lyon", "Porto")
    (pair,) = derek.contradictions()
    with pytest.raises(Invalid, match="new, old, both"):
        derek.settle(pair.id, "neither")
    for id in ("nothing", pair.old.id):
        with pytest.raises(NotFound):
            derek.settle(id, "old")
    with pytest.raises(NotFound):
        memory.scope("eve").settle(pair.id, "new")
    assert facts(derek) == [LYON, PORTO]
    derek.settle(pair.id, "new")
    with pytest.raises(NotFound, match="nothing to settle"):
        derek.settle(pair.id, "new")
