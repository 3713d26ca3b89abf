"""Ids sort by when they were made, even when the clock does not."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from recollect.record.ids import id_maker
from recollect.testing.store_samples import ManualClock


def one(clock: ManualClock) -> Callable[[], str]:
    """A maker of single ids."""
    new_ids = id_maker(clock)
    return lambda: new_ids(1)[0]


def test_many_at_a_time_ascend_as_well() -> None:
    clock = ManualClock()
    new_ids = id_maker(clock)
    made = [*new_ids(1000), *new_ids(0), *new_ids(1), *new_ids(70_000)]
    clock.advance(milliseconds=1)
    made += new_ids(10)
    assert made == sorted(set(made))
    assert len(made) == 71_011


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=50))
def test_ids_ascend_wherever_the_clock_goes(steps: list[int]) -> None:
    clock = ManualClock()
    new_id = one(clock)
    made = [new_id()]
    for step in steps:
        clock.advance(milliseconds=step)
        made += [new_id(), new_id()]
    assert made == sorted(set(made))


def test_an_id_is_a_uuid_of_version_7_that_tells_its_time() -> None:
    clock = ManualClock()
    uuid = UUID(one(clock)())
    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert uuid.int >> 80 == int(clock.now().timestamp() * 1000)


def test_before_1970_too() -> None:
    new_id = one(ManualClock(datetime(1900, 1, 1, tzinfo=UTC)))
    first, second = new_id(), new_id()
    assert first < second
    assert UUID(first).version == 7


def test_makers_apart_do_not_collide() -> None:
    clock = ManualClock()
    made = [one(clock)() for _ in range(1000)]
    assert len(set(made)) == 1000


def test_threads_share_a_maker() -> None:
    new_id, made = one(ManualClock()), [[""] for _ in range(8)]

    def make(mine: list[str]) -> None:
        mine[:] = [new_id() for _ in range(500)]

    threads = [threading.Thread(target=make, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id for mine in made for id in mine}) == 4000
    assert all(mine == sorted(mine) for mine in made)
