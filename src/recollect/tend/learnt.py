"""What a procedure that was learnt rests on: pure, but for looking up who else could word it.

An episode is counted by the turn that it begins with, which the procedure cites: so it is counted once
however often it is looked at, and no longer once that turn is erased.
"""

import hmac
import re
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, cast

from recollect.mine.entities import REINFORCED
from recollect.mine.tools import sequence
from recollect.mine.versions import said_at
from recollect.model.changes import Change, Chunk, Expect, Put, Remove
from recollect.model.records import LEARNT, Episode, Procedure, counted, learnt_from
from recollect.record.memories import indexed
from recollect.text.analyse import terms
from recollect.workspace import Workspace

SHARED = 0.4
"""The part of the words of two goals that they share when they are of one kind."""
MOST_COUNTED = 200
"""How many episodes a procedure names; of more, the oldest are counted and no longer named."""
GAP = "…"
CONCLUDED = "concluded"
"""In the metadata of what was made of a conversation as a whole: up to which turn."""


def conversation_slot(secret: bytes, conversation: str) -> str:
    """The slot of a conversation's episode. Keyed, because a conversation's id is a name."""
    name = conversation.encode("utf-8", "surrogatepass")
    return f"conversation|{hmac.digest(secret, name, 'sha256').hex()}"


def is_same_way(procedure: Procedure, episode: Episode, near: bool) -> bool:
    """Whether an episode is another case of a procedure; `near` says that the two mean much the same."""
    if procedure.tools != sequence(episode.tools):
        return False
    first, second = {*terms(procedure.context)}, {*terms(episode.goal)}
    return near or len(first & second) >= SHARED * len(first | second) > 0


def pattern(context: str, goal: str) -> str:
    """What two goals have in common, word for word, with a gap for what they do not; all of the first when
    hardly anything would be left."""
    one, two = context.split(), goal.split()
    match = SequenceMatcher(None, [_bare(w) for w in one], [_bare(w) for w in two], autojunk=False)
    kept: list[str] = []
    at = 0
    for start, _, size in match.get_matching_blocks():
        if start > at and (not kept or kept[-1] != GAP):
            kept.append(GAP)
        kept += one[start : start + size]
        at = start + size
    left = " ".join(kept)
    return left if len({*terms(left)}) >= SHARED * len({*terms(context)}) and terms(left) else context


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:!?\"'")


def described(context: str, tools: Collection[str], lesson: str) -> str:
    """A procedure in words that can be understood by themselves."""
    lesson = f" {lesson.rstrip('.')}." if lesson else ""
    return f'For the task "{context}": use {", then ".join(tools)}.{lesson}'


def reinforced(procedure: Procedure, episode: Episode) -> Procedure:
    """The procedure, with one more case of it, or with another outcome of a case that it counts."""
    first, went = episode.sources[0], bool(episode.success)
    cases = counted(procedure)
    before = cases.get(first)
    known = {**cases, first: went}
    learnt = dict(learnt_from(procedure))
    kept = [turn for turn in known if turn not in _worded_by(procedure)]
    for turn in kept[: max(0, len(known) - MOST_COUNTED)]:
        del known[turn]
    learnt["counted"] = known
    used = max(filter(None, (procedure.last_used, said_at(episode))))
    context = pattern(procedure.context, episode.goal) if procedure.context and went else procedure.context
    return replace(
        procedure,
        successes=procedure.successes + went - (before is True),
        failures=procedure.failures + (not went) - (before is False),
        last_used=used,
        salience=procedure.salience + (1 - procedure.salience) * REINFORCED * (went and before is None),
        context=context,
        content=described(context, procedure.tools, str(learnt.get("lesson") or ""))
        if context
        else procedure.content,
        sources=_cited(learnt),
        metadata={**procedure.metadata, LEARNT: learnt},
    )


def worded(procedure: Procedure, episode: Episode) -> Procedure:
    """The procedure in the words of an episode, which it then rests on."""
    lesson = re.sub(r"\s+", " ", episode.lessons).strip()
    learnt = {**learnt_from(procedure), "worded": list(episode.sources), "lesson": lesson}
    return replace(
        procedure,
        context=episode.goal,
        content=described(episode.goal, procedure.tools, lesson),
        sources=_cited(learnt),
        metadata={**procedure.metadata, LEARNT: learnt},
    )


def _worded_by(procedure: Procedure) -> set[str]:
    return {*_words_from(learnt_from(procedure))}


def _words_from(learnt: Mapping[str, Any]) -> list[str]:
    found: object = learnt.get("worded")
    return [*map(str, cast(list[object], found))] if isinstance(found, list | tuple) else []


def _cited(learnt: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_words_from(learnt), *learnt["counted"])))


def without(procedure: Procedure, turns: Collection[str]) -> Procedure | None:
    """The procedure without the cases that begin with these turns; None when nothing speaks for it then."""
    cases = counted(procedure)
    gone = [went for turn, went in cases.items() if turn in turns]
    kept = {turn: went for turn, went in cases.items() if turn not in turns}
    learnt = {**learnt_from(procedure), "counted": kept}
    successes = procedure.successes - gone.count(True)
    if successes <= 0:
        return None
    return replace(
        procedure,
        successes=successes,
        failures=max(0, procedure.failures - gone.count(False)),
        sources=tuple(id for id in _cited(learnt) if id not in turns),
        metadata={**procedure.metadata, LEARNT: learnt},
    )


def unlearnt(work: Workspace, procedure: Procedure, turns: AbstractSet[str]) -> Procedure | None:
    """What is left of a procedure without some turns: fewer cases, and no word that came from them."""
    left = without(procedure, turns)
    if left is None or not turns & _worded_by(procedure):
        return left
    others = work.store.get(Episode, list(work.store.linking("sources", list(counted(left)))))
    cases = counted(left)
    for episode in others:
        first = next(iter(episode.sources), "")
        ours = sequence(episode.tools) == left.tools and cases.get(first) is True
        if ours and episode.goal and not turns & {*episode.sources}:
            return worded(left, episode)
    return None


def forgone(work: Workspace, procedure: Procedure, turns: AbstractSet[str]) -> list[Change]:
    """What has to change for a procedure to be without some turns."""
    left = unlearnt(work, procedure, turns)
    if left is None:
        return [Expect("procedure", procedure.id, procedure), Remove("procedure", (procedure.id,))]
    return [Expect("procedure", procedure.id, procedure), Put(left, rechunked(work, procedure, left))]


def rechunked(work: Workspace, old: Procedure, new: Procedure) -> tuple[Chunk, ...] | None:
    """What is searched of a procedure, if that has changed."""
    return None if old.content == new.content else indexed(work, new)
