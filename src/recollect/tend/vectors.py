"""Vectors: those that are missing, those of a new model, those of models that are gone."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import perf_counter, sleep

from recollect.errors import Conflict, EmbedderError, SettingsError
from recollect.model.space import Space
from recollect.ports.embedder import Embedder
from recollect.ports.spending import metered_embedder
from recollect.ports.store import UserStore
from recollect.tend.tender import Done, Hold, Tender, leased
from recollect.workspace import REREADS

EMBED_BATCH = 64
PATIENCE_SECONDS = 0.5

Counted = Callable[[int, int], None]
"""Is told how many are done, of how many."""


def rebuild_vectors(tender: Tender, progress: Counted | None = None) -> int:
    """Search by the embedder's vectors, once there is one of every chunk; how many were computed.

    What was computed for another model than the one that is searched is kept, so that this can be
    stopped and run again. The vectors of the model that is searched are computed anew.
    """
    if tender.embedder is None:
        raise SettingsError("There is no embedder to compute vectors with (RECOLLECT_EMBEDDER).")
    store, space = tender.store, tender.embedder.space
    with leased(tender, "embed") as hold:
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
