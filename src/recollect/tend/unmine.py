"""Mining undone: what was derived from a conversation goes, its turns stay."""

from dataclasses import replace

from recollect.errors import NotFound
from recollect.limits import check_given
from recollect.model.changes import Change, Expect, Put, Revise
from recollect.model.records import (
    NEVER,
    Closet,
    Conversation,
    Entity,
    MemoryRecord,
    Record,
    Relation,
    Summary,
    Turn,
)
from recollect.record.memories import indexed
from recollect.tend.erase import Forgotten, neighbours_of, unbound, unmentioned
from recollect.tend.erase_palace import husk
from recollect.tend.learnt import CONCLUDED
from recollect.tend.rejoin import plan_erasure
from recollect.tend.reopen import reopen
from recollect.tend.unlearn import left_of, unsupported
from recollect.tend.unsaid import unsaid
from recollect.workspace import Workspace, rereading


@rereading
def unmine(work: Workspace, id: str) -> Forgotten:
    """Take out what was mined from a conversation. What other conversations say too stays with those
    sources, what was corrected here holds again, and the background does not mine it any more."""
    found = work.store.get(Conversation, [check_given("conversation", id)])
    if not found:
        raise NotFound(f"There is no conversation {id!r}.")
    turns = {turn.id for turn in work.store.find(Turn, {"conversation": id})}
    derived = work.store.linking("sources", sorted(turns))
    citing = [r for kind in (MemoryRecord, Entity, Relation) for r in work.store.get(kind, list(derived))]
    ours = [r for r in citing if not (isinstance(r, MemoryRecord) and r.origin == "explicit")]
    gone: dict[str, Record] = {r.id: r for r in ours if turns.issuperset(derived[r.id])}
    gone |= {s.id: s for s in work.store.find(Summary, {"conversation": id}) if CONCLUDED in s.metadata}
    gone |= {procedure.id: procedure for procedure in unsupported(work, turns, derived)}
    for entity in [r for r in gone.values() if isinstance(r, Entity)]:
        bonds = {r.id for end in ("source", "target") for r in work.store.find(Relation, {end: entity.id})}
        if not {*bonds, *work.store.linking("about", [entity.id])} <= gone.keys():
            del gone[entity.id]  # others that stay are about it
    gone |= {entity.id: entity for entity in unmentioned(work, gone)}
    neighbours = neighbours_of(work, gone.values())
    closets = list(work.store.find(Closet, {"conversation": id}))
    kept = [r for r in ours if r.id not in gone and isinstance(r, MemoryRecord)]
    read = [*(r for r in (*gone.values(), *neighbours.values()) if isinstance(r, MemoryRecord)), *kept]
    changes: list[Change] = [Expect("conversation", id, found[0])]
    changes += [Expect(r.kind, r.id, r) for r in {r.id: r for r in read}.values()]
    for record in kept:  # before what becomes of the versions around those that go
        left = left_of(work, record, turns)
        fewer = replace(record, sources=tuple(s for s in derived[record.id] if s not in turns))
        same = left is None or left.content == record.content
        changes.append(Put(left or fewer, None if same else indexed(work, left or fewer)))
    changes += [*unbound(gone), *reopen(work, gone, turns, derived), *unsaid(work, gone, turns, derived)]
    changes += plan_erasure(gone, neighbours)
    changes += [Put(husk(closet)) for closet in closets]
    held = {"mined_to": 0, "mining_failures": 0, "mining_problem": None, "mining_after": NEVER}
    receipt = work.log("unmine", "conversation", count=len(gone), conversation=id, always=True)
    work.apply(*changes, Revise("conversation", id, held), *receipt)
    counts: dict[str, int] = {}
    for record in (*gone.values(), *closets):
        counts[record.kind] = counts.get(record.kind, 0) + 1
    return Forgotten(counts, receipt[0].entry.id)
