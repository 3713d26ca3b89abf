"""Vectors: those that are missing, those of a new model, those of models that are gone."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter, sleep

from recollect.errors import Conflict, EmbedderError, SettingsError
from recollect.model.space import Space
from recollect.ports.embedder import Embedder, Vectors
from recollect.ports.spending import metered_embedder
from recollect.ports.store import Unembedded, UserStore
from recollect.tend.tender import Done, Hold, Tender, leased
from recollect.workspace import REREADS, usable

log = logging.getLogger("recollect.tend")

EMBED_BATCH = 64
PATIENCE_SECONDS = 0.5
PROBE = "tea"
"""A text that every model takes that takes any."""

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
        filled = _fill(replace(tender, progress=tell), hold)
        done, idle = done + filled.done, 0 if filled.done else idle + 1
        if filled.down is not None:
            raise filled.down
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
    if not begun[0].active:
        with suppress(Conflict):  # something was recorded meanwhile, or is tried once more: next time
            tender.store.switch_space(space)
    return done, failure


@dataclass(slots=True)
class _Filled:
    """What came of it: why the model is down, and why it refuses a text while it takes others."""

    done: int = 0
    down: EmbedderError | None = None
    refused: EmbedderError | None = None


def embed_waiting(tender: Tender, hold: Hold) -> Done:
    """Fill in the vectors of chunks that were stored without one. A text that the model refuses holds
    up neither its neighbours nor other users, and is parked when it was refused often."""
    filled = _fill(tender, hold)
    return filled.done, filled.down or filled.refused


def _fill(tender: Tender, hold: Hold) -> _Filled:
    filled = _Filled()
    if tender.embedder is None:
        return filled
    for user in tender.store.users_unembedded(tender.embedder.space):
        store, last = tender.store.user(user), 0
        embedder = metered_embedder(tender.embedder, tender.spend(user))
        # Each chunk once: what is refused waits for the next round.
        while waiting := store.unembedded(embedder.space, EMBED_BATCH, last):
            last = waiting[-1].doc
            _embed_some(embedder, store, waiting, filled)
            tender.tell("embed", filled.done)
            if filled.down is not None or not hold():
                return filled
    return filled


def _embed_some(embedder: Embedder, store: UserStore, waiting: Sequence[Unembedded], filled: _Filled) -> None:
    """Fill in some vectors of one user, one by one if together they fail."""
    try:
        vectors = _vectors(embedder, [chunk.text for chunk in waiting])
        filled.done += store.embed(embedder.space, dict(zip(waiting, vectors, strict=True)))
        return
    except EmbedderError as error:
        failure = error
    for chunk in waiting:
        try:
            (vector,) = _vectors(embedder, [chunk.text])
            filled.done += store.embed(embedder.space, {chunk: vector})
        except EmbedderError as error:
            failure = error
            if not _answers(embedder):  # no text is at fault
                filled.down = failure
                return
            store.fail(embedder.space, [chunk])
            filled.refused = filled.refused or failure


def _answers(embedder: Embedder) -> bool:
    try:
        return len(_vectors(embedder, [PROBE])) == 1
    except EmbedderError:
        return False


def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Vectors that can be stored: whatever else an embedder does, it is as if it had refused the texts."""
    try:
        return usable(embedder.embed_passages(texts), (len(texts), embedder.space.dimensions))
    except EmbedderError:
        raise
    except Exception as error:
        log.warning("The embedder failed in a way of its own", exc_info=True)
        raise EmbedderError(f"The embedder failed with {type(error).__name__}.") from error


def drop_vectors(tender: Tender, hold: Hold) -> Done:
    """Delete the vectors of models that are no longer searched, a few at a time."""
    done = 0
    for done in tender.store.drop_retired():
        tender.tell("drop", done)
        if not hold():
            break
    return done, None
