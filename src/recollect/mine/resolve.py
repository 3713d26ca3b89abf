"""What claims make of what is known: something new, the same once more, or another version of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.mine.entities import REINFORCED
from recollect.mine.extracted import Claim
from recollect.mine.slots import review_slot, same_value, says_the_same, slot_of, value_slot
from recollect.mine.versions import SAID, around, fitted, followed, in_order, parted, said_at
from recollect.model.records import MemoryRecord, Tense, mined, noted

MOST_SOURCES = 200
REVIEW = "contradicts"
"""In the metadata of a memory that somebody should look at: the one it contradicts."""
BESIDE = "beside"
"""In the metadata of one that somebody has looked at: the one that holds beside it all the same."""

Slot = tuple[str, str]
"""A kind of memory and a slot of it."""


@dataclass(frozen=True, slots=True)
class Making:
    """How memories are made of claims."""

    said: Callable[[Claim], datetime]
    confidence: Callable[[Claim], float]
    new: Callable[[Claim, str], MemoryRecord]
    """A memory of a claim, in a slot."""
    new_id: Callable[[], str]
    times: Mapping[str, datetime]
    """When the turns were said that memories of these slots cite."""
    now: datetime
    policy: str
    """What to do when two say different things: `prefer_new`, `prefer_old` or `flag_review`."""
    renewed: Callable[[MemoryRecord], MemoryRecord] = lambda memory: memory
    """One that was said again, with as long to live as a new one."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored that the claims may meet."""

    versions: Mapping[Slot, Sequence[MemoryRecord]]
    alike: Mapping[int, MemoryRecord]
    """For some of the claims, by their place, a memory that says the same in other words."""
    named: Mapping[str, MemoryRecord]
    """Memories that claims say they replace."""


