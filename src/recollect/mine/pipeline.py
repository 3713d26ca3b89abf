"""From what was said to what is known: read the turns past the watermark, extract, plan, apply.

Each window is one transaction, which also moves the watermark: whatever happens, a window is mined once or
not at all. What fails is noted with its reason and tried again later; the turns stay as they are.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from recollect.errors import (
    Conflict,
    EmbedderError,
    ModelError,
    NotFound,
    QuotaExceeded,
    SettingsError,
    StoreError,
)
from recollect.limits import check_given, check_progress
from recollect.measuring import MEMORIES, MINED
from recollect.mine.extracted import Claim, Extraction, Window
from recollect.mine.land import embedded, plan_landing
from recollect.mine.palace import plan_closets, read_palace
from recollect.mine.shown import nearest
from recollect.mine.windows import Span, retry_after, spans
from recollect.model.changes import Change, Expect, Log, Revise
from recollect.model.mined import Mined
from recollect.model.records import FRESH, NEVER, PARKED, Conversation, Role, Turn
from recollect.ports.tending import PARKED_AFTER
from recollect.record.memories import indexed_all
from recollect.tracing import span
from recollect.workspace import Workspace, rereading

log = logging.getLogger("recollect.mine")

BEFORE = 4
"""How many turns before a window are shown with it."""
LONGEST_RETRY = timedelta(days=1)
SPOKEN = (Role.USER, Role.ASSISTANT, Role.TOOL)
NOT_ITS_FAULT = (ModelError, StoreError, EmbedderError, Conflict, QuotaExceeded)
"""Why mining may fail whatever was said."""

Progress = Callable[[int], None]
"""Is told how many turns are mined."""


def mine(work: Workspace, conversation: str | None, progress: Progress | None = None) -> list[Mined]:
    """Mine one conversation, or all that have turns past what was mined."""
    check_progress(progress)
    if conversation is None:
        waiting = [found.id for found in work.store.unmined() if found.mining_after != NEVER]
    else:
        waiting = [check_given("conversation", conversation)]
        if not work.store.get(Conversation, waiting):
            raise NotFound(f"There is no conversation {conversation!r}.")
    done: list[Mined] = []
    for id in waiting:
        done.append(mine_conversation(work, id))
        if progress:
            progress(sum(mined.turns for mined in done))
    return done


def mine_conversation(work: Workspace, id: str, going: Callable[[], bool] = lambda: True) -> Mined:
    """Mine a conversation to its end, window by window, as long as `going`."""
    with span("mine") as traced:
        done = _mine_windows(work, id, going)
        traced.set_attribute("turns", done.turns)
        traced.set_attribute("added", done.added)
        traced.set_attribute("problems", int(done.problem is not None))
    return done


def _mine_windows(work: Workspace, id: str, going: Callable[[], bool]) -> Mined:
    done = Mined(conversation=id)
    while going() and (conversation := next(iter(work.store.get(Conversation, [id])), None)) is not None:
        start, stop = conversation.mined_to, conversation.next_index
        part = next(spans(start, stop, work.settings.mine_whole, work.settings.mine_part), None)
        if part is None:
            break
        try:
            mined = _mine_window(work, conversation, part)
            work.measures.count(MINED, mined.turns)
            work.measures.count(MEMORIES, mined.added)
            done = _plus(done, mined)
        except SettingsError:
            raise
        except Exception as error:
            reason = reason_of(error)
            if not isinstance(error, ModelError | Conflict):
                log.exception("Mining failed; it is tried again later")
            with suppress(Conflict):
                park(work, id, reason, poisoned=not isinstance(error, NOT_ITS_FAULT))
            return replace(done, problem=reason)
    return done


def reason_of(error: Exception) -> str:
    """Why it failed, in words that quote nothing of what was said."""
    match error:
        case ModelError():
            return str(error)
        case Conflict():  # asked again at once, a model would be paid for nothing
            return "Others kept changing what it had read."
        case _:
            return type(error).__name__


def _plus(one: Mined, other: Mined) -> Mined:
    counts = ("turns", "added", "reinforced", "superseded", "refused", "entities", "relations")
    summed = {name: getattr(one, name) + getattr(other, name) for name in counts}
    return replace(one, way=other.way or one.way, **summed)


def _mine_window(work: Workspace, conversation: Conversation, part: Span) -> Mined:
    """Mine what was said in a part, up to where the channel changes: nothing leaves its own."""
    turns = _turns(work, conversation.id, part.start - BEFORE, part.stop)
    ours = tuple(turn for turn in turns if turn.index >= part.start)
    if not ours:
        return _land(work, Window(conversation, ()), _gap(work, conversation, part), Extraction(), {})
    channel, agent = ours[0].channel, ours[0].agent
    work = replace(work, scope=replace(work.scope, channel=channel, agent=agent))
    if other := next((turn for turn in ours if turn.channel != channel), None):
        part = part._replace(stop=other.index)
        ours = tuple(turn for turn in ours if turn.index < part.stop)
    before = (turn for turn in turns if turn.index < part.start and turn.channel == channel)
    window = Window(conversation, ours, tuple(before))
    spoken = tuple(turn for turn in ours if turn.role in SPOKEN)
    with span("mine.extract", turns=len(spoken)) as traced:
        extraction = _extracted(work, replace(window, turns=spoken)) if spoken else Extraction()
        traced.set_attribute("found", len(extraction.claims))
    with span("mine.embed"):
        vectors = embedded(work, extraction)
    with span("mine.land") as traced:
        mined = _land(work, window, part, extraction, vectors)
        traced.set_attribute("added", mined.added)
    return mined


def _gap(work: Workspace, conversation: Conversation, span: Span) -> Span:
    """The span, up to the next turn that there is: whoever gives turns their indexes may leave out many."""
    stop = conversation.next_index
    for turn in work.store.find(Turn, {"conversation": conversation.id}, order="index", descending=True):
        if turn.index < span.stop:
            break
        stop = turn.index
    return span._replace(stop=stop)


def _turns(work: Workspace, conversation: str, start: int, stop: int) -> list[Turn]:
    where = {"conversation": conversation, "index": list(range(max(0, start), stop))}
    return list(work.store.find(Turn, where, order="index"))


def _extracted(work: Workspace, window: Window) -> Extraction:
    from recollect.mine.pii import Policy, guarded

    if work.settings.miner == "rules" or (work.settings.miner == "auto" and work.model is None):
        from recollect.mine.rules.extract import extract

        found = extract(window)
    elif work.model is None:
        raise SettingsError("RECOLLECT_MINER=model needs a language model: set RECOLLECT_MODEL.")
    else:
        from recollect.mine import by_model

        found, _ = by_model.extract(work.model, window, nearest(work, window))
    return guarded(found, cast(Policy, work.wishes().pii or work.settings.pii))


@rereading
def _land(
    work: Workspace, window: Window, span: Span, extraction: Extraction, vectors: Mapping[str, Any]
) -> Mined:
    """Store what a window gave, unless somebody else has mined it meanwhile."""
    found = work.store.get(Conversation, [window.conversation.id])
    done = Mined(conversation=window.conversation.id, way=extraction.way)
    if not found or found[0].mined_to != span.start:
        return done
    living = _turns(work, found[0].id, span.start, span.stop) if window.turns else []
    if not {turn.id for turn in living} <= {turn.id for turn in window.turns}:
        return done  # somebody filled a gap
    if not window.turns and found[0] != window.conversation:
        return done
    window = replace(window, turns=tuple(living))
    kept = _of_turns(extraction, living)
    landing = work.reading(lambda work, view: plan_landing(work, view, window, kept, vectors))
    # Embedded here, not while the store is being read.
    chunks = dict(zip((e.id for e in landing.unindexed), indexed_all(work, landing.unindexed), strict=True))
    known = work.store.reading(lambda view: read_palace(view, window, kept.topics, kept.mentions))
    closets = plan_closets(window, kept.topics, kept.mentions, known)
    done = replace(
        done,
        turns=len(living),
        added=landing.resolved.added,
        reinforced=landing.resolved.reinforced,
        superseded=landing.resolved.superseded,
        refused=landing.resolved.refused,
        entities=landing.entities,
        relations=landing.relations,
    )
    changes: list[Change] = [Expect("conversation", found[0].id, found[0])]
    changes += [Expect("turn", turn.id, turn) for turn in living]
    changes += [*landing.indexed(chunks), *closets]
    changes.append(Revise("conversation", found[0].id, {"mined_to": span.stop, **FRESH}))
    changes += _event(work, done)
    work.apply(*changes)
    return done


def _of_turns(extraction: Extraction, turns: Sequence[Turn]) -> Extraction:
    """What does not rest on a turn that was erased meanwhile."""
    known = {turn.id for turn in turns}

    def rests(found: Any) -> bool:
        return bool(found.turns) and known.issuperset(found.turns)

    claims: Iterator[Claim] = filter(rests, extraction.claims)
    return replace(
        extraction,
        claims=tuple(claims),
        bonds=tuple(filter(rests, extraction.bonds)),
        mentions=tuple(filter(rests, extraction.mentions)),
    )


def _event(work: Workspace, done: Mined) -> tuple[Log, ...]:
    """That it was mined, how much landed, and by which settings."""
    counts = ("turns", "added", "reinforced", "superseded", "refused", "entities", "relations", "way")
    details: dict[str, Any] = {name: getattr(done, name) for name in counts}
    details |= {name: getattr(work.settings, name) for name in ("miner", "contradictions", "pii")}
    return work.log("mine", "conversation", count=done.added, conversation=done.conversation, details=details)


@rereading
def park(work: Workspace, id: str, reason: str, *, poisoned: bool = False) -> None:
    """Note why a conversation could not be mined or concluded, and when to try again: what is `poisoned` and
    keeps failing not by itself."""
    for found in work.store.get(Conversation, [id]):
        failures = found.mining_failures + 1
        first = timedelta(seconds=work.settings.mine_retry_seconds)
        after = retry_after(failures, work.clock.now(), first, LONGEST_RETRY)
        if poisoned and failures >= PARKED_AFTER:
            after = PARKED
        noted = {"mining_failures": failures, "mining_problem": reason[:500], "mining_after": after}
        work.apply(Expect("conversation", id, found), Revise("conversation", id, noted))
        log.warning("A conversation failed (%d times): %s", failures, reason)
