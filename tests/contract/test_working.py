"""The contract of a working store, in process."""

import pytest

from recollect.model.working import Desk
from recollect.stores.working.memory import ProcessWorkingStore
from recollect.testing.store_samples import ManualClock
from recollect.testing.working_suite import (
    DESK,
    NOTHING,
    TTL,
    PassTime,
    WorkingContract,
    contents,
    everything,
    fill,
    holding,
    item,
)

MOST = 1 << 30


@pytest.fixture
def working(clock: ManualClock) -> ProcessWorkingStore:
    return ProcessWorkingStore(clock, ttl=TTL, conversations=10_000, most_bytes=MOST)


class TestProcessWorkingStore(WorkingContract):
    @pytest.fixture
    def pass_time(self, clock: ManualClock) -> PassTime:
        return lambda seconds: (clock.advance(seconds=seconds), None)[1]


def test_those_used_longest_ago_go_first(clock: ManualClock) -> None:
    working = ProcessWorkingStore(clock, ttl=TTL, conversations=3, most_bytes=MOST)
    desks = [Desk("alice", "work", f"c{n}") for n in range(4)]
    for desk in desks[:3]:
        fill(working, desk, "tea")
    working.goal(desks[0])
    fill(working, desks[3], "tea")
    assert [everything(working, desk) != NOTHING for desk in desks] == [True, False, True, True]
    assert (working.state().conversations, working.state().evicted) == (3, 1)


def test_the_memory_it_takes_is_bounded_and_counted(clock: ManualClock) -> None:
    working = ProcessWorkingStore(clock, ttl=TTL, conversations=1000, most_bytes=100_000)
    for n in range(100):
        desk = Desk("alice", "work", f"c{n}")
        fill(working, desk, "x" * 10_000)
        assert everything(working, desk) == holding("x" * 10_000)  # the one in use stays
        state = working.state()
        assert state.used_bytes is not None
        assert state.used_bytes <= 100_000
    fill(working, DESK, "y" * 1_000_000)
    assert working.state().conversations == 1


def test_what_was_taken_out_is_no_longer_counted(working: ProcessWorkingStore, clock: ManualClock) -> None:
    for _ in range(3):
        fill(working, DESK, "x" * 1000)
    held = working.items(DESK)
    working.replace(DESK, held, held[:1])
    working.put(DESK, "key", None, 10)
    working.set_goal(DESK, None)
    working.replace(DESK, held[:1], [])
    empty = working.state().used_bytes
    working.erase("alice")
    assert working.state().used_bytes == 0
    working.goal(DESK)
    working.put(DESK, "key", None, 10)
    assert working.state().used_bytes == empty
    clock.advance(seconds=TTL)
    assert (working.state().used_bytes, working.state().conversations) == (0, 0)


def test_a_clock_that_goes_back_brings_nothing_back(working: ProcessWorkingStore, clock: ManualClock) -> None:
    clock.advance(hours=5)
    fill(working, DESK._replace(conversation="ahead"), "tea")
    clock.advance(hours=-5)
    working.append(DESK, item())
    clock.advance(seconds=TTL)
    assert contents(working) == []
