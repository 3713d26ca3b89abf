"""More memories than one visit compares: all of them are compared, each once, and what says the same is
found among as many as there are."""

from dataclasses import replace
from typing import Any

import pytest

from recollect import Fact, Memory
from recollect.model.scope import Scope
from recollect.model.search import Words
from recollect.ports.store import UserStore
from recollect.ports.tending import Mark
from recollect.tend.consolidate import MOST, plan_consolidation
from recollect.tend.steps import Reached
from recollect.testing.store_samples import ManualClock, fact, put
from tests.unit.learning import carried_out
from tests.unit.support import OpenMemory

MANY = MOST + 700
STEP = 400
TWINS = {10: 3, STEP * 3: 5, MOST + 20: 40, MANY - 1: MOST + 30, MANY - 2: MANY - 3}
"""Which repeat which: near each other and far apart, in what one visit compares and across two."""


def content(n: int) -> str:
    return f"The {n}th parcel went to house {n * 7} in street{n % 50}"


def filled(memory: Memory, user: str = "derek") -> UserStore:
    store = memory.store.user(user)
    said = [content(TWINS.get(n, n)) for n in range(MANY)]
    for start in range(0, MANY, STEP):
        some = range(start, min(start + STEP, MANY))
        store.apply([put(fact(f"f-{n:05}", said[n], sources=(f"turn-{n}",))) for n in some])
    return store


class Watched:
    """A user's store; notes whose words it is asked for."""

    def __init__(self, store: UserStore) -> None:
        self._store = store
        self.asked: list[tuple[str, ...]] = []

    def sharing(self, asked: list[Words], share: float, limit: int) -> list[list[str]]:
        self.asked += [words.terms for words in asked]
        return self._store.sharing(asked, share, limit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


def test_every_memory_is_compared_once(memory: Memory) -> None:
    store = Watched(filled(memory))
    work = replace(memory._workspace(Scope("derek")), store=store)
    mark, found, reached = Mark(), set[str](), list[int]()
    while True:
        steps = list(plan_consolidation(work, mark))
        found |= {step.record.id for step in steps if not isinstance(step, Reached)}
        ends = [step.seq for step in steps if isinstance(step, Reached)]
        if not ends:
            break
        mark, reached = Mark(seq=ends[0]), [*reached, *ends]
    assert reached == [-(-MOST // STEP)], "two visits, and the first ends with a step of the feed"
    assert len(store.asked) == MANY
    assert len({*store.asked}) == MANY - len(TWINS)
    assert found == {f"f-{n:05}" for pair in TWINS.items() for n in pair}


def test_it_is_finished_over_several_visits(memory: Memory, clock: ManualClock) -> None:
    store = filled(memory)
    marks, done = list[Mark](), list[int]()
    while memory.store.users_due(clock.now(), clock.now()):
        outcomes = {outcome.job: outcome for outcome in memory.tend()}
        assert outcomes["consolidate"].problem is None
        done.append(outcomes["consolidate"].done)
        marks.append(store.marks()["consolidate"])
    assert done == [len(TWINS) - 1, 1]
    assert marks[0].at is None, "it was not finished, and is due again at once"
    assert marks[0].seq < marks[1].seq
    left = {f.id: f for f in store.find(Fact)}
    assert len(left) == MANY - len(TWINS)
    for n, twin in TWINS.items():
        (one,) = (left[id] for id in (f"f-{n:05}", f"f-{twin:05}") if id in left)
        assert {*one.sources} == {f"turn-{n}", f"turn-{twin}"}
    clock.advance(minutes=memory.settings.consolidate_minutes + 1)
    assert {o.job: o.done for o in memory.tend()}["consolidate"] == 0


def test_a_worker_that_dies_between_visits_loses_nothing(open_memory: OpenMemory, clock: ManualClock) -> None:
    with open_memory() as first:
        store = filled(first)
        first.tend()
        reached = store.marks()["consolidate"].seq
    second = open_memory()
    store = second.store.user("derek")
    store.apply([put(fact("late", content(0).upper(), sources=("turn-late",)))])
    second.tend()
    assert store.marks()["consolidate"].seq > reached
    assert store.get(Fact, ["late"]) == []
    assert len(list(store.find(Fact))) == MANY - len(TWINS)


def test_what_says_the_same_is_found_among_common_words(memory: Memory) -> None:
    """Hundreds have all but one word in common, and two say the same in other words."""
    derek = memory.scope("derek")
    derek.remember_many([f"The user likes tea number {n} from the shop" for n in range(300)])
    derek.remember("The user likes the shop")
    derek.remember("the user LIKES the shop!")
    work = memory._workspace(Scope("derek"))
    assert carried_out(work, plan_consolidation(work, Mark())).done == 1
    assert derek.counts()["fact"] == 301