@dataclass(slots=True)
class Resolved:
    """What changes, and how the claims fared."""

    memories: dict[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    added: int = 0
    reinforced: int = 0
    superseded: int = 0
    refused: int = 0


def slots_of(claim: Claim) -> tuple[Slot, ...]:
    """The slots that a claim may meet others in."""
    slots = [slot_of(claim)]
    if claim.attribute:
        slots += [slot_of(replace(claim, tense=Tense.CURRENT)), value_slot(claim), review_slot(claim)]
    return tuple((claim.kind, slot) for slot in dict.fromkeys(slots))


def resolve(claims: Sequence[Claim], known: Known, making: Making) -> Resolved:
    """The memories that are new or change. Every claim is weighed against all that came before it, so that
    the outcome is the same however the turns are cut into windows."""
    book = _Book(known)
    done = Resolved()
    for place, claim in enumerate(claims):
        _settle(book, done, claim, known.alike.get(place), making)
    done.memories = book.changed
    return done


class _Book:
    """The memories by slot, as they become."""

    def __init__(self, known: Known) -> None:
        self._versions = {slot: in_order(versions) for slot, versions in known.versions.items()}
        self.named = dict(known.named)
        self.changed: dict[str, MemoryRecord] = {}

    def versions(self, slot: Slot) -> list[MemoryRecord]:
        return self._versions.get(slot, [])

    def put(self, memory: MemoryRecord) -> None:
        slot = (memory.kind, memory.slot or "")
        others = [version for version in self.versions(slot) if version.id != memory.id]
        self._versions[slot] = in_order([*others, memory])
        self.changed[memory.id] = memory
        if memory.id in self.named:
            self.named[memory.id] = memory


def _settle(book: _Book, done: Resolved, claim: Claim, alike: MemoryRecord | None, making: Making) -> None:
    said = making.said(claim)
    slot = slot_of(claim)
    replaced = next((book.named[id] for id in claim.replaces if id in book.named), None)
    beside = replaced is not None and (replaced.kind != claim.kind or not replaced.slot)
    if replaced is not None and replaced.slot and not beside:
        slot = replaced.slot
    if same := _the_same(book, claim, slot, alike, making):
        _reinforce(book, done, same, claim, making)
        return
    before, after = around(book.versions((claim.kind, slot)), said)
    if replaced is not None and beside and before is None and replaced.superseded_by is None:
        before = replaced if replaced.valid_from <= said else None
    if before is not None and claim.denies and claim.single and not same_value(before, claim):
        slot, before, after = value_slot(claim), None, None  # it says nothing about what holds
    review: dict[str, Any] = {}
    if before is not None and not claim.corrects and replaced is None:
        if making.policy == "prefer_old":
            done.refused += 1
            return
        if making.policy == "flag_review":
            slot, review = review_slot(claim), {REVIEW: before.id}
            before = after = None
    memory = _beside(making.new(claim, slot), before or after)
    if review:
        memory = replace(memory, metadata=noted(memory, review))
    _insert(book, before, memory, after, making)
    if claim.corrects:
        for flagged in book.versions((claim.kind, review_slot(claim))):
            if flagged.superseded_by is None:
                book.put(followed(flagged, memory, making.now))
    done.added += 1
    done.superseded += before is not None


def _beside(memory: MemoryRecord, other: MemoryRecord | None) -> MemoryRecord:
    """A version is where the others are, also once those were promoted."""
    if other is None:
        return memory
    return replace(memory, channel=other.channel, promoted_from=other.promoted_from)


def _insert(
    book: _Book, before: MemoryRecord | None, new: MemoryRecord, after: MemoryRecord | None, making: Making
) -> None:
    """A new version between two; what the one before says was perhaps said again after it."""
    later = None
    if before is not None and before.slot == new.slot:
        before, later = parted(before, said_at(new), making.times, making.new_id())
    if later is None:
        for changed in fitted(before, new, after, making.now):
            book.put(changed)
        return
    *closed, new = fitted(before, new, None, making.now)
    for changed in (*closed, *fitted(new, later, after, making.now)):
        book.put(changed)


def _the_same(
    book: _Book, claim: Claim, slot: str, alike: MemoryRecord | None, making: Making
) -> MemoryRecord | None:
    """The memory that says it already: of the same turns, or the one that held then, or that followed."""
    versions, said = book.versions((claim.kind, slot)), making.said(claim)
    for version in versions:
        if {*claim.turns} <= {*version.sources} and says_the_same(version, claim):
            return version
    before, after = around(versions, said)
    if before is not None and says_the_same(before, claim):
        return before
    again = before is not None and any(making.times.get(turn, said) > said for turn in before.sources)
    if after is not None and not again and says_the_same(after, claim):
        return after
    for other in slots_of(claim):  # as a thing of the past, or beside what it contradicts
        for version in book.versions(other) if other[1] != slot else ():
            beside = claim.tense is Tense.PAST or {REVIEW, BESIDE} & mined(version).keys()
            if beside and says_the_same(version, claim):
                return version
    return book.changed.get(alike.id, alike) if alike is not None and before is None else None


def _reinforce(book: _Book, done: Resolved, memory: MemoryRecord, claim: Claim, making: Making) -> None:
    """Said again: one more source, and it matters more."""
    said = making.said(claim)
    fresh = [turn for turn in claim.turns if turn not in memory.sources]
    if not fresh or len(memory.sources) >= MOST_SOURCES:
        return
    earlier = memory.origin != "explicit" and said < said_at(memory)
    before, _ = around(book.versions((memory.kind, memory.slot or "")), said)
    sure = memory.confidence if memory.initial is None else memory.initial
    again = replace(
        making.renewed(memory),
        sources=(*memory.sources, *fresh),
        confidence=max(sure, making.confidence(claim)),
        initial=None,
        salience=memory.salience + (1 - memory.salience) * REINFORCED,
        valid_from=min(memory.valid_from, said) if earlier else memory.valid_from,
        metadata=noted(memory, {SAID: said.isoformat()}) if earlier else memory.metadata,
    )
    book.put(again)
    if earlier and before is not None and before.superseded_by == again.id:
        book.put(followed(before, again, making.now))
    done.reinforced += 1
