"""What is counted for operators adds up in any thread, by day, and percentiles are as near as is promised."""

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.measuring import LARGEST, WITHIN, Measures, bucket, microseconds, percentile, upper
from recollect.ports.tending import Measure
from recollect.testing.store_samples import START, ManualClock

TIMES = st.integers(1, 2 ** (LARGEST // 2))
SHARES = st.floats(0, 1)


def buckets(times: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for time in times:
        found[bucket(time)] = found.get(bucket(time), 0) + 1
    return found


@given(TIMES)
def test_a_bucket_reaches_what_is_in_it_and_the_one_before_does_not(time: int) -> None:
    number = bucket(time)
    assert time / 1e6 <= upper(number) * (1 + 1e-12)
    assert number == 0 or time / 1e6 > upper(number - 1) * (1 - 1e-12)


@given(st.lists(TIMES, min_size=1, max_size=200), SHARES)
def test_a_percentile_is_off_by_less_than_a_fifth(times: list[int], share: float) -> None:
    exact = sorted(times)[max(1, math.ceil(share * len(times))) - 1] / 1e6
    told = percentile(buckets(times), share)
    assert told is not None
    assert exact / WITHIN * (1 - 1e-12) <= told <= exact * WITHIN * (1 + 1e-12)
    assert WITHIN < 1.2


@given(st.lists(TIMES, min_size=1), SHARES, SHARES)
def test_a_greater_share_takes_no_less(times: list[int], one: float, other: float) -> None:
    few, many = (percentile(buckets(times), share) or 0.0 for share in sorted((one, other)))
    assert few <= many


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({4: 0}, 0.5) is None


@pytest.mark.parametrize(("taken", "number"), [(0, 0), (1, 0), (2, 2), (3, 4), (10**18, LARGEST)])
def test_buckets_by_example(taken: int, number: int) -> None:
    assert bucket(taken) == number


def test_days_are_kept_apart_and_what_is_taken_is_gone() -> None:
    clock = ManualClock()
    measures = Measures(clock)
    measures.count("tea", 2)
    measures.count("tea", 0)
    clock.advance(days=1)
    measures.count("tea")
    measures.time("recall", 0.003)
    today, tomorrow = START.date(), date.fromordinal(START.date().toordinal() + 1)
    assert measures.take() == [
        Measure(today, "tea", 0, 2),
        Measure(tomorrow, "tea", 0, 1),
        Measure(tomorrow, "recall", bucket(3000), 1),
        Measure(tomorrow, microseconds("recall"), 0, 3000),
    ]
    assert measures.take() == []


def test_what_raises_is_counted_and_not_timed() -> None:
    measures = Measures(ManualClock())
    with pytest.raises(ZeroDivisionError), measures.timed("recall"):
        raise ZeroDivisionError
    assert [(m.name, m.count) for m in measures.take()] == [("recall_failed", 1)]


def test_no_count_is_lost_between_threads() -> None:
    measures, taken = Measures(ManualClock()), list[Measure]()

    def work(_: int) -> None:
        for _ in range(200):
            measures.count("tea")
        taken.extend(measures.take())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert sum(measure.count for measure in (*taken, *measures.take())) == 1600
