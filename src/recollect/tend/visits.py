"""The background looks after one user at a time: whoever has claimed them does all that is due for them."""

import logging
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter, process_time

from recollect.errors import EmbedderError, ModelError, RecollectError, StoreError, StoreUnavailable
from recollect.mine.windows import retry_after
from recollect.model.changes import Held
from recollect.model.scope import Scope
from recollect.ports.tending import PARKED_AFTER, Mark, Visit
from recollect.settings import Settings
from recollect.tend.steps import Chore, Step, Tally, carry_out
from recollect.tend.tender import Hold, Outcome, Tender, holding, new_holder
from recollect.workspace import Workspace

log = logging.getLogger("recollect.tend")

LONGEST_RETRY = timedelta(days=1)
PROBLEM_LENGTH = 500

Marks = Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class Planned:
    """What the background would do, to whom and why."""

    user: str
    chore: str
    action: str
    kind: str
    id: str
    why: str


def visit_all(
    tender: Tender,
    chores: Sequence[Chore],
    only: str | None = None,
    between: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Look after all users that somebody should look after, or one of them; what came of each chore. Between
    one and the next `between` is called."""
    outcomes = {chore.name: Outcome(chore.name, 0, 0.0) for chore in chores}
    due = _due(tender, only)
    # Each worker in its own order: they get into each other's way less, and should one user's rows kill a
    # worker, the next one comes to the others all the same.
    random.shuffle(due)
    for user in due:
        if tender.stopping():
            break
        try:
            with _survived("A user could not be looked after"):
                _visit(tender, user, chores, outcomes)
        except StoreUnavailable as error:
            log.warning("Nobody can be looked after just now: %s", error)
            break
        between()
    return list(outcomes.values())


def plan_all(tender: Tender, chores: Sequence[Chore], only: str | None = None) -> Iterator[Planned]:
    """What `visit_all` would do, or do for one user only, without doing it. What fails is told, as it is
    there, and hides nothing else."""
    for user in _due(tender, only):
        with _survived("What would be done for a user cannot be told"):
            work = tender.workspace(Scope(user))
            marks = work.store.marks()
            for chore in _due_now(tender, work, chores, marks):
                with _survived(f"What {chore.name} would do for a user cannot be told"):
                    yield from _planned(work, chore, marks.get(chore.name, Mark()))


@contextmanager
def _survived(failure: str) -> Generator[None]:
    """What fails in here is told, and ends nothing else; without the store nothing goes on."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - told
        _tell(failure, error)


def _planned(work: Workspace, chore: Chore, mark: Mark) -> Iterator[Planned]:
    for step in chore.plan(work, mark):
        if isinstance(step, Step):
            record = step.record
            yield Planned(work.scope.user, chore.name, step.action, record.kind, record.id, step.why)


def _due(tender: Tender, only: str | None) -> list[str]:
    now = tender.clock.now()
    due = tender.store.users_due(now, now - timedelta(minutes=tender.settings.idle_minutes))
    return [user for user in due if only in (None, user)]


def is_due(chore: Chore, mark: Mark, seq: int, now: datetime, settings: Settings) -> bool:
    """A time that is further ahead than any would be set now was set by a clock that was wrong."""
    if mark.after is not None and now < mark.after <= now + LONGEST_RETRY:
        return False
    if mark.at is not None and timedelta(0) <= now - mark.at < chore.interval(settings):
        return False
    return not chore.on_change or _pending(mark, seq)


def _found_by_rows(chore: Chore) -> bool:
    """What it has to do is what its rows say, and who has such rows is due."""
    return not chore.on_change and chore.every is None


def _pending(mark: Mark, seq: int) -> bool:
    """Whether there is anything new for it, or left from a failure."""
    return seq > mark.seq or mark.after is not None


def _due_now(tender: Tender, work: Workspace, chores: Sequence[Chore], marks: Marks) -> list[Chore]:
    seq, now = work.store.seq(), tender.clock.now()
    return [c for c in chores if is_due(c, marks.get(c.name, Mark()), seq, now, tender.settings)]


def _visit(tender: Tender, user: str, chores: Sequence[Chore], outcomes: dict[str, Outcome]) -> None:
    work, holder = tender.workspace(Scope(user)), new_holder()
    if not _is_wanted(tender, work, chores):
        return
    marks: dict[str, Mark] | None = None
    try:
        with holding(tender, lambda now, until: work.store.claim(holder, now, until)) as hold:
            if hold():
                marks = work.store.marks()  # read only now: another may just have been here
                guarded = replace(work, guards=(Held(holder),))
                _look_after(tender, guarded, chores, marks, hold, outcomes)
    finally:  # not before it is no longer renewed
        if marks is not None:
            visit = next_visit(chores, marks, work.store.seq(), tender.settings, tender.clock.now())
            work.store.settle(holder, marks, visit)


def _is_wanted(tender: Tender, work: Workspace, chores: Sequence[Chore]) -> bool:
    """Whether there is anything to do: of those who are listed, many only wait for something."""
    marks = work.store.marks()
    due = _due_now(tender, work, chores, marks)
    if not all(_found_by_rows(chore) for chore in due):
        return True
    for chore in due:
        try:
            if next(chore.plan(work, marks.get(chore.name, Mark())), None) is not None:
                return True
        except Exception:  # noqa: BLE001 - told, and noted, by whoever does it
            return True
    return False


def _look_after(
    tender: Tender,
    work: Workspace,
    chores: Sequence[Chore],
    marks: dict[str, Mark],
    hold: Hold,
    outcomes: dict[str, Outcome],
) -> None:
    """Do what is due; how far that came is put into the marks."""
    seq = work.store.seq()
    for chore in chores:
        mark = marks.get(chore.name, Mark())
        if not is_due(chore, mark, seq, tender.clock.now(), tender.settings):
            continue
        started, worked = perf_counter(), process_time()
        before, tally = outcomes[chore.name].done, Tally()
        try:
            steps = chore.plan(work, mark)
            carry_out(work, steps, hold, partial(_told, tender, chore.name, before), tally)
        except Exception as error:  # noqa: BLE001 - told and noted
            tally.problem = _tell(f"{chore.name} failed for a user", error)
            tally.broken = True
        spent = perf_counter() - started, process_time() - worked
        outcomes[chore.name] = _plus(outcomes[chore.name], tally, *spent)
        for action, times in tally.actions.items():
            tender.count(action, times)
        if not hold():  # what was not finished is not marked as if it were
            return
        marks[chore.name] = marked(chore, mark, tally, seq, tender)
        if tally.done or tally.problem:  # before the next one reads: what comes after is new to it
            seq = work.store.seq()


def _told(tender: Tender, chore: str, before: int, done: int) -> None:
    tender.tell(chore, before + done)


def _tell(what: str, error: Exception) -> RecollectError:
    problem = error if isinstance(error, RecollectError) else RecollectError(type(error).__name__)
    log.warning("%s: %s", what, problem, exc_info=problem is not error)
    return problem


def _plus(so_far: Outcome, tally: Tally, seconds: float, cpu: float) -> Outcome:
    problem = so_far.problem or (None if tally.problem is None else str(tally.problem))
    return replace(
        so_far,
        done=so_far.done + tally.done,
        seconds=so_far.seconds + seconds,
        cpu=so_far.cpu + cpu,
        problem=problem,
    )


def marked(chore: Chore, mark: Mark, tally: Tally, seq: int, tender: Tender) -> Mark:
    """How far it has come. What failed is tried again later and later, at most once a day; but a chore of
    every round has noted with the row itself that it failed.

    What keeps failing, and not because something else is down, is parked: the chore goes on with what comes
    after it, and the mark still says that something was left behind.
    """
    now = tender.clock.now()
    # One that has not come all the way is due again at once: as if it had not been here.
    seq, at = (seq, now) if tally.reached is None else (min(seq, tally.reached), mark.at)
    if tally.problem is None:
        left_behind = chore.on_change and mark.after is None
        return Mark(seq, at, None, *((mark.failures, mark.problem) if left_behind else (0, None)))
    problem, failures = str(tally.problem)[:PROBLEM_LENGTH], mark.failures + 1
    if _found_by_rows(chore) and not tally.broken:
        return Mark(seq, now, None, failures, problem)
    if failures >= PARKED_AFTER and not isinstance(tally.problem, StoreError | ModelError | EmbedderError):
        return Mark(seq, at, None, failures, problem)
    first = timedelta(seconds=tender.settings.chore_retry_seconds)
    after = retry_after(failures, now, first, LONGEST_RETRY)
    return Mark(mark.seq, now, after, failures, problem)


def next_visit(chores: Sequence[Chore], marks: Marks, seq: int, settings: Settings, now: datetime) -> Visit:
    """When there is something to do again: in any case, and if anything changes after this place of the
    feed. A chore of every round is found by its rows."""
    due, soon = [now + LONGEST_RETRY], list[datetime]()
    for chore in chores:
        every, mark = chore.interval(settings), marks.get(chore.name, Mark())
        if _found_by_rows(chore) and mark.after is None:
            continue
        time = max(now if mark.at is None else mark.at + every, mark.after or now)
        if not chore.on_change or _pending(mark, seq):
            due.append(time)
        else:
            soon.append(time)
    return Visit(seq, min(due), min(soon, default=min(due)))
