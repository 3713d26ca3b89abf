"""Near-duplicates become one memory, wherever they were said or saved (D10).

Only what has changed is compared, with those most like it in the same kind and channel. Episodes are told
apart by when they happened, and what was learnt from them is counted elsewhere: neither is merged.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from recollect.errors import Conflict, RecollectError
from recollect.model.changes import Chunk, Expect, Pool, Put, Remove
from recollect.model.records import BY_KIND, Fact, MemoryRecord, Procedure, Reflection
from recollect.model.search import Filter, Search
from recollect.ports.tending import Mark
from recollect.tend.steps import Reached, Step
from recollect.tend.tender import Hold
from recollect.tend.wordings import LONGEST, is_mergeable, is_same, may_merge, merged, survivor
from recollect.text.analyse import query_terms
from recollect.workspace import Workspace, rereading

KINDS = (Fact.kind, Procedure.kind, Reflection.kind)
MOST = 500
"""How many memories a visit compares, as each is a search: of more, the others wait for the next."""
NEAREST = 5
"""How many of the memories most like one are held against it."""


def plan_consolidation(work: Workspace, mark: Mark) -> Iterator[Step | Reached]:
    """What has changed and says the same as something else; so much of it as a visit has time for."""
    changed = work.store.changed(KINDS, mark.seq, MOST)
    for kind in KINDS:
        ids = [entry.id for entry in changed if entry.kind == kind]
        memories = [m for m in work.store.get(_type(kind), ids) if is_mergeable(m, work.clock.now())]
        chunks = work.store.chunks([memory.id for memory in memories], work.space) if memories else {}
        for memory in memories:
            if twin := _twin(work, memory, chunks.get(memory.id, ())):
                why = f"it says the same as {twin.id}"
                yield Step(action="consolidate", record=memory, why=why, do=_merging(work, kind, memory.id))
    reached = max((entry.seq for entry in changed), default=mark.seq)
    if work.store.changed(KINDS, reached, 1):
        yield Reached(reached)


def _type(kind: str) -> type[MemoryRecord]:
    return cast(type[MemoryRecord], BY_KIND[kind])


def _merging(work: Workspace, kind: str, id: str) -> Callable[[Hold], int]:
    def do(hold: Hold) -> int:
        done = 0
        try:
            left: str | None = id
            while hold() and (left := merge(work, kind, left)):
                done += 1
        except Conflict:  # it would not be found again, as what failed is
            raise RecollectError("Others kept changing what it had read.") from None
        return done

    return do


@rereading
def merge(work: Workspace, kind: str, id: str) -> str | None:
    """Merge a memory with one that says the same; which of the two is left, None when there is none."""
    found = work.store.get(_type(kind), [id])
    chunks = work.store.chunks([id], work.space).get(id, ())
    twin = _twin(work, found[0], chunks) if found else None
    if twin is None:
        return None
    kept, gone = survivor(found[0], twin)
    one = merged(kept, gone)
    details = {"into": one.id, "sources": len(one.sources), "same_similarity": work.settings.same_similarity}
    logged = work.log("consolidate", f"{kind} {gone.id}", kind=kind, details=details)
    work.apply(
        Expect(kind, kept.id, kept),
        Expect(kind, gone.id, gone),
        Put(one),
        Pool(kind, (gone.id,), one.id),
        Remove(kind, (gone.id,), scrub=False),
        *logged,
    )
    return one.id


def _twin(work: Workspace, memory: MemoryRecord, chunks: Sequence[Chunk]) -> MemoryRecord | None:
    """A memory in force that says the same and may be merged with this one."""
    if not is_mergeable(memory, work.clock.now()):
        return None
    vector = chunks[0].vector if len(chunks) == 1 else None
    filter = Filter(now=work.clock.now(), kinds=(memory.kind,), channels=(memory.channel,))
    words = tuple(query_terms(memory.content[:LONGEST]))
    search = Search(filter=filter, terms=words, vector=vector, space=work.space, limit=NEAREST)
    near = {one.owner: one.similarity or 0.0 for one in work.store.search(search) if one.owner != memory.id}
    least = work.settings.same_similarity
    for other in work.store.get(type(memory), list(near)):
        if is_mergeable(other, work.clock.now()) and is_same(memory, other, near[other.id] >= least):
            kept, gone = survivor(memory, other)
            if may_merge(kept, gone):
                return other
    return None
