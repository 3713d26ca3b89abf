"""What is left of what was learnt when turns are erased: nothing that only they told.

A conversation's summary and episode tell of all of it: they go, and are made again of what is left. A
procedure loses the cases that began there, and its words if they came from there. A memory that others were
merged into keeps the words that somebody else said.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from recollect.errors import Overtaken
from recollect.model.changes import Change, Expect, ExpectOnly, Put, Revise
from recollect.model.records import (
    LEARNT,
    Conversation,
    Episode,
    MemoryRecord,
    Procedure,
    Record,
    Summary,
    Turn,
)
from recollect.record.memories import indexed
from recollect.tend.learnt import CONCLUDED, conversation_slot, unlearnt
from recollect.tend.wordings import is_merged, unsaid_by
from recollect.workspace import Workspace

AT_ONCE = 500
"""How many conversations are asked for together."""

Spared = Callable[[Record], bool]
"""Whether something stays although the turns that it tells of go."""


def spares_nothing(record: Record) -> bool:
    return False


def spares_pinned(record: Record) -> bool:
    return isinstance(record, MemoryRecord) and record.pinned


def conclusions(work: Workspace, gone: Mapping[str, Record], citing: Iterable[str]) -> list[Record]:
    """What was made of conversations as a whole that lose turns, and of several turns of which one goes;
    `citing` is all that cites the turns."""
    turns = {record.id: record.conversation for record in gone.values() if isinstance(record, Turn)}
    if not turns:
        return []
    secret = work.store.secret()
    episodes, summaries = work.store.get(Episode, list(citing)), list[Summary]()
    every = sorted({*turns.values()})
    for start in range(0, len(every), AT_ONCE):
        talks = every[start : start + AT_ONCE]
        slots = [conversation_slot(secret, id) for id in talks]
        episodes += work.store.find(Episode, {"slot": slots})
        summaries += work.store.find(Summary, {"conversation": talks})
    return [record for record in (*episodes, *summaries) if _is_concluded(record)]


def unsupported(work: Workspace, turns: AbstractSet[str], citing: Iterable[str]) -> list[Procedure]:
    """Procedures for which nothing speaks without these turns, among all that cites them."""
    return [p for p in learnt_among(work, list(citing)).values() if unlearnt(work, p, turns) is None]


def learnt_among(work: Workspace, ids: Sequence[str]) -> dict[str, Procedure]:
    """Those of the ids that are procedures which were learnt."""
    return {p.id: p for p in work.store.get(Procedure, ids) if p.origin == LEARNT} if ids else {}


def unlearn(
    work: Workspace, gone: Mapping[str, Record], turns: AbstractSet[str], citing: Iterable[str]
) -> list[Change]:
    """What becomes of those that stay and cite the turns. Comes before the removals, which change what is
    expected."""
    changes: list[Change] = []
    for memory in work.store.get(MemoryRecord, sorted({*citing} - gone.keys())):
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


def reopened(work: Workspace, gone: Mapping[str, Record], spared: Spared = spares_nothing) -> list[Change]:
    """Conversations that stay are concluded again, of what is left of them; and nobody concludes them
    meanwhile, of what goes. What is spared stays as it is."""
    every = sorted({record.conversation for record in gone.values() if isinstance(record, Turn)})
    changes: list[Change] = []
    secret = work.store.secret() if every else b""
    for start in range(0, len(every), AT_ONCE):
        talks = every[start : start + AT_ONCE]
        slots = [conversation_slot(secret, id) for id in talks]
        for kind, where in ((Episode, {"slot": slots}), (Summary, {"conversation": talks})):
            known = [*work.store.find(kind, where)]
            left = [record for record in known if record.id not in gone and not spared(record)]
            if any(_is_concluded(record) for record in left):
                raise Overtaken("It was concluded meanwhile: read it again.")
            changes.append(ExpectOnly(kind.kind, where, frozenset(record.id for record in known)))
        staying = [c for c in work.store.get(Conversation, talks) if c.id not in gone and c.concluded_to]
        changes += [Revise("conversation", c.id, {"concluded_to": 0}) for c in staying]
    return changes


def _is_concluded(record: Episode | Summary) -> bool:
    return CONCLUDED in record.metadata if isinstance(record, Summary) else record.origin != "explicit"
