"""Forgetting: what goes, what stays with fewer sources, and what comes back into force."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recollect.errors import Invalid, NotFound
from recollect.model.changes import Change, Put, Remove, Revise
from recollect.model.records import (
    MEMORY_TYPES,
    RECORD_TYPES,
    AuditEntry,
    Conversation,
    Entity,
    MemoryRecord,
    Record,
    Relation,
    Role,
    Tombstone,
    Turn,
)
from recollect.model.shapes import shapes
from recollect.record.memories import tombstone_digest
from recollect.workspace import Workspace

_CITING = (*MEMORY_TYPES, Entity, Relation)
_KEPT = ("audit", "tombstone")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many of each kind are gone."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def forget_one(work: Workspace, id: str, *, with_sources: bool) -> Forgotten:
    """One record of any kind. A memory leaves a tombstone; the notes behind it go with it, its turns
    only when asked for."""
    target = _find(work, id)
    doomed: list[Record] = [target]
    tombstones: list[Tombstone] = []
    if isinstance(target, MemoryRecord):
        digest = tombstone_digest(work.store.secret(), target.content)
        tombstones.append(Tombstone(id=work.new_id(), digest=digest, at=work.clock.now()))
        doomed += _sources(work, target, notes_only=not with_sources)
    if isinstance(target, Entity):
        for end in ("source", "target"):
            doomed += work.store.find(Relation, {end: id})
    return _erase(work, doomed, f"{target.kind} {id}", tombstones)


def forget_where(work: Workspace, field: str, value: str) -> Forgotten:
    """Everything of a conversation, a channel or an agent, and all that was derived from it alone."""
    doomed: list[Record] = []
    for kind in RECORD_TYPES:
        if kind is Conversation and field == "conversation":
            doomed += work.store.get(Conversation, [value])
        elif kind.kind not in _KEPT and any(f.name == field for f in shapes(kind)):
            doomed += work.store.find(kind, {field: value})
    return _erase(work, doomed, field, [])


def _find(work: Workspace, id: str) -> Record:
    for kind in RECORD_TYPES:
        if kind.kind not in _KEPT and kind is not Conversation and (found := work.store.get(kind, [id])):
            return found[0]
    raise NotFound(f"There is nothing with the id {id!r}.")


def _sources(work: Workspace, memory: MemoryRecord, *, notes_only: bool) -> list[Turn]:
    """The turns to erase with a memory. A note that other memories cite too stays with them."""
    turns = work.store.get(Turn, memory.sources)
    if not notes_only:
        return turns
    shared = {
        source
        for owner, sources in work.store.derived_from(memory.sources).items()
        if owner != memory.id
        for source in sources
    }
    return [turn for turn in turns if turn.role is Role.NOTE and turn.id not in shared]


def _erase(work: Workspace, doomed: list[Record], subject: str, tombstones: list[Tombstone]) -> Forgotten:
    everything = {record.id: record for record in (*doomed, *_orphans(work, doomed))}
    if not everything:
        return Forgotten()
    changes = plan_erasure(everything, _neighbours(work, everything.values()))
    receipt = AuditEntry(
        id=work.new_id(),
        operation="forget",
        subject=subject,
        at=work.clock.now(),
        count=len(everything),
        channel=work.scope.channel,
        agent=work.scope.agent,
    )
    work.apply(*changes, *(Put(tombstone) for tombstone in tombstones), Put(receipt))
    counts: dict[str, int] = {}
    for record in everything.values():
        counts[record.kind] = counts.get(record.kind, 0) + 1
    return Forgotten(counts)


def _orphans(work: Workspace, doomed: list[Record]) -> list[Record]:
    """What was derived from doomed turns and from nothing else."""
    turns = {record.id for record in doomed if isinstance(record, Turn)}
    derived = work.store.derived_from(sorted(turns))
    alone = [owner for owner, sources in derived.items() if turns.issuperset(sources)]
    return [record for kind in _CITING for record in work.store.get(kind, alone)]


def _neighbours(work: Workspace, doomed: Iterable[Record]) -> dict[str, MemoryRecord]:
    """The memories that a doomed one replaced or was replaced by."""
    ids: set[str] = set()
    for record in doomed:
        if isinstance(record, MemoryRecord):
            ids.update(id for id in (record.supersedes, record.superseded_by) if id)
    wanted = sorted(ids)
    return {record.id: record for kind in MEMORY_TYPES for record in work.store.get(kind, wanted)}


def plan_erasure(doomed: Mapping[str, Record], neighbours: Mapping[str, MemoryRecord]) -> list[Change]:
    """The removals, and what a doomed correction gives back: the memory before it is in force again,
    or ends where the next surviving correction begins."""
    changes: list[Change] = []
    for record in doomed.values():
        if not isinstance(record, MemoryRecord):
            continue
        before, after = neighbours.get(record.supersedes or ""), neighbours.get(record.superseded_by or "")
        before = None if before is None or before.id in doomed else before
        after = None if after is None or after.id in doomed else after
        if before is not None:
            ended = {"valid_to": None, "retired_at": None, "superseded_by": None}
            if after is not None:
                ended = {"valid_to": after.valid_from, "superseded_by": after.id}
            changes.append(Revise(before.kind, before.id, ended))
        if after is not None:
            changes.append(Revise(after.kind, after.id, {"supersedes": before.id if before else None}))
    by_kind: dict[str, list[str]] = {}
    for record in doomed.values():
        by_kind.setdefault(record.kind, []).append(record.id)
    changes += [Remove(kind, tuple(ids)) for kind, ids in by_kind.items()]
    return changes


def check_one_target(**given: object) -> None:
    if sum(bool(value) for value in given.values()) != 1:
        raise Invalid(f"Say what to forget with exactly one of: {', '.join(given)}.")
