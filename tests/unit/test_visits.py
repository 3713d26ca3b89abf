"""Looking after users: one worker each, nothing twice, nothing skipped, whatever a chore does."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import ModelError, RecollectError
from recollect.model.changes import Expect, Put
from recollect.model.records import AuditEntry, Fact
from recollect.ports.tending import PARKED_AFTER, Mark
from recollect.tend.steps import TOGETHER, Chore, Reached, Step
from recollect.tend.tender import Hold, Tender, holding
from recollect.tend.visits import plan_all, visit_all
from recollect.testing.store_samples import ManualClock, fact, put
from recollect.workspace import Workspace
from tests.unit.support import OpenMemory

HOUR = timedelta(hours=1)


def tender(memory: Memory, **given: Any) -> Tender:
    return replace(memory._tender(), **given)


def marks(memory: Memory, user: str = "ann") -> dict[str, Mark]:
    return memory.store.user(user).marks()


def told(memory: Memory, user: str = "ann") -> list[str]:
    return [entry.subject for entry in memory.store.user(user).find(AuditEntry) if entry.operation == "wear"]


def wearing(work: Workspace, mark: Mark) -> Iterator[Step]:
    """Wears down what was stored since; the change is made once, if nobody was quicker."""
    for kind, id in ((entry.kind, entry.id) for entry in work.store.changed(["fact"], mark.seq)):
        assert kind == "fact"
        for found in work.store.get(Fact, [id]):
            if found.confidence == 1.0:
                worn = replace(found, confidence=0.5)
                changes = Expect("fact", id, found), Put(worn)
                yield Step(action="wear", record=found, why="it is new", changes=changes)


WEAR = Chore("wear", wearing, lambda settings: HOUR, on_change=True)


def remembered(memory: Memory, user: str = "ann", count: int = 3, start: int = 0) -> None:
    changes = [put(fact(f"f-{n}", f"fact {n}")) for n in range(start, start + count)]
    memory.store.user(user).apply(changes)


def test_what_is_due_is_done_once_and_told(memory: Memory, clock: ManualClock) -> None:
    remembered(memory)
    planned = list(plan_all(tender(memory), [WEAR]))
    assert [(p.user, p.chore, p.action, p.id, p.why) for p in planned] == [
        ("ann", "wear", "wear", f"f-{n}", "it is new") for n in range(3)
    ]
    (outcome,) = visit_all(tender(memory), [WEAR])
    assert (outcome.done, outcome.problem) == (3, None)
    assert told(memory) == ["fact f-0", "fact f-1", "fact f-2"]
    clock.advance(hours=2)
    assert visit_all(tender(memory), [WEAR])[0].done == 0
    assert memory.store.users_due(clock.now(), clock.now()) == []
    assert len(told(memory)) == 3


def test_what_changes_during_a_visit_is_not_missed(memory: Memory, clock: ManualClock) -> None:
    """Whatever is stored after a chore has read and before the user is let go waits for the next visit."""

    def storing(work: Workspace, mark: Mark) -> Iterator[Step]:
        if not mark.seq:
            remembered(memory, start=10, count=1)
        yield from ()

    remembered(memory)
    chores = [WEAR, Chore("store", storing, lambda settings: HOUR)]
    assert visit_all(tender(memory), chores)[0].done == 3
    clock.advance(hours=1)
    assert visit_all(tender(memory), chores)[0].done == 1
    clock.advance(hours=1)
    assert visit_all(tender(memory), chores)[0].done == 0
    assert len(told(memory)) == 4


def test_what_was_stopped_half_way_goes_on(memory: Memory) -> None:
    remembered(memory, count=TOGETHER + 5)
    stopping = threading.Event()

    def stop(job: str, done: int) -> None:
        stopping.set()

    (outcome,) = visit_all(tender(memory, stopping=stopping.is_set, progress=stop), [WEAR])
    assert outcome.done == TOGETHER
    assert marks(memory) == {}, "it is not finished"
    (outcome,) = visit_all(tender(memory), [WEAR])
    assert outcome.done == 5, "at once: nothing is held any more"
    assert len(told(memory)) == len(set(told(memory))) == TOGETHER + 5


def test_a_step_that_was_not_begun_is_not_begun_after_a_stop(memory: Memory) -> None:
    remembered(memory)
    stopping, begun = threading.Event(), list[str]()

    def asking(work: Workspace, mark: Mark) -> Iterator[Step]:
        for found in work.store.find(Fact):
            yield Step(action="ask", record=found, why="it is new", do=lambda hold, id=found.id: ask(id))

    def ask(id: str) -> int:
        begun.append(id)
        stopping.set()
        return 1

    chore = Chore("ask", asking, lambda settings: HOUR)
    (outcome,) = visit_all(tender(memory, stopping=stopping.is_set), [chore])
    assert (outcome.done, len(begun)) == (1, 1)
    assert marks(memory) == {}, "it is not finished"


@pytest.mark.parametrize("raised", [ZeroDivisionError, AttributeError, RecollectError, AssertionError])
@pytest.mark.parametrize("where", ["plan", "begin", "step"])
@pytest.mark.parametrize("every", [None, lambda settings: HOUR])
def test_a_chore_that_raises_holds_up_nothing_else(
    memory: Memory, clock: ManualClock, raised: type[Exception], where: str, every: Any
) -> None:
    def fail(hold: Hold) -> int:
        raise raised

    def breaking(work: Workspace, mark: Mark) -> Iterator[Step]:
        if work.scope.user == "bob":
            return
        if where == "begin":
            raise raised
        record = work.store.get(Fact, ["f-0"])[0]
        yield Step(
            action="break", record=record, why="why not", do=fail if where == "step" else lambda hold: 1
        )
        if where == "plan":
            raise raised

    for user in ("ann", "bob"):
        remembered(memory, user)
    chores = [Chore("break", breaking, every), WEAR]
    broken, worn = visit_all(tender(memory), chores)
    assert broken.problem
    assert (worn.done, worn.problem) == (6, None)
    assert marks(memory)["break"].failures == 1
    assert marks(memory, "bob").get("break", Mark()).failures == 0
    assert memory.store.users_due(clock.now(), clock.now()) == []


def failing(error: Callable[[], Exception], poison: str = "f-1") -> Chore:
    """Wears down what is new, and cannot do that with one of them."""

    def plan(work: Workspace, mark: Mark) -> Iterator[Step]:
        for step in wearing(work, mark):
            yield replace(step, changes=(), do=fail) if step.record.id == poison else step

    def fail(hold: Hold) -> int:
        raise error()

    return Chore("wear", plan, lambda settings: HOUR, on_change=True)


def bit_by_bit(chore: Chore, most: int = 2) -> Chore:
    """The chore, looking at about so many of what is new in a visit."""

    def plan(work: Workspace, mark: Mark) -> Iterator[Step | Reached]:
        reached = max(entry.seq for entry in work.store.changed(["fact"], mark.seq, most))
        for step in chore.plan(work, mark):
            (new,) = (e for e in work.store.changed(["fact"], mark.seq) if e.id == _id(step))
            if new.seq <= reached:
                yield step
        if work.store.changed(["fact"], reached, 1):
            yield Reached(reached)

    return replace(chore, plan=plan)


def _id(step: Step | Reached) -> str:
    assert isinstance(step, Step)
    return step.record.id


def one_by_one(memory: Memory, count: int) -> None:
    for n in range(count):
        remembered(memory, start=n, count=1)


def is_due(memory: Memory, clock: ManualClock) -> bool:
    return bool(memory.store.users_due(clock.now(), clock.now()))


def test_what_is_too_much_for_a_visit_is_done_in_several(memory: Memory, clock: ManualClock) -> None:
    one_by_one(memory, 7)
    done, reached = list[int](), list[int]()
    while is_due(memory, clock):
        done.append(visit_all(tender(memory), [bit_by_bit(WEAR)])[0].done)
        reached.append(marks(memory)["wear"].seq)
    assert done[:4] == [2, 2, 2, 1]
    assert reached[:3] == [2, 4, 6]
    assert reached == sorted({*reached}), "each goes on where the one before it was"
    assert sorted(told(memory)) == [f"fact f-{n}" for n in range(7)], "none is left out, none is done twice"
    assert marks(memory)["wear"].at == clock.now()


def test_parked_in_one_visit_the_others_go_on(memory: Memory, clock: ManualClock) -> None:
    one_by_one(memory, 12)
    chore = bit_by_bit(failing(ValueError))
    visits(memory, clock, chore, PARKED_AFTER)
    assert (len(told(memory)), marks(memory)["wear"].failures) == (PARKED_AFTER, PARKED_AFTER)
    assert marks(memory)["wear"].seq == PARKED_AFTER + 1, "what it has not looked at is not parked"
    clock.advance(hours=1)
    while is_due(memory, clock):
        visit_all(tender(memory), [chore])
    assert sorted(told(memory)) == sorted(f"fact f-{n}" for n in range(12) if n != 1)
    assert marks(memory)["wear"].failures == PARKED_AFTER


def visits(memory: Memory, clock: ManualClock, chore: Chore, times: int) -> None:
    for _ in range(times):
        clock.advance(days=2)
        visit_all(tender(memory), [chore])


def test_what_keeps_failing_is_parked(memory: Memory, clock: ManualClock) -> None:
    remembered(memory)
    chore = failing(lambda: ValueError("never mind"))
    visits(memory, clock, chore, PARKED_AFTER - 1)
    assert told(memory) == ["fact f-0", "fact f-2"], "its neighbours are done"
    assert marks(memory)["wear"].seq == 0, "it is tried again"
    visits(memory, clock, chore, 1)
    assert list(plan_all(tender(memory), [chore])) == []
    remembered(memory, start=3, count=1)
    visits(memory, clock, chore, 1)
    assert told(memory)[2:] == ["fact f-3"]
    assert (marks(memory)["wear"].failures, marks(memory)["wear"].problem) == (PARKED_AFTER, "ValueError")
    assert memory.store.unpark() == 1
    visits(memory, clock, WEAR, 1)
    assert sorted(told(memory)) == [f"fact f-{n}" for n in range(4)]
    assert marks(memory)["wear"].problem is None


def test_a_model_that_is_down_parks_nothing(memory: Memory, clock: ManualClock) -> None:
    remembered(memory)
    visits(memory, clock, failing(lambda: ModelError("The model is down.")), PARKED_AFTER + 3)
    assert marks(memory)["wear"].failures == PARKED_AFTER + 3
    visits(memory, clock, WEAR, 1)
    assert len(told(memory)) == 3
    assert marks(memory)["wear"].failures == 0


def test_failures_are_tried_again_later_and_later(memory: Memory, clock: ManualClock) -> None:
    remembered(memory)
    chore = failing(ValueError)
    visit_all(tender(memory), [chore])
    waits = [clock.now() + HOUR]
    for _ in range(2):
        clock.advance(hours=1)
        visit_all(tender(memory), [chore])
        waits.append(marks(memory)["wear"].after or clock.now())
    assert marks(memory)["wear"].failures == 3
    assert waits[2] - clock.now() == timedelta(seconds=4 * memory.settings.chore_retry_seconds)


def test_who_is_erased_meanwhile_does_not_come_back(memory: Memory) -> None:
    def deriving(work: Workspace, mark: Mark) -> Iterator[Step]:
        memory.store.user("ann").erase()
        record = fact("derived", "what was known")
        yield Step(action="derive", record=record, why="somebody said so", changes=(Put(record, ()),))

    remembered(memory)
    chores = [Chore("derive", deriving, lambda settings: HOUR), WEAR]
    visit_all(tender(memory), chores)
    assert list(memory.store.users()) == []


def test_who_lost_a_user_changes_nothing_more(memory: Memory, clock: ManualClock) -> None:
    """It was held up for an hour; another came, and did the rest."""
    remembered(memory, count=2)

    def slow(work: Workspace, mark: Mark) -> Iterator[Step]:
        steps = list(wearing(work, mark))
        clock.advance(hours=1)
        assert visit_all(tender(memory), [WEAR])[0].done == 2
        for step in steps:  # also without saying what it had read
            yield replace(step, changes=step.changes[1:])

    visit_all(tender(memory), [replace(WEAR, plan=slow)])
    assert told(memory) == ["fact f-0", "fact f-1"]
    assert marks(memory)["wear"] == Mark(memory.store.user("ann").seq() - 1, clock.now())


def test_workers_that_begin_at_once_do_each_user_once(open_memory: OpenMemory) -> None:
    workers = [open_memory() for _ in range(4)]
    users = [f"user-{n}" for n in range(12)]
    for user in users:
        remembered(workers[0], user, 2)
    begin, done = threading.Barrier(4), list[str]()

    def noting(work: Workspace, mark: Mark) -> Iterator[Step]:
        done.append(work.scope.user)
        return wearing(work, mark)

    def work(worker: Memory) -> int:
        begin.wait()
        return visit_all(tender(worker), [replace(WEAR, plan=noting)])[0].done

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(work, workers)) == 24
    assert sorted(done) == sorted(users), "nobody's work was even planned twice"
    assert all(told(workers[0], user) == ["fact f-0", "fact f-1"] for user in users)
    assert workers[0].store.check() == []


def test_a_user_with_much_to_do_keeps_no_worker_from_the_others(open_memory: OpenMemory) -> None:
    one, other = open_memory(), open_memory()
    for user in ("ann", "huge", "zoe"):
        remembered(one, user)
    meanwhile: list[int] = []

    def lasting(work: Workspace, mark: Mark) -> Iterator[Step]:
        if work.scope.user == "huge" and not meanwhile:
            meanwhile.append(visit_all(tender(other), [WEAR])[0].done)
        return wearing(work, mark)

    done = visit_all(tender(one), [replace(WEAR, plan=lasting)])[0].done
    assert (done, meanwhile[0]) in {(3, 6), (6, 3), (9, 0)}, "as far as they were not done before"
    assert [len(told(one, user)) for user in ("ann", "huge", "zoe")] == [3, 3, 3]


LEASE = 0.03


class Taking:
    """Something that is taken, and how often it was."""

    def __init__(self, enough: int = 0) -> None:
        self.times, self.free, self.renewed = 0, True, threading.Event()
        self.enough = enough

    def __call__(self, now: object, until: object) -> bool:
        self.times += 1
        if self.times == self.enough:
            self.renewed.set()
        return self.free


class Ticking(ManualClock):
    """It is later each time that somebody looks: more than half of a lease, less than the whole."""

    def now(self) -> datetime:
        return self.advance(seconds=LEASE * 0.6)


def test_what_is_held_is_renewed_while_a_step_lasts(memory: Memory) -> None:
    taking = Taking(enough=4)
    short = replace(memory.settings, lease_seconds=LEASE)
    with holding(tender(memory, settings=short, clock=Ticking()), taking) as hold:
        assert hold()
        assert taking.renewed.wait(timeout=30), "the step lasts"
    after = taking.times
    assert "recollect-renew" not in [thread.name for thread in threading.enumerate()]
    assert taking.times == after, "whoever lets go of it has it no more"


def test_what_ran_out_is_not_taken_again(memory: Memory, clock: ManualClock) -> None:
    taking = Taking()
    with holding(tender(memory), taking) as hold:
        assert hold()
        clock.advance(seconds=memory.settings.lease_seconds)
        assert not hold()
        assert taking.times == 1
    taking = Taking()
    with holding(tender(memory), taking) as hold:
        taking.free = False
        assert not hold()
        taking.free = True
        assert hold(), "it was never ours yet"
        taking.free = False
        assert hold(), "nobody else can have it so soon"
        clock.advance(seconds=memory.settings.lease_seconds * 0.6)
        assert not hold()
        taking.free = True
        assert not hold(), "it was another's in between"
