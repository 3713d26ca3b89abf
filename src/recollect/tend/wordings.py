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
from recollect.model.records import DERIVED, LEARNT, MINED, WORDINGS, MemoryRecord, Procedure, mined
from recollect.record.retention import TTL
from recollect.text.analyse import query_terms, terms
from recollect.text.names import folded

MOST_WORDINGS = 8
LONGEST = 500
"""How many other wordings a memory may have, and of how many characters; beyond that only what has the same
words is merged."""
_CAPITAL = re.compile(r"\b[^\W\d_a-z]\w+")
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
    if not (_names(one, other) and _names(other, one)):
        return False
    first, second = (folded(str(mined(m).get("value", ""))) for m in (one, other))
    if first and second and (first != second or mined(one).get("denies") != mined(other).get("denies")):
        return False
    return near and rewords(one.content, other.content)


def _names(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether the other names all that is named here, also at the beginning of a sentence; and whether both
    are about the same, as far as that is known."""
    words = {*folded(other.content).split(), *terms(other.content)}
    named = (name for name in _CAPITAL.findall(one.content) if query_terms(name))
    apart = one.about and other.about and {*one.about}.isdisjoint(other.about)
    return not apart and all(folded(name) in words or {*terms(name)} <= words for name in named)


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
    """Not two that are pinned, not one that corrects another or has notes or an end of its own that would be
    lost, and not more than one can hold."""
    if any(kept.metadata.get(name) != value for name, value in _notes(gone).items()):
        return False
    if _own_end(kept) != _own_end(gone):
        return False
    if (kept.pinned and gone.pinned) or gone.supersedes or len({*kept.sources, *gone.sources}) > MOST_SOURCES:
        return False
    if _bare(kept.content) == _bare(gone.content) and not others(gone):
        return True
    wordings = [*others(kept), *others(gone), {"content": gone.content}]
    return len(wordings) <= MOST_WORDINGS and max(len(w["content"]) for w in wordings) <= LONGEST


def _wordings(memory: MemoryRecord) -> Mapping[str, Any]:
    """What was kept when others were merged into a memory. Metadata may come from anybody: what is not as we
    write it is none of ours."""
    found: object = memory.metadata.get(WORDINGS)
    if not isinstance(found, Mapping):
        return {}
    known = cast(Mapping[str, Any], found)
    others: object = known.get("others")
    ours = isinstance(others, list | tuple) and all(_is_wording(one) for one in cast(list[Any], others))
    return known if ours and _is_wording({**known, "content": "", "sources": known.get("own")}) else {}


def _is_wording(given: object) -> bool:
    if not isinstance(given, Mapping):
        return False
    one = cast(Mapping[str, Any], given)
    return (
        isinstance(one.get("content"), str)
        and isinstance(one.get("sources"), list | tuple)
        and all(isinstance(turn, str) for turn in one["sources"])
        and isinstance(one.get("slot"), str | None)
        and isinstance(one.get("mined"), Mapping | None)
    )


def _given(memory: MemoryRecord) -> dict[str, Any]:
    """What a memory has in its metadata whatever is derived of it."""
    return {name: value for name, value in memory.metadata.items() if name not in DERIVED}


def _notes(memory: MemoryRecord) -> dict[str, Any]:
    """What somebody noted with a memory: for how many days it lives by the policy is no note."""
    given = _given(memory)
    if memory.expires_at is not None:
        given.pop(TTL, None)
    return given


def _own_end(memory: MemoryRecord) -> datetime | None:
    """When it ends because somebody said so, not by the policy."""
    return None if TTL in memory.metadata else memory.expires_at


def _living(memory: MemoryRecord, kept: MemoryRecord, gone: MemoryRecord) -> MemoryRecord:
    """The memory of both with the longer life of the two, and what the policy said of that one."""
    if kept.expires_at is None:
        return memory
    metadata = {name: value for name, value in memory.metadata.items() if name != TTL}
    if gone.expires_at is None:
        return replace(memory, expires_at=None, metadata=metadata)
    longer = kept if kept.expires_at >= gone.expires_at else gone
    days = {TTL: longer.metadata[TTL]} if TTL in longer.metadata else {}
    return replace(memory, expires_at=longer.expires_at, metadata={**metadata, **days})


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
    spoken = _living(_spoken(kept, base, wordings), kept, gone)
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
        "mined": known["mined"] if isinstance(known.get("mined"), Mapping) else None,
    }


def _spoken(
    memory: MemoryRecord, base: Mapping[str, Any], wordings: Sequence[Mapping[str, Any]]
) -> MemoryRecord:
    """The memory in these words, beside others; where they leave open what it answers, the others tell."""
    told = [base, *wordings]
    slot = next((wording["slot"] for wording in told if wording.get("slot")), None)
    read = next((wording["mined"] for wording in told if wording.get("mined")), None)
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
    return bool(_wordings(memory))
