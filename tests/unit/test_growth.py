"""How a memory grew: what came, added up over days."""

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from recollect import Invalid, Memory
from recollect.models.hashing import HashingEmbedder
from recollect.record.growth import Grown, grown
from recollect.testing.store_samples import ManualClock

TODAY = date(2026, 3, 31)


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def test_it_begins_with_nothing_and_ends_with_all() -> None:
    found = grown({"turn": {ago(2): 3, TODAY: 1}, "fact": {ago(1): 2}}, TODAY, 60)
    assert found == [
        Grown(ago(3), {"turn": 0, "fact": 0}),
        Grown(ago(2), {"turn": 3, "fact": 0}),
        Grown(ago(1), {"turn": 3, "fact": 2}),
        Grown(TODAY, {"turn": 4, "fact": 2}),
    ]
    assert grown({}, TODAY, 60) == []


@pytest.mark.parametrize("points", [2, 7, 60])
@pytest.mark.parametrize("days", [0, 1, 59, 60, 61, 1000, 10_000])
def test_however_long_it_is_the_points_are_few_and_equally_far_apart(days: int, points: int) -> None:
    found = grown({"turn": {ago(days + 1): 5, ago(days // 2): 1}}, TODAY, points)
    assert len(found) <= points
    assert len({later.day - earlier.day for earlier, later in pairwise(found)}) == 1
    assert found[-1].day == TODAY
    counts = [one.counts["turn"] for one in found]
    assert counts == sorted(counts)
    assert counts[-1] == 6


def test_what_came_from_a_clock_that_is_ahead_is_there() -> None:
    assert grown({"turn": {ago(-3): 5}}, TODAY, 60) == [Grown(TODAY, {"turn": 5})]


def test_of_a_memory(tmp_path: Path) -> None:
    clock = ManualClock()
    with Memory.open(tmp_path / "m.db", embedder=HashingEmbedder(8), clock=clock) as memory:
        mine = memory.scope("derek")
        assert mine.growth() == []
        mine.remember("Likes tea")
        clock.advance(days=1)
        gone = mine.remember("Likes coffee")
        memory.scope("ana").remember("Likes neither")
        assert [one.counts.get("fact") for one in mine.growth()] == [0, 1, 2]
        mine.forget(gone.id)
        assert [one.counts.get("fact") for one in mine.growth()] == [0, 1, 1]
        with pytest.raises(Invalid, match="points"):
            mine.growth(1)
