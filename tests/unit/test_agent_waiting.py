"""Waiting for what may never end."""

import threading
import time
from collections.abc import Iterator

import pytest

from recollect.agent.waiting import Cancelled, Late, Workers, once


def soon() -> float:
    return time.monotonic() + 30


def test_what_is_told_comes_in_order_and_what_is_raised_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise KeyError("x")

    workers = Workers()
    told = workers.items(workers.begin(items, "test"), soon())
    assert [next(told), next(told)] == [1, 2]
    with pytest.raises(KeyError):
        next(told)


def test_several_are_waited_for_one_after_another() -> None:
    workers = Workers()
    first = threading.Event()
    jobs = [workers.begin(once(lambda: first.wait(30)), "slow"), workers.begin(once(lambda: 2), "fast")]
    assert workers.one(jobs[1], soon()) == 2
    first.set()
    assert workers.one(jobs[0], soon()) is True


def test_what_takes_too_long_is_left_and_told_to_end() -> None:
    go_on, closed = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        try:
            go_on.wait(30)
            yield 1
            yield 2
        finally:
            closed.set()

    workers = Workers()
    job = workers.begin(items, "test")
    with pytest.raises(Late):
        workers.one(job, time.monotonic() + 0.01)
    go_on.set()
    assert closed.wait(30)  # it was not gone through to its end


def test_who_waits_is_told_of_the_cancelling() -> None:
    workers = Workers()
    for_ever = threading.Event()
    job = workers.begin(once(lambda: for_ever.wait(30)), "test")
    threading.Timer(0.01, workers.cancel).start()
    with pytest.raises(Cancelled):
        workers.one(job, soon())
    with pytest.raises(Cancelled):
        workers.one(workers.begin(once(lambda: 1), "test"), soon())
    for_ever.set()
