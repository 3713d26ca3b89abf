"""The background looks after one user at a time: whoever has claimed them does all that is due for them."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import perf_counter

from recollect.errors import RecollectError
from recollect.mine.windows import retry_after
from recollect.model.scope import Scope
from recollect.ports.tending import Mark, Visit
from recollect.settings import Settings
from recollect.tend.steps import Chore, Tally, carry_out
from recollect.tend.tender import Outcome, Tender, new_holder, renewed
from recollect.workspace import Workspace

log = logging.getLogger("recollect.tend")

LONGEST_RETRY = timedelta(days=1)
ALWAYS = timedelta(0)


@dataclass(frozen=True, slots=True)
class Planned:
    """What the background would do, to whom and why."""

    user: str
    chore: str
    action: str
    kind: str
    id: str
    why: str


def visit_all(tender: Tender, chores: Sequence[Chore]) -> list[Outcome]:
    """Look after all users that somebody should look after; what came of each chore."""
    outcomes = {chore.name: Outcome(chore.name, 0, 0.0) for chore in chores}
    for user in _due(tender):
        if tender.stopping():
            break
        try:
            _visit(tender, user, chores, outcomes)
        except RecollectError as error:  # the others are looked after all the same
            log.warning("A user could not be looked after: %s", error)
    return list(outcomes.values())


def plan_all(tender: Tender, chores: Sequence[Chore]) -> Iterator[Planned]:
    """What `visit_all` would do, without doing it."""
    for user in _due(tender):
        work = tender.workspace(Scope(user))
        seq, marks, now = work.store.seq(), work.store.marks(), tender.clock.now()
        for chore in chores:
            mark = marks.get(chore.name, Mark())
            if is_due(chore, mark, seq, now, tender.settings):
                for step in chore.plan(work, mark):
                    yield Planned(user, chore.name, step.action, step.record.kind, step.record.id, step.why)


def _due(tender: Tender) -> list[str]:
    now = tender.clock.now()
    return tender.store.users_due(now, now - timedelta(minutes=tender.settings.idle_minutes))


def is_due(chore: Chore, mark: Mark, seq: int, now: datetime, settings: Settings) -> bool:
    if mark.after is not None and now < mark.after:
        return False
    if mark.at is not None and timedelta(0) <= now - mark.at < chore.every(settings):
        return False
    return not chore.on_change or mark.failures > 0 or seq > mark.seq


def _visit(tender: Tender, user: str, chores: Sequence[Chore], outcomes: dict[str, Outcome]) -> None:
    work, holder, settings = tender.workspace(Scope(user)), new_holder(), tender.settings
    hold = renewed(tender, lambda now, until: work.store.claim(holder, now, until))
    now, seq, marks = tender.clock.now(), work.store.seq(), work.store.marks()
    due = [chore for chore in chores if is_due(chore, marks.get(chore.name, Mark()), seq, now, settings)]
    if all(chore.every(settings) == ALWAYS and not _steps(work, chore, marks) for chore in due) or not hold():
        return
    for chore in due:
        mark, seq = marks.get(chore.name, Mark()), work.store.seq()
        started, tally = perf_counter(), Tally()
        try:
            before = outcomes[chore.name].done
            steps = chore.plan(work, mark)
            tally = carry_out(work, steps, hold, lambda n, b=before, c=chore: tender.tell(c.name, b + n))
        except Exception as error:
            problem = error if isinstance(error, RecollectError) else RecollectError(type(error).__name__)
            log.warning("%s failed for a user: %s", chore.name, problem, exc_info=problem is not error)
            tally.problem = problem
        outcomes[chore.name] = _plus(outcomes[chore.name], tally, perf_counter() - started)
        for action, times in tally.actions.items():
            tender.count(action, times)
        marks[chore.name] = _marked(chore, mark, tally, seq, tender)
        if not hold():
            break
    work.store.settle(holder, marks, _next_visit(chores, marks, work.store.seq(), settings, now))


def _steps(work: Workspace, chore: Chore, marks: Mapping[str, Mark]) -> bool:
    return next(chore.plan(work, marks.get(chore.name, Mark())), None) is not None


def _plus(so_far: Outcome, tally: Tally, seconds: float) -> Outcome:
    problem = so_far.problem or (None if tally.problem is None else str(tally.problem))
    return replace(so_far, done=so_far.done + tally.done, seconds=so_far.seconds + seconds, problem=problem)


def _marked(chore: Chore, mark: Mark, tally: Tally, seq: int, tender: Tender) -> Mark:
    """How far it has come. What failed is tried again later and later, at most once a day; but a chore of
    every round has noted with the row itself that it failed."""
    now = tender.clock.now()
    if tally.problem is None:
        return Mark(seq, now)
    if chore.every(tender.settings) == ALWAYS:
        return Mark(seq, now, None, mark.failures + 1, str(tally.problem)[:500])
    failures = mark.failures + 1
    first = timedelta(seconds=tender.settings.chore_retry_seconds)
    after = retry_after(failures, now, first, LONGEST_RETRY)
    return Mark(mark.seq, now, after, failures, str(tally.problem)[:500])


def _next_visit(
    chores: Sequence[Chore], marks: Mapping[str, Mark], seq: int, settings: Settings, now: datetime
) -> Visit:
    timed = [chore for chore in chores if chore.every(settings) > ALWAYS]
    times = {
        chore.name: max((marks[chore.name].at or now) + chore.every(settings), marks[chore.name].after or now)
        for chore in timed
        if chore.name in marks
    }
    due = [time for chore in timed if not chore.on_change and (time := times.get(chore.name))]
    failed = [mark.after for mark in marks.values() if mark.after is not None]
    soon = [time for chore in timed if chore.on_change and (time := times.get(chore.name))]
    missing = any(chore.name not in marks for chore in timed)
    return Visit(
        seq,
        now if missing else min([*due, *failed], default=now + LONGEST_RETRY),
        min(soon, default=now),
    )
