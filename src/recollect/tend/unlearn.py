"""What is left of what was learnt when turns are erased: nothing that only they told.

A conversation's summary and episode tell of all of it: they go, and are made again of what is left. A
procedure loses the cases that began there, and its words if they came from there. A memory that others were
merged into keeps the words that somebody else said.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from recollect.model.changes import Change, Expect, Put, Revise
from recollect.model.records import (
    MEMORY_TYPES,
    Conversation,
    Episode,
    MemoryRecord,
    Procedure,
    Record,
    Summary,
    Turn,
)
from recollect.record.memories import indexed
from recollect.tend.learnt import CONCLUDED, LEARNT, conversation_slot, unlearnt
from recollect.tend.wordings import is_merged, unsaid_by
from recollect.workspace import Workspace


def conclusions(work: Workspace, gone: Mapping[str, Record]) -> list[Record]:
    """What was made of conversations as a whole that lose turns, and of several turns of which one goes."""
    turns = {record.id: record.conversation for record in gone.values() if isinstance(record, Turn)}
    if not turns:
        return []
    talks = sorted({*turns.values()})
    secret = work.store.secret()
    slots = [conversation_slot(secret, id) for id in talks]
    citing = list(work.store.linking("sources", sorted(turns)))
    episodes = [*work.store.find(Episode, {"slot": slots}), *work.store.get(Episode, citing)]
    summaries = work.store.find(Summary, {"conversation": talks})
    return [
        *(episode for episode in episodes if episode.origin != "explicit"),
        *(summary for summary in summaries if CONCLUDED in summary.metadata),
    ]


def unsupported(work: Workspace, turns: AbstractSet[str]) -> list[Procedure]:
    """Procedures for which nothing speaks without these turns."""
    return [p for p in _learnt_from(work, turns) if unlearnt(work, p, turns) is None]


def _learnt_from(work: Workspace, turns: AbstractSet[str]) -> list[Procedure]:
    citing = list(work.store.linking("sources", sorted(turns)))
    return [p for p in work.store.get(Procedure, citing) if p.origin == LEARNT]


def unlearn(work: Workspace, gone: Mapping[str, Record], turns: AbstractSet[str]) -> list[Change]:
    """What becomes of what stays. Comes before the removals, which change what is expected."""
    if not turns:
        return []
    changes: list[Change] = []
    citing = sorted(work.store.linking("sources", sorted(turns)).keys() - gone.keys())
    for memory in (m for kind in MEMORY_TYPES for m in work.store.get(kind, citing)):
        left = left_of(work, memory, turns)
        if left is not None:
            same = left.content == memory.content
            changes += [
                Expect(memory.kind, memory.id, memory),
                Put(left, None if same else indexed(work, left)),
            ]
    return changes


def left_of(work: Workspace, memory: MemoryRecord, turns: AbstractSet[str]) -> MemoryRecord | None:
    """What is left of a memory that stays, if more changes than that it cites fewer turns."""
    if isinstance(memory, Procedure) and memory.origin == LEARNT:
        return unlearnt(work, memory, turns)
    return unsaid_by(memory, turns) if is_merged(memory) else None


def reopened(work: Workspace, gone: Mapping[str, Record]) -> list[Change]:
    """Conversations that stay are concluded again, of what is left of them."""
    summed = {record.conversation for record in gone.values() if isinstance(record, Turn)}
    staying = [c for c in work.store.get(Conversation, sorted(summed)) if c.id not in gone and c.concluded_to]
    return [Revise("conversation", c.id, {"concluded_to": 0}) for c in staying]
