"""Times that a question names, as filters and as reasons to prefer."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Filter
from recollect.recall.query import Anchor, TimeHint
from recollect.recall.window import AROUND, anchored, narrowed, past, windows

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PLAIN = Filter(now=NOW)


def day(number: float) -> datetime:
    return NOW + number * DAY


def hint(since: float | None, until: float | None, phrase: str = "then", kind: str = "happened") -> TimeHint:
    bounds = [None if number is None else day(number) for number in (since, until)]
    return TimeHint(bounds[0], bounds[1], phrase, kind)  # type: ignore[arg-type]


starts = st.none() | st.floats(-1000, 0)
ends = st.none() | st.floats(0, 1000)
phrases, kinds = st.sampled_from(["last week", "in May"]), st.sampled_from(["said", "happened"])
hints = st.builds(hint, starts, ends, phrases, kinds)


def test_plans_and_what_has_no_bounds_are_no_times_to_look_at() -> None:
    soft = hint(-3, None)._replace(soft=True)
    kept = [hint(-9, -2), hint(None, -2), hint(-9, None), hint(-0.5, 0.5, "today", "said")]
    plans = [hint(-0.5, 0.5, "today"), hint(1, 2, "tomorrow"), hint(None, None), soft]
    assert past([*kept, *plans], NOW) == kept


@given(st.lists(hints))
def test_a_window_holds_the_time_it_is_made_of(given: list[TimeHint]) -> None:
    for one in given:
        named, *around = windows([one], NOW)
        assert named.worth == 1
        assert (one.since or named.since, one.until or named.until) == (named.since, named.until)
        assert one.until is not None or named.until > NOW
        assert len(around) == (one.since is not None and one.until is not None)
        assert all(w.since <= named.since and named.until <= w.until and w.worth < 1 for w in around)


def test_a_time_named_by_its_distance_has_more_room() -> None:
    week, near = windows([hint(-14, -7, "last week")], NOW)
    assert week == (day(-14), day(-7), 1.0)
    assert near == (day(-14 - 8), day(-7 + 8), AROUND)
    _, dated = windows([hint(-14, -7, "in the first week of May")], NOW)
    assert dated == (day(-16), day(0), AROUND)


def test_dates_end_somewhere() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for phrase in ("2024 years ago", "in the first year"):
        found = windows([TimeHint(first, last, phrase, "happened")], NOW)
        assert found == [(first, last, 1.0), (first, last, AROUND)]


def test_only_what_was_said_then_is_a_filter() -> None:
    assert narrowed(PLAIN, [hint(-9, -2)]) == PLAIN
    filter = narrowed(PLAIN, [hint(-9, -7, kind="said"), hint(-3, -2, kind="said"), hint(-90, -80)])
    assert (filter.since, filter.until, filter.now) == (day(-9), day(-2), NOW)
    open_start = narrowed(PLAIN, [hint(-9, -7, kind="said"), hint(None, -2, kind="said")])
    assert (open_start.since, open_start.until) == (None, day(-2))
    open_end = narrowed(PLAIN, [hint(-9, None, kind="said"), hint(-5, -2, kind="said")])
    assert (open_end.since, open_end.until) == (day(-9), None)


@given(st.lists(hints))
def test_a_filter_covers_every_time_that_was_said(given: list[TimeHint]) -> None:
    filter = narrowed(PLAIN, given)
    for one in given:
        if one.kind == "said":
            assert filter.since is None or (one.since is not None and filter.since <= one.since)
            assert filter.until is None or (one.until is not None and filter.until >= one.until)


@pytest.mark.parametrize(
    ("relation", "since", "until"),
    [
        ("since", -1, None),
        ("after", -1, None),
        ("before", None, 1),
        ("until", None, 1),
        ("when", -3, 3),
        ("during", -3, 3),
    ],
)
def test_an_event_gives_a_time(relation: str, since: float | None, until: float | None) -> None:
    anchor = Anchor(relation, "I moved", f"{relation} I moved")  # type: ignore[arg-type]
    assert anchored(anchor, NOW) == hint(since, until, f"{relation} I moved")
