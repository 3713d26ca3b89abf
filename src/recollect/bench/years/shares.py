"""The people's days in several processes, each with a share of them and a database of its own: nobody's
memory depends on anybody else's, so it comes to the same."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from recollect.bench.sqlite import SqlitePlace
from recollect.bench.subject import Advance
from recollect.bench.years.figures import Lived
from recollect.lasting import rare_collections, steady_memory

if TYPE_CHECKING:
    from recollect.bench.years.run import Plan

LOOKED_AT_S = 1.0
"""How often it is looked how far they are."""

_days: Any = None
"""How many days have gone by in all processes together; each has it from the first."""


def _begin(days: Any) -> None:
    """As a worker begins."""
    global _days
    _days = days
    steady_memory()


def shared(
    place: SqlitePlace, plan: "Plan", shares: Sequence[Sequence[int]], advance: Advance
) -> list[Lived]:
    context = multiprocessing.get_context("spawn")
    days, told = context.Value("i", 0), 0
    with ProcessPoolExecutor(len(shares), context, _begin, (days,)) as pool:
        waiting = [pool.submit(_live, place, plan, share) for share in shares]
        left = set(waiting)
        while left:
            _, left = wait(left, LOOKED_AT_S)
            advance(days.value - told)
            told = days.value
        return [one.result() for one in waiting]


def _live(place: SqlitePlace, plan: "Plan", share: Sequence[int]) -> Lived:
    from recollect.bench.years.run import live_through

    def advance(count: int) -> None:
        with _days.get_lock():
            _days.value += count

    rare_collections()
    return live_through(place, plan, share, advance)
