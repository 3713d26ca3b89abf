"""The background: looks for rows that need something, takes a lease, puts them right.

Everything here can be killed at any moment and run any number of times.
"""

import logging
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from recollect.errors import Conflict, EmbedderError, RecollectError, SettingsError
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import Store, UserStore
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
    stopping: Callable[[], bool] = lambda: False

    def tell(self, job: str, done: int) -> None:
        if self.progress:
            self.progress(job, done)


Hold = Callable[[], bool]
"""Takes or renews the job's lease: True while it is ours and there is no stopping."""
Done = tuple[int, RecollectError | None]
"""How many rows were put right, and what kept others from it."""
Job = Callable[[Tender, Hold], Done]


def run_once(tender: Tender) -> list[Outcome]:
    """Every job that has something to do and is not held by another worker, once."""
    return [_run(tender, name, job) for name, job in JOBS.items()]


def _run(tender: Tender, name: str, job: Job) -> Outcome:
    started = perf_counter()
    done, problem = 0, None
    try:
        with _lease(tender, name) as hold:
            done, problem = job(tender, hold) if hold() else (0, None)
    except RecollectError as error:
        problem = error
    if problem is not None:
        log.warning("%s could not finish: %s", name, problem)
    return Outcome(name, done, perf_counter() - started, None if problem is None else str(problem))


@contextmanager
def _lease(tender: Tender, name: str) -> Generator[Hold]:
    holder = uuid.uuid4().hex
    span = timedelta(seconds=tender.settings.lease_seconds)

    def hold() -> bool:
        now = tender.clock.now()
        return not tender.stopping() and tender.store.acquire(name, holder, now, now + span)

    try:
        yield hold
    finally:
        tender.store.release(name, holder)


def rebuild_vectors(tender: Tender) -> int:
    """Compute every vector anew, then search by those; `Conflict` while another worker embeds."""
    if tender.embedder is None:
        raise SettingsError("There is no embedder to compute vectors with (RECOLLECT_EMBEDDER).")
    with _lease(tender, "embed") as hold:
        if not hold():
            raise Conflict("Another worker is computing vectors: try again when it is done.")
        tender.store.reset_space(tender.embedder.space)
        done, problem = embed_waiting(tender, hold)
        if problem is not None:
            raise problem
        tender.store.switch_space(tender.embedder.space)
    return done


def embed_waiting(tender: Tender, hold: Hold) -> Done:
    """Fill in the vectors of chunks that were stored without one. A text that the model refuses holds
    up neither its neighbours nor other users."""
    if tender.embedder is None:
        return 0, None
    done, failure = 0, None
    for user in tender.store.users_unembedded(tender.embedder.space):
        store, filled = tender.store.user(user), 1
        while filled:
            filled, error = _embed_some(tender.embedder, store)
            done, failure = done + filled, failure or error
            tender.tell("embed", done)
            if not hold():
                return done, failure
        if failure is not None and not done:
            break  # the model is down, not one text at fault
    return done, failure


def _embed_some(embedder: Embedder, store: UserStore) -> tuple[int, EmbedderError | None]:
    """Fill in the next few vectors of one user, one by one if together they fail."""
    waiting = store.unembedded(embedder.space, EMBED_BATCH)
    if not waiting:
        return 0, None
    try:
        vectors = embedder.embed_passages([chunk.text for chunk in waiting])
        return store.embed(embedder.space, dict(zip(waiting, vectors, strict=True))), None
    except EmbedderError as error:
        if len(waiting) == 1:
            return 0, error
        failure = error
    filled = 0
    for chunk in waiting:
        try:
            filled += store.embed(embedder.space, {chunk: embedder.embed_passages([chunk.text])[0]})
        except EmbedderError as error:
            failure = error
            if not filled:
                break
    return filled, failure


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


JOBS: dict[str, Job] = {
    "text": refresh_text,
    "embed": embed_waiting,
    "scrub": scrub,
    "maintain": maintain,
}
