"""The background: looks for rows that need something, takes a lease, puts them right.

Everything here can be killed at any moment and run any number of times. A job is about the database as a
whole; a chore (`tend/chores.py`) is done for one user at a time, by whoever has claimed that user.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, timedelta
from time import perf_counter

from recollect.errors import RecollectError
from recollect.ports.tending import JobState
from recollect.tend.chores import CHORES
from recollect.tend.projecting import project
from recollect.tend.tender import Done, Hold, Job, Outcome, Progress, Tender, leased
from recollect.tend.vectors import drop_vectors, tend_vectors
from recollect.tend.visits import Planned, plan_all, visit_all
from recollect.tracing import span

log = logging.getLogger("recollect.tend")

TOLD_EVERY = timedelta(seconds=5)
"""How often it is written down how far a long job has come."""


def run_once(tender: Tender, user: str | None = None) -> list[Outcome]:
    """Every job that has something to do and is not held by another worker, and every chore of every user
    that is due, once; or the chores of one user alone."""
    if user is not None:
        return visit_all(tender, CHORES, user)
    tender = replace(tender, progress=_telling(tender))
    # Whoever forgot something waits for no round to end: that may take hours.
    scrubbed = [_run(tender, "scrub", scrub)]
    outcomes = [_run(tender, name, job) for name, job in BEFORE.items()]
    again = _now_and_then(tender, lambda: scrubbed.append(_run(tender, "scrub", scrub)))
    outcomes += visit_all(tender, CHORES, between=again)
    outcomes += [_run(tender, name, job) for name, job in AFTER.items()]
    outcomes = [_summed([*scrubbed, one]) if one.job == "scrub" else one for one in outcomes]
    now = tender.clock.now()
    _note(tender, [JobState(o.job, now, o.seconds, o.done, o.problem) for o in outcomes if not o.elsewhere])
    return outcomes


def _now_and_then(tender: Tender, do: Callable[[], None]) -> Callable[[], None]:
    """To be called often; does it as often as rounds follow each other when there is little to do."""
    last, every = tender.clock.now(), timedelta(seconds=tender.settings.tend_seconds)

    def call() -> None:
        nonlocal last
        now = tender.clock.now()
        if abs(now - last) >= every:
            last = now
            do()

    return call


def _summed(runs: Sequence[Outcome]) -> Outcome:
    """What came of the runs of one job; what the last was kept by counts."""
    done, seconds = sum(run.done for run in runs), sum(run.seconds for run in runs)
    return replace(runs[-1], done=done, seconds=seconds, elsewhere=all(run.elsewhere for run in runs))


def _note(tender: Tender, states: list[JobState]) -> None:
    try:
        tender.store.note_jobs(states)
    except RecollectError as error:
        log.warning("What was done was not noted: %s", error)


def _telling(tender: Tender) -> Progress:
    """Tells whoever waits for it, and now and then everybody who asks the store."""
    told = tender.clock.now()

    def tell(job: str, done: int) -> None:
        nonlocal told
        tender.tell(job, done)
        now = tender.clock.now()
        if done and abs(now - told) >= TOLD_EVERY:
            told = now
            _note(tender, [JobState(job, now, 0.0, 0, runs=0, progress=done)])

    return tell


def plan(tender: Tender, user: str | None = None) -> Iterator[Planned]:
    """What would be done for users, or for one, and why."""
    return plan_all(tender, CHORES, user)


def _run(tender: Tender, name: str, job: Job) -> Outcome:
    started = perf_counter()
    done, problem, ours = 0, None, True
    try:
        if NEEDED.get(name, _always)(tender):
            with span(f"tend.{name}") as traced, _lease(tender, name) as hold:
                if ours := hold():
                    done, problem = job(tender, hold)
                    traced.set_attribute("done", done)
    except RecollectError as error:
        problem = error
    except Exception as error:
        log.exception("%s failed", name)
        problem = RecollectError(type(error).__name__)
    if problem is not None:
        log.warning("%s could not finish: %s", name, problem)
    told = None if problem is None else str(problem)
    return Outcome(name, done, perf_counter() - started, told, elsewhere=not ours)


def _lease(tender: Tender, name: str) -> AbstractContextManager[Hold]:
    """On the job as a whole, unless its workers share it out among themselves."""
    return nullcontext(lambda: True) if name == "project" else leased(tender, name)


def refresh_text(tender: Tender, hold: Hold) -> Done:
    """Build the text index anew when another release's analyser made it."""
    done = 0
    if not tender.store.text_is_current():
        for done in tender.store.rebuild_text():
            tender.tell("text", done)
            hold()
    return done, None


def scrub(tender: Tender, hold: Hold) -> Done:
    """Finish erasures: no byte of what was forgotten stays in the files."""
    return int(tender.store.needs_scrub() and tender.store.scrub()), None


def maintain(tender: Tender, hold: Hold) -> Done:
    """Partitions for the days to come, indexes for very large users, where the database has such."""
    return tender.store.maintain(), None


def shorten_audit(tender: Tender, hold: Hold) -> Done:
    """Let go of the audit of days that are long past. Only whole days go, so there is something to do once a
    day."""
    today = tender.clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return tender.store.drop_audit(today - timedelta(days=tender.settings.audit_days)), None


def _always(tender: Tender) -> bool:
    return True


NEEDED: dict[str, Callable[[Tender], bool]] = {
    "text": lambda tender: not tender.store.text_is_current(),
    "project": lambda tender: bool(tender.projections),
    "scrub": lambda tender: tender.store.needs_scrub(),
}
"""Where one look tells that there is nothing to do, nobody takes a lease: that is two writes a round."""
BEFORE: dict[str, Job] = {"text": refresh_text, "embed": tend_vectors, "drop": drop_vectors}
AFTER: dict[str, Job] = {"project": project, "scrub": scrub, "maintain": maintain, "audit": shorten_audit}
NAMES = (*BEFORE, *(chore.name for chore in CHORES), *AFTER)
"""What there is to do, in order."""
