"""Forgetting: what goes, what stays with fewer sources, and what comes back into force."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.errors import Invalid, NotFound
from recollect.limits import check_flag, check_text
from recollect.model.changes import Change, Expect, ExpectOnly, Log, Put, Remove, Revise, Unname
from recollect.model.goals import OPEN
from recollect.model.records import (
    RAN_OUT,
    RECORD_TYPES,
    AuditEntry,
    Closet,
    Conversation,
    Entity,
    Goal,
    GoalStatus,
    MemoryRecord,
    Record,
    Relation,
    Response,
    Role,
    Tombstone,
    ToolInvocation,
    Turn,
)
from recollect.model.shapes import shapes
from recollect.ports.tending import Receipt
from recollect.record.memories import tombstone_digest
from recollect.tend.erase_palace import emptied, turns_in, unnamed
from recollect.tend.idle import with_older
from recollect.tend.named import named_elsewhere
from recollect.tend.rejoin import plan_erasure
from recollect.tend.reopen import reopen
from recollect.tend.undo import seal_of, sealed
from recollect.tend.unlearn import (
    Spared,
    conclusions,
    learnt_among,
    reopened,
    spares_nothing,
    spares_pinned,
    unlearn,
    unsupported,
)
from recollect.tend.unsaid import unsaid
from recollect.workspace import Workspace, rereading

_CITING = (MemoryRecord, Entity, Relation)
_KEPT = ("audit", "tombstone")
_AT_ONCE = 500
TOLD = 100
"""Of how many records that would go the ids are told."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many of each kind are gone, and under which id it is noted that they are."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    receipt: str | None = None
    ids: tuple[str, ...] = ()
    """Of what would go, in a dry run: the first hundred."""
    undo: str | None = field(default=None, repr=False)
    """What takes it back for a minute, where that was asked for and can be done."""
    undoable: bool | None = None
    """Whether it can be taken back, in a dry run that asks for it."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def forget_user(work: Workspace, *, dry_run: bool = False) -> Forgotten:
    """Everything there is of the user, the audit too; a receipt that names nobody stays."""
    if dry_run:
        found = {kind.kind: work.store.count(kind) for kind in RECORD_TYPES}
        return Forgotten(_stored(found))
    receipt = Receipt(work.new_id(), work.clock.now(), "user", {})
    gone = work.store.erase(receipt)
    work.uncache()
    return Forgotten(_stored(gone), receipt.id)


def _stored(counts: Mapping[str, int]) -> dict[str, int]:
    """What was stored, without what tells of it."""
    return {kind: count for kind, count in counts.items() if count and kind not in _KEPT}


@rereading
def forget_one(
    work: Workspace, id: str, *, with_sources: bool, dry_run: bool = False, undo: bool = False
) -> Forgotten:
    """One record of any kind. A memory leaves a tombstone; the notes behind it go with it, its turns
    only when asked for. With a closet go the turns in it."""
    check_flag("with_sources", with_sources)
    target = _find(work, id)
    doomed: list[Record] = [target]
    beside: list[Change] = []
    match target:
        case MemoryRecord():
            digest = tombstone_digest(work.store.secret(), target.content)
            beside.append(Put(Tombstone(id=work.new_id(), digest=digest, at=work.clock.now())))
            doomed += _sources(work, target, notes_only=not with_sources)
        case Entity():
            beside += unnamed(work, target)
        case Closet():  # its number stays
            doomed = [*turns_in(work, target)]
        case _:
            pass
    return _erase(work, doomed, f"{target.kind} {id}", beside, dry_run=dry_run, undo=undo)


@rereading
def forget_where(work: Workspace, field: str, value: str, *, dry_run: bool = False) -> Forgotten:
    """Everything of a conversation, a channel or an agent, and all that was derived from it alone."""
    doomed: list[Record] = []
    for kind in RECORD_TYPES:
        if kind is Closet:
            continue  # what becomes of it depends on its turns
        if kind is Conversation and field == "conversation":
            doomed += work.store.get(Conversation, [value])
        elif kind.kind not in _KEPT and any(f.name == field for f in shapes(kind)):
            doomed += work.store.find(kind, {field: value})
    relabelled = _relabelled(work, doomed)
    kept = {change.id for change in relabelled}
    watched = [record for record in doomed if isinstance(record, Conversation)]
    doomed = [record for record in doomed if not (isinstance(record, Conversation) and record.id in kept)]
    labelled = [*work.store.find(Closet, {field: value})]
    beside = [Unname(field, (value,)), *relabelled, *named_elsewhere(work, field, value)]
    return _erase(work, doomed, field, beside, watched, labelled, dry_run=dry_run)


def _relabelled(work: Workspace, doomed: list[Record]) -> list[Revise]:
    """Conversations that others take part in stay, as those others'."""
    gone = {record.id for record in doomed}
    changes: list[Revise] = []
    for conversation in doomed:
        if isinstance(conversation, Conversation):
            turns = work.store.find(Turn, {"conversation": conversation.id}, order="index")
            if left := next((turn for turn in turns if turn.id not in gone), None):
                labels = {"channel": left.channel, "agent": left.agent}
                changes.append(Revise("conversation", conversation.id, labels))
    return changes


