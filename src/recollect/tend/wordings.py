"""When two memories say the same, and what becomes of them then; pure.

They do when they have the same words, or mean the same with every number, name and negation alike. The words
of the one that goes are kept beside the other's, with the turns that say them, so that each can be forgotten
alone.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from recollect.mine.resolve import MOST_SOURCES, REVIEW
from recollect.mine.slots import rewords
from recollect.model.records import MINED, MemoryRecord, Procedure, mined
from recollect.tend.learnt import LEARNT
from recollect.text.names import folded

MOST_WORDINGS = 8
LONGEST = 500
"""How many other wordings a memory may have, and of how many characters; beyond that only what has the same
words is merged."""
WORDINGS = "wordings"
"""In the metadata of a memory that others were merged into: its own turns, and the words of the others."""
_PUNCTUATION = re.compile(r"[^\w\s]+")


def is_mergeable(memory: MemoryRecord, now: datetime) -> bool:
    """It holds, was not corrected, waits for nobody to look at it, and was not learnt from episodes."""
    in_force = memory.retired_at is None and memory.superseded_by is None
    holds = memory.valid_to is None and (memory.expires_at is None or memory.expires_at > now)
    return in_force and holds and memory.origin != LEARNT and REVIEW not in mined(memory)


def is_same(one: MemoryRecord, other: MemoryRecord, near: bool) -> bool:
    """Whether two memories of one kind and channel say the same; `near`: they resemble each other."""
    if one.tense is not other.tense or one.stated_to or other.stated_to:
        return False
    for name in ("since", "until"):
        if mined(one).get(name) != mined(other).get(name) and one.slot and other.slot:
            return False
    if _bare(one.content) == _bare(other.content):
        return True
    first, second = (folded(str(mined(m).get("value", ""))) for m in (one, other))
    if first and second and (first != second or mined(one).get("denies") != mined(other).get("denies")):
        return False
    return near and rewords(one.content, other.content)


def _bare(text: str) -> str:
    """The words, whatever their case and punctuation. What is nothing but punctuation stays as it is."""
    return folded(_PUNCTUATION.sub(" ", text)) or text


def survivor(one: MemoryRecord, other: MemoryRecord) -> tuple[MemoryRecord, MemoryRecord]:
    """The one that stays and the one that goes: pinned, given outright, said more often, older."""

    def rank(memory: MemoryRecord) -> tuple[bool, bool, int, datetime, str]:
        explicit = memory.origin == "explicit"
        return not memory.pinned, not explicit, -len(memory.sources), memory.recorded_at, memory.id

    first, second = sorted((one, other), key=rank)
    return first, second


def may_merge(kept: MemoryRecord, gone: MemoryRecord) -> bool:
    """Not two that are pinned, not one that corrects another or has notes of its own that would be lost, and
    not more than one can hold."""
    if any(kept.metadata.get(name) != value for name, value in _given(gone).items()):
        return False
    if (kept.pinned and gone.pinned) or gone.supersedes or len({*kept.sources, *gone.sources}) > MOST_SOURCES:
        return False
    if _bare(kept.content) == _bare(gone.content) and not others(gone):
        return True
    wordings = [*others(kept), *others(gone), {"content": gone.content}]
    return len(wordings) <= MOST_WORDINGS and max(len(w["content"]) for w in wordings) <= LONGEST


def _wordings(memory: MemoryRecord) -> Mapping[str, Any]:
    found: object = memory.metadata.get(WORDINGS)
    return cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}


def _given(memory: MemoryRecord) -> dict[str, Any]:
    """What somebody noted with a memory."""
    return {name: value for name, value in memory.metadata.items() if name not in (MINED, WORDINGS)}


def others(memory: MemoryRecord) -> list[Mapping[str, Any]]:
    """The words of those that were merged into a memory, each with the turns that say them."""
    return [*_wordings(memory).get("others", ())]


def own_sources(memory: MemoryRecord) -> tuple[str, ...]:
    """The turns that say it in the words that it has."""
    return tuple(_wordings(memory).get("own", memory.sources))


def merged(kept: MemoryRecord, gone: MemoryRecord) -> MemoryRecord:
    """The memory that stays, with all that was known of both."""
    base, wordings = _worded(kept), [*others(kept), *others(gone)]
    theirs = _worded(gone)
    if _bare(kept.content) == _bare(gone.content):
        base = {
            "content": kept.content,
            "sources": [*dict.fromkeys((*base["sources"], *theirs["sources"]))],
            "slot": base["slot"] or theirs["slot"],
            "mined": base["mined"] or theirs["mined"],
        }
    else:
        wordings.append(theirs)
    spoken = _spoken(kept, base, wordings)
    ends = (kept.expires_at, gone.expires_at)
    counts = _counts(kept, gone)
    initial = [m.initial if m.initial is not None else m.confidence for m in (kept, gone)]
    aged = kept.initial is not None or gone.initial is not None
    return replace(
        spoken,
        sources=tuple(dict.fromkeys((*kept.sources, *gone.sources))),
        about=tuple(dict.fromkeys((*kept.about, *gone.about))),
        confidence=max(kept.confidence, gone.confidence),
        initial=max(initial) if aged else None,
        salience=max(kept.salience, gone.salience),
        valid_from=min(kept.valid_from, gone.valid_from),
        expires_at=None if None in ends else max(e for e in ends if e is not None),
        slot=spoken.slot,
        metadata=spoken.metadata,
        **counts,
    )


def _counts(kept: MemoryRecord, gone: MemoryRecord) -> dict[str, Any]:
    if not (isinstance(kept, Procedure) and isinstance(gone, Procedure)):
        return {}
    return {
        "successes": kept.successes + gone.successes,
        "failures": kept.failures + gone.failures,
        "tools": kept.tools or gone.tools,
        "context": kept.context or gone.context,
        "last_used": max((t for t in (kept.last_used, gone.last_used) if t), default=None),
    }


def _worded(memory: MemoryRecord) -> dict[str, Any]:
    """What a memory says by itself, whatever was merged into it."""
    known: Mapping[str, Any] = _wordings(memory) or {
        "own": memory.sources,
        "slot": memory.slot,
        "mined": memory.metadata.get(MINED),
    }
    return {
        "content": memory.content,
        "sources": [*known["own"]],
        "slot": known.get("slot"),
        "mined": known.get("mined"),
    }


def _spoken(
    memory: MemoryRecord, base: Mapping[str, Any], wordings: Sequence[Mapping[str, Any]]
) -> MemoryRecord:
    """The memory in these words, beside others; where they leave open what it answers, the others tell."""
    told = [base, *wordings]
    slot = next((wording["slot"] for wording in told if wording["slot"]), None)
    read = next((wording["mined"] for wording in told if wording["mined"]), None)
    metadata = _given(memory)
    if read:
        metadata[MINED] = read
    if wordings:
        own = {"own": base["sources"], "slot": base["slot"], "mined": base["mined"]}
        metadata[WORDINGS] = {**own, "others": [*wordings]}
    return replace(memory, content=base["content"], slot=slot, metadata=metadata)


def unsaid_by(memory: MemoryRecord, turns: AbstractSet[str]) -> MemoryRecord:
    """A merged memory without turns that are erased: in other words, when nobody is left who said those that
    it has, and without the words that only they said."""
    told = [
        {**wording, "sources": kept}
        for wording in (_worded(memory), *others(memory))
        if (kept := [turn for turn in wording["sources"] if turn not in turns])
    ]
    sources = tuple(turn for turn in memory.sources if turn not in turns)
    return replace(_spoken(memory, told[0], told[1:]) if told else memory, sources=sources)


def is_merged(memory: MemoryRecord) -> bool:
    return WORDINGS in memory.metadata
