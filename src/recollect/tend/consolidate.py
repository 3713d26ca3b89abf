"""Near-duplicates become one memory, wherever they were said or saved (D10).

Only what has changed is compared, with those of the same kind and channel that have most of its words: what
says the same has, and the text index finds them however much there is. Vectors are read and compared for
those few alone. Episodes are told apart by when they happened, and what was learnt from them is counted
elsewhere: neither is merged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import cast

from recollect.errors import Conflict, RecollectError
from recollect.mine.slots import SHARED
from recollect.model.changes import Chunk, Expect, Pool, Put, Remove
from recollect.model.records import BY_KIND, MemoryRecord
from recollect.model.search import Words
from recollect.ports.tending import CONSOLIDATED, Mark
from recollect.tend.steps import Reached, Step
from recollect.tend.tender import Hold
from recollect.tend.wordings import LONGEST, is_mergeable, is_same, may_merge, merged, survivor
from recollect.text.analyse import terms
from recollect.workspace import Workspace, rereading

MOST = 5000
"""How many memories a visit compares, which takes some seconds: of more, the others wait for the next. Many
together cost less, as they share words."""
NEAREST = 5
"""How many of the memories with most of one's words are held against it."""

Pair = tuple[MemoryRecord, MemoryRecord]


def plan_consolidation(work: Workspace, mark: Mark) -> Iterator[Step | Reached]:
    """What has changed and says the same as something else; so much of it as a visit has time for."""
    changed = work.store.changed(CONSOLIDATED, mark.seq, MOST)
    for kind in CONSOLIDATED:
        ids = [entry.id for entry in changed if entry.kind == kind]
        same = _same(work, _alike(work, work.store.get(_type(kind), ids)))
        for id, pairs in groupby(same, lambda pair: pair[0].id):
            memory, *others = _told_apart(pairs)
            why = f"it says the same as {', '.join(other.id for other in others)}"
            do = _merging(work, kind, id, [other.id for other in others])
            yield Step(action="consolidate", record=memory, why=why, do=do)
    reached = max((entry.seq for entry in changed), default=mark.seq)
    if work.store.changed(CONSOLIDATED, reached, 1):
        yield Reached(reached)


def _type(kind: str) -> type[MemoryRecord]:
    return cast(type[MemoryRecord], BY_KIND[kind])


def _told_apart(pairs: Iterable[Pair]) -> list[MemoryRecord]:
    """A memory and all that it is paired with."""
    found = list(pairs)
    return [found[0][0], *(other for _, other in found)]


def _merging(work: Workspace, kind: str, id: str, others: Sequence[str]) -> Callable[[Hold], int]:
    def do(hold: Hold) -> int:
        done, left = 0, id
        try:
            for other in others:
                if hold() and (one := merge(work, kind, left, other)):
                    done, left = done + 1, one
        except Conflict:  # it would not be found again, as what failed is
            raise RecollectError("Others kept changing what it had read.") from None
        return done

    return do


@rereading
def merge(work: Workspace, kind: str, id: str, other: str) -> str | None:
    """Merge two memories that say the same; which of them is left, None when they no longer do."""
    found = [m for m in work.store.get(_type(kind), [id, other]) if is_mergeable(m, work.clock.now())]
    if len(found) < 2 or not _same(work, [(found[0], found[1])]):
        return None
    kept, gone = survivor(*found)
    if not may_merge(kept, gone):
        return None
    one = merged(kept, gone)
    details = {"into": one.id, "sources": len(one.sources), "same_similarity": work.settings.same_similarity}
    logged = work.log("consolidate", f"{kind} {gone.id}", kind=kind, details=details)
    work.apply(
        Expect(kind, kept.id, kept),
        Expect(kind, gone.id, gone),
        Put(one),
        Pool(kind, (gone.id,), one.id),
        Remove(kind, (gone.id,), scrub=False, erases=False),
        *logged,
    )
    return one.id


def _alike(work: Workspace, memories: Sequence[MemoryRecord]) -> list[Pair]:
    """Each memory of one kind with those that have most of its words, as far as they may be merged."""
    now = work.clock.now()
    asking = [memory for memory in memories if is_mergeable(memory, now)]
    if not asking:
        return []
    asked = [Words(kind=m.kind, channel=m.channel, terms=tuple(terms(m.content[:LONGEST]))) for m in asking]
    found = work.store.sharing(asked, SHARED, NEAREST)
    ids = {id for likely in found for id in likely}
    known = {other.id: other for other in work.store.get(type(asking[0]), sorted(ids))}
    return [
        (memory, other)
        for memory, likely in zip(asking, found, strict=True)
        for other in (known[id] for id in likely if id in known and id != memory.id)
        if is_mergeable(other, now) and may_merge(*survivor(memory, other))
    ]


def _same(work: Workspace, pairs: Iterable[Pair]) -> list[Pair]:
    """Those of which both say the same. Vectors are read of what may only."""
    likely = [pair for pair in pairs if is_same(*pair, near=True)]
    ids = {memory.id for pair in likely for memory in pair}
    chunks = work.store.chunks(sorted(ids), work.space) if ids else {}
    return [pair for pair in likely if is_same(*pair, near=_is_near(work, chunks, pair))]


def _is_near(work: Workspace, chunks: Mapping[str, Sequence[Chunk]], pair: Pair) -> bool:
    """Whether two memories resemble each other. What is so long that it is searched piece by piece resembles
    none."""
    vectors = [chunks[m.id][0].vector for m in pair if len(chunks.get(m.id, ())) == 1]
    if work.space is None or len(vectors) < 2 or vectors[0] is None or vectors[1] is None:
        return False
    return work.space.similarity(float(vectors[0] @ vectors[1])) >= work.settings.same_similarity