def _find(work: Workspace, id: str) -> Record:
    for kind in RECORD_TYPES:
        if kind.kind not in _KEPT and kind is not Conversation and (found := work.store.get(kind, [id])):
            return found[0]
    raise NotFound(f"There is nothing with the id {id!r}.")


def _sources(work: Workspace, memory: MemoryRecord, *, notes_only: bool) -> list[Turn]:
    """The turns to erase with a memory. A note that other memories cite too stays with them, unless they were
    learnt from it."""
    turns = work.store.get(Turn, memory.sources)
    if not notes_only:
        return turns
    citing = work.store.linking("sources", memory.sources)
    others = citing.keys() - {memory.id, *learnt_among(work, list(citing))}
    shared = {source for owner in others for source in citing[owner]}
    return [turn for turn in turns if turn.role is Role.NOTE and turn.id not in shared]


def erase_all(work: Workspace, doomed: Sequence[Record], logged: Sequence[Change]) -> int:
    """Let go of records because the retention policy says so, as if each had been forgotten; `Conflict` when
    one was changed since it was read. Not pressing: the files are scrubbed when something is forgotten, and
    wings of the palace keep their names, because the turns in them do."""
    secret, now = work.store.secret(), work.clock.now()
    digests = [tombstone_digest(secret, m.content) for m in doomed if isinstance(m, MemoryRecord)]
    ran_out = {RAN_OUT: True}
    stones = [Put(Tombstone(id=work.new_id(), digest=d, at=now, metadata=ran_out)) for d in digests]
    notes = [
        turn
        for memory in doomed
        if isinstance(memory, MemoryRecord)
        for turn in _sources(work, memory, notes_only=True)
    ]
    everything = _all_of_it(work, [*doomed, *notes], spares_pinned)
    if older := _replaced(work, everything):
        everything |= _all_of_it(work, older, spares_pinned)
    watched = [record for record in doomed if not isinstance(record, MemoryRecord)]
    changes = _erasing(work, everything, watched, spared=spares_pinned)
    calm = [replace(c, scrub=False) if isinstance(c, Remove | Unname) else c for c in changes]
    work.apply(*_empty(everything), *calm, *stones, *logged)
    return len(everything)


def _empty(gone: Mapping[str, Record]) -> list[Change]:
    """That conversations which go have no turns but those that go too."""
    turns: dict[str, set[str]] = {
        id: set() for id, record in gone.items() if isinstance(record, Conversation)
    }
    for record in gone.values():
        if isinstance(record, Turn) and record.conversation in turns:
            turns[record.conversation].add(record.id)
    return [ExpectOnly("turn", {"conversation": id}, frozenset(known)) for id, known in turns.items()]


def _replaced(work: Workspace, gone: Mapping[str, Record]) -> list[Record]:
    """What those that go had replaced: nobody takes that back, so it goes too, unless it is pinned."""
    chains = [
        with_older(work.store, m) for m in gone.values() if isinstance(m, MemoryRecord) and m.supersedes
    ]
    older = [memory for chain in chains for memory in chain if memory.id not in gone and not memory.pinned]
    return [*older, *(turn for memory in older for turn in _sources(work, memory, notes_only=True))]


