"""Procedures learnt from what was done: which tools served which kind of task, how often with success."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from recollect.errors import Conflict, RecollectError
from recollect.mine.tools import sequence
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import LEARNT, Episode, Procedure, Tombstone, counted
from recollect.model.search import Filter, Search
from recollect.ports.tending import Mark
from recollect.record.memories import indexed, tombstone_digest
from recollect.record.retention import mortal, renewed
from recollect.tend.learnt import forgone, is_same_way, rechunked, reinforced, worded
from recollect.tend.steps import Step
from recollect.tend.tender import Hold
from recollect.text.analyse import query_terms
from recollect.workspace import Workspace, rereading

NEAREST = 10
"""How many of the procedures most like a task are looked at."""


def plan_patterns(work: Workspace, mark: Mark) -> Iterator[Step]:
    """The episodes whose outcome is to be counted."""
    changed = [entry.id for entry in work.store.changed(("episode",), mark.seq)]
    for episode in work.store.get(Episode, changed):
        if is_telling(episode) and not _is_counted(work, episode):
            went = {True: "went well", False: "failed", None: "is open again"}[episode.success]
            why = f"a task with {len(episode.tools)} tools {went}"
            yield Step(action="learn", record=episode, why=why, do=_learning(work, episode.id))


def is_telling(episode: Episode) -> bool:
    """Whether anything can be learnt from it."""
    return bool(episode.tools and episode.goal and episode.sources) and episode.retired_at is None


def _is_counted(work: Workspace, episode: Episode) -> bool:
    known = _counting(work, episode)
    if known is None:
        return episode.success is None
    return counted(known)[episode.sources[0]] is episode.success and known.tools == sequence(episode.tools)


def _learning(work: Workspace, id: str) -> Callable[[Hold], int]:
    def do(hold: Hold) -> int:
        try:
            return learn(work, id)
        except Conflict:  # it would not be found again, as what failed is
            raise RecollectError("Others kept changing what it had read.") from None

    return do


@rereading
def learn(work: Workspace, id: str) -> int:
    """Count how a task went for the procedure that it followed, or make a procedure of it. The episode is
    marked, so that whoever erases it meanwhile looks again."""
    found = work.store.get(Episode, [id])
    if not found or not is_telling(found[0]) or _is_counted(work, found[0]):
        return 0
    (episode,) = found
    work = replace(work, scope=replace(work.scope, channel=episode.channel, agent=episode.agent))
    changes: list[Change] = [Expect("episode", id, episode)]
    before = _counting(work, episode)
    known = before if before is not None and before.tools == sequence(episode.tools) else None
    if before is not None and (known is None or episode.success is None):
        changes += forgone(work, before, {episode.sources[0]})
    if episode.success is not None:
        known = known or _like(work, episode)
        changes += _counted_in(work, known, episode)
    if len(changes) == 1:
        return 0
    changes.append(Put(replace(episode, metadata={**episode.metadata, LEARNT: True})))
    work.apply(
        *changes, *work.log("learn", f"episode {id}", kind="procedure", details={"success": episode.success})
    )
    return 1


def _counted_in(work: Workspace, known: Procedure | None, episode: Episode) -> list[Change]:
    now, policy = work.clock.now(), work.retention()
    if known is not None:
        new = renewed(reinforced(known, episode), policy, now)
        return [Expect("procedure", known.id, known), Put(new, rechunked(work, known, new))]
    if not episode.success:
        return []
    first = Procedure(
        id=work.new_id(),
        content="",
        recorded_at=now,
        valid_from=episode.valid_from,
        channel=episode.channel,
        agent=episode.agent,
        confidence=work.settings.inferred_confidence,
        salience=work.settings.mined_salience,
        origin=LEARNT,
        tools=sequence(episode.tools),
    )
    new = mortal(worded(reinforced(first, episode), episode), policy, now)
    if work.store.count(Tombstone, {"digest": tombstone_digest(work.store.secret(), new.content)}):
        return []
    return [Expect("procedure", new.id, None), Put(new, indexed(work, new))]


def _counting(work: Workspace, episode: Episode) -> Procedure | None:
    """The procedure that counts the episode."""
    first = episode.sources[0]
    citing = work.store.get(Procedure, list(work.store.linking("sources", [first])))
    return next((p for p in citing if p.origin == LEARNT and first in counted(p)), None)


def _like(work: Workspace, episode: Episode) -> Procedure | None:
    """The procedure that the episode followed: the same tools for a task of the same kind. Also one that
    somebody has corrected, which is then counted and not learnt anew."""
    (vector,) = work.embed([episode.goal])
    filter = Filter(now=work.clock.now(), kinds=("procedure",), channels=(episode.channel,), in_force=False)
    words = tuple(query_terms(episode.goal))
    search = Search(filter=filter, terms=words, vector=vector, space=work.space, limit=NEAREST)
    found = {one.owner: one.similarity or 0.0 for one in work.store.search(search)}
    near = [p for p in work.store.get(Procedure, list(found)) if p.origin == LEARNT]
    least = work.settings.pattern_similarity
    return next((p for p in near if is_same_way(p, episode, found[p.id] >= least)), None)
