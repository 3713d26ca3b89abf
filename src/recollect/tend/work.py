"""The background: looks for rows that need something, takes a lease, puts them right.

Everything here can be killed at any moment and run any number of times.
"""

import logging
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from time import perf_counter, sleep

from recollect.errors import Conflict, EmbedderError, ModelError, RecollectError, SettingsError
from recollect.model.scope import Scope
from recollect.model.space import Space
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.spending import Spend, metered_embedder, nobody
from recollect.ports.store import Store, UserStore
from recollect.settings import Settings
from recollect.tend.mining import is_ready
from recollect.workspace import REREADS, Workspace

log = logging.getLogger("recollect.tend")

EMBED_BATCH = 64
PATIENCE_SECONDS = 0.5

Progress = Callable[[str, int], None]
"""Is told a job's name and how many rows it has put right."""
Counted = Callable[[int, int], None]
"""Is told how many are done, of how many."""


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
    workspace: Callable[[Scope], Workspace]
    progress: Progress | None = None
    stopping: Callable[[], bool] = lambda: False
    spend: Callable[[str], Spend] = lambda user: nobody
    """Who is told what models use for a user."""

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


def rebuild_vectors(tender: Tender, progress: Counted | None = None) -> int:
    """Search by the embedder's vectors, once there is one of every chunk; how many were computed.

    What was computed for another model than the one that is searched is kept, so that this can be
    stopped and run again. The vectors of the model that is searched are computed anew.
    """
    if tender.embedder is None:
        raise SettingsError("There is no embedder to compute vectors with (RECOLLECT_EMBEDDER).")
    store, space = tender.store, tender.embedder.space
    with _lease(tender, "embed") as hold:
        if not _patiently(tender, hold):
            raise Conflict("Another worker is computing vectors: try again when it is done.")
        active = store.active_space()
        if active is not None and active.compares_with(space):
            store.reset_space(space)
        else:
            store.add_space(space)
        return _fill_and_switch(tender, space, hold, progress)


def _patiently(tender: Tender, hold: Hold) -> bool:
    """Take the lease, also one that a worker left behind that was killed: it runs out."""
    end = perf_counter() + tender.settings.lease_seconds
    while not hold():
        if tender.stopping() or perf_counter() > end:
            return False
        sleep(PATIENCE_SECONDS)
    return True


def _fill_and_switch(tender: Tender, space: Space, hold: Hold, progress: Counted | None) -> int:
    """Compute what is missing, and once more what was recorded meanwhile, until nothing is."""
    (state,) = (state for state in tender.store.spaces() if state.space.compares_with(space))
    begun, done, idle = state.chunks - state.waiting, 0, 0

    def tell(_: str, some: int) -> None:
        if progress:
            reached = begun + done + some
            progress(reached, max(reached, state.chunks))

    while True:
        tell("", 0)
        some, problem = embed_waiting(replace(tender, progress=tell), hold)
        done, idle = done + some, 0 if some else idle + 1
        if problem is not None:
            raise problem
        try:
            tender.store.switch_space(space)
            return done
        except Conflict:
            if idle > REREADS or not hold():
                raise


def tend_vectors(tender: Tender, hold: Hold) -> Done:
    """Fill in missing vectors. A space that somebody began with this model is searched once it is full:
    beginning it was the decision."""
    if tender.embedder is None:
        return 0, None
    space = tender.embedder.space
    begun = [state for state in tender.store.spaces() if state.space.compares_with(space)]
    if not begun:
        return 0, None
    tender.store.add_space(space)  # whoever began it may have been interrupted
    done, failure = embed_waiting(tender, hold)
    if failure is None and not begun[0].active:
        with suppress(Conflict):  # something was recorded meanwhile: next time
            tender.store.switch_space(space)
    return done, failure


def embed_waiting(tender: Tender, hold: Hold) -> Done:
    """Fill in the vectors of chunks that were stored without one. A text that the model refuses holds
    up neither its neighbours nor other users."""
    if tender.embedder is None:
        return 0, None
    done, failure = 0, None
    for user in tender.store.users_unembedded(tender.embedder.space):
        store, filled = tender.store.user(user), 1
        embedder = metered_embedder(tender.embedder, tender.spend(user))
        while filled:
            filled, error = _embed_some(embedder, store)
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


def drop_vectors(tender: Tender, hold: Hold) -> Done:
    """Delete the vectors of models that are no longer searched, a few at a time."""
    done = 0
    for done in tender.store.drop_retired():
        tender.tell("drop", done)
        if not hold():
            break
    return done, None


def refresh_text(tender: Tender, hold: Hold) -> Done:
    """Build the text index anew when another release's analyser made it."""
    done = 0
    if not tender.store.text_is_current():
        for done in tender.store.rebuild_text():
            tender.tell("text", done)
            hold()
    return done, None


def mine(tender: Tender, hold: Hold) -> Done:
    """Mine the conversations that are ready for it; one that cannot be holds up no other."""
    from recollect.mine.pipeline import mine_conversation  # not needed to record and recall

    done, failure = 0, None
    for user in tender.store.users_unmined(tender.clock.now()):
        work = tender.workspace(Scope(user))
        for conversation in work.store.unmined(now=tender.clock.now()):
            if not hold():
                return done, failure
            if is_ready(work, conversation):
                mined = mine_conversation(work, conversation.id, hold)
                done += mined.turns
                tender.tell("mine", done)
                failure = failure or (ModelError(mined.problem) if mined.problem else None)
    return done, failure


def scrub(tender: Tender, hold: Hold) -> Done:
    """Finish erasures: no byte of what was forgotten stays in the files."""
    return int(tender.store.needs_scrub() and tender.store.scrub()), None


def maintain(tender: Tender, hold: Hold) -> Done:
    """Partitions for the days to come, indexes for very large users, where the database has such."""
    return tender.store.maintain(), None


JOBS: dict[str, Job] = {
    "text": refresh_text,
    "embed": tend_vectors,
    "drop": drop_vectors,
    "mine": mine,
    "scrub": scrub,
    "maintain": maintain,
}