def making_way(work: Workspace, old: Sequence[MemoryRecord]) -> list[Change]:
    """What has to change for memories to go because others take their place, and the receipt of it. No
    tombstone is left: what they said may be said again."""
    notes = [turn for memory in old for turn in _sources(work, memory, notes_only=True)]
    everything = _all_of_it(work, [*old, *notes])
    counts = dict(Counter(record.kind for record in everything.values()))
    receipt = work.log(
        "replace", "records", count=len(everything), kind=old[0].kind, details={"kinds": counts}, always=True
    )
    return [*_erasing(work, everything, []), *receipt]


def _erase(
    work: Workspace,
    doomed: list[Record],
    subject: str,
    beside: Sequence[Change],
    watched: Sequence[Conversation] = (),
    labelled: Sequence[Closet] = (),
    *,
    dry_run: bool,
    undo: bool = False,
) -> Forgotten:
    everything = _all_of_it(work, doomed)
    counts = dict(Counter(record.kind for record in everything.values()))
    beside = [c for c in beside if not (isinstance(c, Revise) and c.id in everything)]
    if dry_run:
        changes = [*_erasing(work, everything, watched, labelled), *beside] if undo else []
        undoable = sealed(work, changes, work.new_id()) is not None if undo else None
        return Forgotten(counts, ids=(*everything,)[:TOLD], undoable=undoable)
    if not (everything or (beside and work.store.seq())):
        return Forgotten(counts)
    # With nothing but a name, that may be left in the audit, the settings and the palace.
    changes = _erasing(work, everything, watched, labelled)
    id = work.new_id()
    token = sealed(work, [*changes, *beside], id) if undo else None
    receipt = AuditEntry(  # names no place, for it may be the one that is forgotten
        id=id,
        operation="forget",
        subject=subject,
        at=work.clock.now(),
        count=len(everything),
        details={"kinds": counts},
        metadata=seal_of(token),
    )
    work.apply(*changes, *beside, Log(receipt))
    return Forgotten(counts, receipt.id, undo=token)


def _erasing(
    work: Workspace,
    everything: Mapping[str, Record],
    watched: Sequence[Record],
    labelled: Sequence[Closet] = (),
    *,
    spared: Spared = spares_nothing,
) -> list[Change]:
    """What has to change for all of these to go."""
    neighbours = neighbours_of(work, everything.values())
    # Nothing was said in them, and none was corrected, since they were read.
    memories = [m for m in ({**everything, **neighbours}).values() if isinstance(m, MemoryRecord)]
    changes: list[Change] = [Expect(record.kind, record.id, record) for record in (*watched, *memories)]
    turns = _turns(everything)
    citing = [*work.store.linking("sources", sorted(turns))]
    changes += [*unlearn(work, everything, turns, citing), *reopened(work, everything, spared)]
    changes += unbound(everything)
    changes += [*reopen(work, everything, turns, citing), *unsaid(work, everything, turns, citing)]
    changes += plan_erasure(everything, neighbours)
    changes += _unblocked(work, everything)
    changes += emptied(work, everything, labelled)
    if talks := tuple(id for id, record in everything.items() if isinstance(record, Conversation)):
        changes.append(Unname("conversation", talks))
    return changes


def _turns(records: Mapping[str, Record]) -> set[str]:
    return {id for id, record in records.items() if isinstance(record, Turn)}


def _unblocked(work: Workspace, gone: Mapping[str, Record]) -> list[Change]:
    """Goals that nothing blocks any more are active again, and parts of what is gone stand for themselves."""
    ended = [id for id, record in gone.items() if isinstance(record, Goal)]
    if not ended:
        return []
    parts = [
        goal
        for start in range(0, len(ended), _AT_ONCE)
        for goal in work.store.find(Goal, {"parent": ended[start : start + _AT_ONCE]})
        if goal.id not in gone
    ]
    changes: list[Change] = [Revise("goal", goal.id, {"parent": None}) for goal in parts]
    waiting = [id for id in work.store.linking("blocked_by", ended) if id not in gone]
    for goal in work.store.get(Goal, waiting):
        left = work.store.get(Goal, [id for id in goal.blocked_by if id not in gone])
        if goal.status is GoalStatus.BLOCKED and not any(one.status in OPEN for one in left):
            changes.append(Revise("goal", goal.id, {"status": GoalStatus.ACTIVE}))
    return changes


