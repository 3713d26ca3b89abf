"""Words for a time, and when that is."""

import re
from datetime import UTC, date, datetime, timedelta
from time import perf_counter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.times import LIMIT, TimePhrase, time_phrases

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday
ZONES = [UTC, ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Kolkata"), ZoneInfo("Pacific/Apia")]


def only(text: str, **given: bool) -> TimePhrase:
    (phrase,) = time_phrases(text, NOW, UTC, **given)
    return phrase


def bounds(phrase: TimePhrase) -> tuple[str | None, str | None]:
    """As dates; the second is the day after the last."""
    since, until = (at and at.date().isoformat() for at in (phrase.since, phrase.until))
    return since or None, until or None


@pytest.mark.parametrize(
    ("phrase", "since", "until"),
    [
        ("today", "2024-05-15", "2024-05-16"),
        ("this morning", "2024-05-15", "2024-05-16"),
        ("yesterday", "2024-05-14", "2024-05-15"),
        ("last night", "2024-05-14", "2024-05-15"),
        ("the day before yesterday", "2024-05-13", "2024-05-14"),
        ("tomorrow", "2024-05-16", "2024-05-17"),
        ("the day after tomorrow", "2024-05-17", "2024-05-18"),
        ("this week", "2024-05-13", "2024-05-20"),
        ("last week", "2024-05-06", "2024-05-13"),
        ("next week", "2024-05-20", "2024-05-27"),
        ("last month", "2024-04-01", "2024-05-01"),
        ("this month", "2024-05-01", "2024-06-01"),
        ("last quarter", "2024-01-01", "2024-04-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("next year", "2025-01-01", "2026-01-01"),
        ("last weekend", "2024-05-11", "2024-05-13"),
        ("this weekend", "2024-05-18", "2024-05-20"),
        ("next weekend", "2024-05-25", "2024-05-27"),
        ("over the weekend", "2024-05-11", "2024-05-13"),
        ("the last 3 days", "2024-05-12", "2024-05-16"),
        ("past two weeks", "2024-05-01", "2024-05-16"),
        ("the last few months", "2024-02-15", "2024-05-16"),
        ("in the last year", "2023-05-15", "2024-05-16"),
        ("the next three days", "2024-05-15", "2024-05-19"),
        ("three days ago", "2024-05-12", "2024-05-13"),
        ("a week ago", "2024-05-05", "2024-05-12"),
        ("a couple of weeks ago", "2024-04-28", "2024-05-05"),
        ("2 months ago", "2024-02-29", "2024-03-31"),
        ("a year ago", "2022-11-14", "2023-11-14"),
        ("in two weeks", "2024-05-26", "2024-06-02"),
        ("10 days from now", "2024-05-25", "2024-05-26"),
        ("two Tuesdays ago", "2024-05-07", "2024-05-08"),
        ("two weekends ago", "2024-05-04", "2024-05-06"),
        ("last Tuesday", "2024-05-14", "2024-05-15"),
        ("last Wednesday", "2024-05-08", "2024-05-09"),
        ("on Tuesday", "2024-05-14", "2024-05-15"),
        ("on Friday", "2024-05-10", "2024-05-11"),
        ("on Sun", "2024-05-12", "2024-05-13"),
        ("this Friday", "2024-05-17", "2024-05-18"),
        ("next Friday", "2024-05-24", "2024-05-25"),
        ("this coming Friday", "2024-05-17", "2024-05-18"),
        ("Tuesday of last week", "2024-05-07", "2024-05-08"),
        ("in March", "2024-03-01", "2024-04-01"),
        ("in may", "2024-05-01", "2024-06-01"),
        ("in June", "2023-06-01", "2023-07-01"),
        ("in March 2022", "2022-03-01", "2022-04-01"),
        ("last March", "2024-03-01", "2024-04-01"),
        ("next March", "2025-03-01", "2025-04-01"),
        ("on March 5", "2024-03-05", "2024-03-06"),
        ("on Dec. 24th", "2023-12-24", "2023-12-25"),
        ("5 March", "2024-03-05", "2024-03-06"),
        ("the 5th of March 2023", "2023-03-05", "2023-03-06"),
        ("May 3, 2023", "2023-05-03", "2023-05-04"),
        ("on Feb 29", "2024-02-29", "2024-03-01"),
        ("2024-03-05", "2024-03-05", "2024-03-06"),
        ("03/05/2024", "2024-03-05", "2024-03-06"),
        ("25/12/23", "2023-12-25", "2023-12-26"),
        ("5.3.2024", "2024-03-05", "2024-03-06"),
        ("on the 15th", "2024-05-15", "2024-05-16"),
        ("on the 31st", "2024-03-31", "2024-04-01"),
        ("the 3rd of last month", "2024-04-03", "2024-04-04"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("since March", "2024-03-01", None),
        ("since last Friday", "2024-05-10", None),
        ("after March", "2024-04-01", None),
        ("before 2023", None, "2023-01-01"),
        ("until Friday", None, "2024-05-11"),
        ("between March and May", "2024-03-01", "2024-06-01"),
        ("between June and February", "2023-06-01", "2024-03-01"),
        ("from March to May 2020", "2020-03-01", "2020-06-01"),
        ("between Monday and Wednesday", "2024-05-06", "2024-05-09"),
        ("in the spring", "2024-03-01", "2024-06-01"),
        ("in the summer", "2023-06-01", "2023-09-01"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("this summer", "2024-06-01", "2024-09-01"),
        ("next winter", "2024-12-01", "2025-03-01"),
        ("in the summer of 2022", "2022-06-01", "2022-09-01"),
        ("at the beginning of the year", "2024-01-01", "2024-05-02"),
        ("at the end of last year", "2023-09-02", "2024-01-01"),
        ("early March", "2024-03-01", "2024-03-11"),
        ("mid-May", "2024-05-11", "2024-05-22"),
        ("late 2023", "2023-09-02", "2024-01-01"),
        ("at Christmas", "2023-12-24", "2023-12-27"),
    ],
)
def test_when_it_is(phrase: str, since: str | None, until: str | None) -> None:
    found = only(f"What about the roof {phrase}?")
    assert bounds(found) == (since, until)
    assert phrase.endswith(found.phrase.removeprefix("about ")) or found.phrase.endswith(phrase)


@pytest.mark.parametrize(
    ("phrase", "since"),
    [
        ("on Friday", "2024-05-17"),
        ("in March", "2025-03-01"),
        ("in May", "2024-05-01"),
        ("on March 5", "2025-03-05"),
        ("on the 10th", "2024-06-10"),
        ("in the summer", "2024-06-01"),
        ("over the weekend", "2024-05-18"),
        ("tomorrow", "2024-05-16"),
        ("last week", "2024-05-06"),
    ],
)
def test_a_plan_lies_ahead(phrase: str, since: str) -> None:
    assert bounds(only(f"I see the dentist {phrase}.", forward=True))[0] == since


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You may march 5 miles, may you not?",
        "March on! May I ask what may come?",
        "mon ami sat in the sun for a second",
        "They wed; I asked Jan and April and June",
        "on the 15th floor, in the 20th century",
        "every Monday, and on Fridays",
        "room 2019 has 1999 pages for $2020",
        "2024-02-30, 99/99/2024, 0000-00-00",
        "in a second, in one minute",
        "the fall of Rome, a spring in the bed",
        "version 1.2.2020.4 and 10:30",
    ],
)
def test_what_only_looks_like_a_time(text: str) -> None:
    assert time_phrases(text, NOW, UTC) == []


@pytest.mark.parametrize("word", ["recently", "lately", "the other day", "a while ago"])
def test_a_vague_time_has_no_bounds(word: str) -> None:
    found = only(f"What did I buy {word}?")
    assert (found.since, found.until, found.soft, found.phrase) == (None, None, True, word)


def test_several_in_one_text() -> None:
    text = "In March I moved, yesterday I called, and on May 3, 2023 we met."
    found = time_phrases(text, NOW, UTC)
    assert [phrase.phrase for phrase in found] == ["In March", "yesterday", "on May 3, 2023"]
    assert all(text[phrase.start : phrase.stop] == phrase.phrase for phrase in found)


def test_the_zone_decides_which_day_it_is() -> None:
    late = datetime(2024, 5, 15, 23, tzinfo=UTC)
    (here,) = time_phrases("today", late, ZoneInfo("Asia/Tokyo"))
    assert here.since == datetime(2024, 5, 16, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert here.since == datetime(2024, 5, 15, 15, tzinfo=UTC)


def test_a_day_may_have_23_hours() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (day,) = time_phrases("on 2024-03-31", NOW, berlin)
    assert day.since is not None
    assert day.until is not None
    assert day.until - day.since == timedelta(hours=23)


def test_too_far_away_is_no_time() -> None:
    assert time_phrases("9999 years ago", NOW, UTC) == []
    assert time_phrases("in 9999 years", NOW, UTC) == []


TIMES = st.integers(0, 5_600_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "last next this the past in on since before after between and from to until of early late a few two "
        "3 12 31st 2024 2024-05-06 12/31/2023 week weeks weekend month months year ago Tuesday Sundays March "
        "May sun summer fall beginning end yesterday now recently . , ? Christmas couple 29 February",
    )
)
WEEKLY = re.findall(
    r"[^;]+",
    "today;yesterday;tomorrow;this week;last week;next weekend;over the weekend;last Tuesday;on Friday;"
    "next Monday;two Sundays ago;three days ago;two weeks ago;in two weeks;the last 10 days;since Tuesday;"
    "between Monday and Friday;Thursday of next week",
)


@given(
    st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=200),
    TIMES,
    st.sampled_from(ZONES),
    st.booleans(),
)
def test_ranges_are_ordered_and_aware(text: str, now: datetime, zone: ZoneInfo, forward: bool) -> None:
    last = 0
    for found in time_phrases(text, now, zone, forward=forward):
        assert found.start >= last
        assert text[found.start : found.stop] == found.phrase
        last = found.stop
        for at in (found.since, found.until):
            assert at is None or at.utcoffset() == timedelta(0)
        assert found.soft == (found.since is None and found.until is None)
        if found.since and found.until:
            assert found.since <= found.until


@given(
    st.sampled_from(WEEKLY),
    TIMES,
    st.integers(-500, 500),
    st.booleans(),
)
def test_weeks_later_it_is_weeks_later(phrase: str, now: datetime, weeks: int, forward: bool) -> None:
    shift = timedelta(weeks=weeks)
    (first,) = time_phrases(phrase, now, UTC, forward=forward)
    (second,) = time_phrases(phrase, now + shift, UTC, forward=forward)
    for before, after in ((first.since, second.since), (first.until, second.until)):
        assert (before and before + shift) == after


@given(st.dates(date(1950, 1, 1), date(2199, 12, 31)), TIMES)
def test_a_written_date_is_that_day(day: date, now: datetime) -> None:
    for text in (
        f"{day:%Y-%m-%d}",
        f"{day:%B} {day.day}, {day:%Y}",
        f"{day.day} {day:%B %Y}",
        f"{day:%m/%d/%Y}",
    ):
        (found,) = time_phrases(text, now, UTC)
        assert found.since is not None
        assert found.since.date() == day


@pytest.mark.parametrize(
    "piece",
    [
        "last ",
        "May 1 ",
        "1 of ",
        " ",
        "from March to ",
        "in the ",
        "1",
        "a few ",
        "12/12/",
        "the beginning of ",
        "on ",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    begun = perf_counter()
    assert len(time_phrases(text, NOW, UTC)) <= LIMIT
    assert (
        perf_counter() - begun < 10
    )  # a busy machine takes half a second; a quadratic one would take minutes
