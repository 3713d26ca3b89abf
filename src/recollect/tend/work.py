"""The background: looks for rows that need something, takes a lease, puts them right.

Everything here can be killed at any moment and run any number of times.
"""

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import Store
from recollect.settings import Settings

log = logging.getLogger("recollect.tend")

EMBED_BATCH = 64

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one job did: how many rows it put right, or why it could not."""

    job: str
    done: int
    seconds: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Tender:
    """What the jobs work with."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    settings: Settings
    progress: Progress | None = None

    def tell(self, job: str, done: int) -> None:
        if self.progress:
            self.progress(job, done)


def run_once(tender: Tender) -> list[Outcome]:
    """Every job that has something to do and is not held by another worker, once."""
    return [_run(tender, name, job) for name, job in JOBS.items()]


def _run(tender: Tender, name: str, job: Callable[[Tender, Callable[[], bool]], int]) -> Outcome:
    started = perf_counter()
    holder = uuid.uuid4().hex
    span = timedelta(seconds=tender.settings.lease_seconds)

    def hold() -> bool:
        now = tender.clock.now()
        return tender.store.acquire(name, holder, now, now + span)

    done, problem = 0, None
    try:
        if hold():
            try:
                done = job(tender, hold)
            finally:
                tender.store.release(name, holder)
    except RecollectError as error:
        problem = str(error)
        log.warning("%s could not finish: %s", name, error)
    return Outcome(name, done, perf_counter() - started, problem)


def embed_waiting(tender: Tender, hold: Callable[[], bool]) -> int:
    """Fill in the vectors of chunks that were stored without one."""
    if tender.embedder is None:
        return 0
    space, done = tender.embedder.space, 0
    for user in tender.store.users_unembedded(space):
        store = tender.store.user(user)
        while waiting := store.unembedded(space, EMBED_BATCH):
            vectors = tender.embedder.embed_passages([chunk.text for chunk in waiting])
            filled = store.embed(space, {chunk.doc: v for chunk, v in zip(waiting, vectors, strict=True)})
            done += filled
            tender.tell("embed", done)
            if not filled:
                break  # another worker filled them in
            if not hold():
                return done
    return done


def refresh_text(tender: Tender, hold: Callable[[], bool]) -> int:
    """Build the text index anew when another release's analyser made it."""
    done = 0
    if not tender.store.text_is_current():
        for done in tender.store.rebuild_text():
            tender.tell("text", done)
            hold()
    return done


def scrub(tender: Tender, hold: Callable[[], bool]) -> int:
    """Finish erasures: no byte of what was forgotten stays in the files."""
    return int(tender.store.needs_scrub() and tender.store.scrub())


JOBS: dict[str, Callable[[Tender, Callable[[], bool]], int]] = {
    "text": refresh_text,
    "embed": embed_waiting,
    "scrub": scrub,
}