def _all_of_it(work: Workspace, doomed: list[Record], spared: Spared = spares_nothing) -> dict[str, Record]:
    """The doomed and what cannot be without them, unless it is spared."""
    turns = {record.id for record in doomed if isinstance(record, Turn)}
    citing = work.store.linking("sources", sorted(turns))
    orphans = [record for record in _orphans(work, turns, citing) if not spared(record)]
    gone = {record.id: record for record in (*doomed, *orphans, *_calls(work, doomed))}
    gone |= {record.id: record for record in conclusions(work, gone, citing) if not spared(record)}
    gone |= {record.id: record for record in work.store.get(Response, list(citing))}
    gone |= {record.id: record for record in unsupported(work, turns, citing) if not spared(record)}
    gone |= {entity.id: entity for entity in unmentioned(work, gone)}
    entities = [record.id for record in gone.values() if isinstance(record, Entity)]
    return gone | {relation.id: relation for relation in _bonds(work, entities)}


def _bonds(work: Workspace, entities: Sequence[str]) -> Iterator[Relation]:
    """All relations of these entities; one between two of them comes twice."""
    for start in range(0, len(entities), _AT_ONCE):
        for end in ("source", "target"):
            yield from work.store.find(Relation, {end: entities[start : start + _AT_ONCE]})


def unbound(gone: Mapping[str, Record]) -> list[Change]:
    """That entities which go have no relations but those that go too."""
    bonds = [record for record in gone.values() if isinstance(record, Relation)]
    changes: list[Change] = []
    for id in (record.id for record in gone.values() if isinstance(record, Entity)):
        for end in ("source", "target"):
            known = frozenset(bond.id for bond in bonds if getattr(bond, end) == id)
            changes.append(ExpectOnly("relation", {end: id}, known))
    return changes


def unmentioned(work: Workspace, gone: Mapping[str, Record]) -> list[Entity]:
    """Entities that are a name and nothing else, once no memory is left that is about them."""
    mentioned = {id for record in gone.values() if isinstance(record, MemoryRecord) for id in record.about}
    bare = {
        entity.id: entity
        for entity in work.store.get(Entity, sorted(mentioned - gone.keys()))
        if not entity.description and gone.keys() >= set(entity.sources)
    }
    staying = [relation for relation in _bonds(work, list(bare)) if relation.id not in gone]
    bound = {id for relation in staying for id in (relation.source, relation.target)}
    left = [entity for entity in bare.values() if entity.id not in bound]
    return [entity for entity in left if not _matters(work, entity, gone.keys())]


def _orphans(work: Workspace, turns: set[str], citing: Mapping[str, Iterable[str]]) -> list[Record]:
    """What was derived from doomed turns and from nothing else."""
    alone = [owner for owner, sources in citing.items() if turns.issuperset(sources)]
    orphans = [record for kind in _CITING for record in work.store.get(kind, alone)]
    return [r for r in orphans if not (isinstance(r, Entity) and _matters(work, r, alone))]


def _matters(work: Workspace, entity: Entity, gone: Collection[str]) -> bool:
    """Whether memories that stay are about an entity: it cites only the first turns that name it."""
    return not work.store.linking("about", [entity.id]).keys() <= {*gone}


def _calls(work: Workspace, doomed: list[Record]) -> list[Record]:
    """The calls of tools that doomed turns led to: they repeat what was said."""
    turns = [record.id for record in doomed if isinstance(record, Turn)]
    calls: list[Record] = []
    for start in range(0, len(turns), _AT_ONCE):
        calls += work.store.find(ToolInvocation, {"turn": turns[start : start + _AT_ONCE]})
    return calls


def neighbours_of(work: Workspace, doomed: Iterable[Record]) -> dict[str, MemoryRecord]:
    """The memories that a doomed one replaced or was replaced by."""
    ids: set[str] = set()
    for record in doomed:
        if isinstance(record, MemoryRecord):
            ids.update(id for id in (record.supersedes, record.superseded_by) if id)
    wanted = sorted(ids)
    return {record.id: record for record in work.store.get(MemoryRecord, wanted)}


def check_one_target(*, everything: bool, **given: str | None) -> None:
    check_flag("everything", everything)
    for name, value in given.items():
        check_text(name, value)
    if sum(bool(value) for value in (everything, *given.values())) != 1:
        raise Invalid(f"Say what to forget with exactly one of: {', '.join((*given, 'everything'))}.")
