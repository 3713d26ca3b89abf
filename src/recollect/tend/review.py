"""Contradictions that somebody is to look at: two memories of which mining could not tell which one holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from recollect.errors import Invalid, NotFound
from recollect.limits import check_given, check_text, check_whole, shown
from recollect.mine.resolve import BESIDE, REVIEW
from recollect.mine.slots import is_for_review
from recollect.mine.versions import followed
from recollect.model.changes import Change, Expect, Revise
from recollect.model.mined import Contradiction
from recollect.model.records import MemoryRecord, mined, noted
from recollect.record.memories import find_memory
from recollect.tend.erase import forget_one
from recollect.workspace import Workspace, rereading

KEEP = ("new", "old", "both")
_AT_ONCE = 100
_LONGEST = 1000  # versions of one memory that are followed


def contradictions(work: Workspace, limit: int, after: str | None) -> list[Contradiction]:
    """Those to look at, newest first, behind the one with this id. No index leads to them: the ids and slots
    of what holds are read, and of those that are marked the memories, a page of them."""
    check_whole("limit", limit)
    check_text("after", after)
    found = work.store.fields(MemoryRecord, ("id", "slot"), {"superseded_by": None})
    ids = sorted((id for id, slot in found if is_for_review(slot)), reverse=True)
    wanted = [id for id in ids if after is None or id < after]
    return list(islice(_pairs(work, wanted), limit))


def _pairs(work: Workspace, ids: Sequence[str]) -> Iterator[Contradiction]:
    for start in range(0, len(ids), _AT_ONCE):
        for memory in work.store.get(MemoryRecord, ids[start : start + _AT_ONCE]):
            if (old := _other(work, memory)) is not None:
                yield Contradiction(new=memory, old=old)


def _other(work: Workspace, memory: MemoryRecord) -> MemoryRecord | None:
    """What a memory contradicts, as it holds by now; None where nothing does any more."""
    id: object = mined(memory).get(REVIEW)
    for _ in range(_LONGEST):
        found = work.store.get(MemoryRecord, [id]) if isinstance(id, str) and id != memory.id else []
        if not found or found[0].superseded_by is None:
            return found[0] if found else None
        id = found[0].superseded_by
    return None


def settle(work: Workspace, id: str, keep: str) -> None:
    """Say which of the two holds."""
    if check_given("keep", keep) not in KEEP:
        raise Invalid(f"keep is one of {', '.join(KEEP)}, not {shown(keep)}.")
    if keep == "old":
        _asked(work, id)
        forget_one(work, id, with_sources=False)
    else:
        _keep(work, id, keep)


def _asked(work: Workspace, id: str) -> Contradiction:
    memory = find_memory(work, id)
    old = _other(work, memory) if memory.superseded_by is None else None
    if old is None:
        raise NotFound(f"{id} contradicts nothing that holds: there is nothing to settle.")
    return Contradiction(new=memory, old=old)


@rereading
def _keep(work: Workspace, id: str, keep: str) -> None:
    pair = _asked(work, id)
    changes: list[Change] = [Expect(m.kind, m.id, m) for m in (pair.new, pair.old)]
    if keep == "both":
        kept = replace(pair.new, metadata=noted(pair.new, {REVIEW: None, BESIDE: pair.old.id}))
    else:
        kept = _following(pair)
        changes.append(_revised(pair.old, followed(pair.old, kept, work.clock.now())))
    changes.append(_revised(pair.new, kept))
    logged = work.log("settle", f"{kept.kind} {id}", kind=kept.kind, details={"keep": keep})
    work.apply(*changes, *logged)


def _following(pair: Contradiction) -> MemoryRecord:
    """The newer one as the version after the older one: where that is, and answering what that answered."""
    new, old = pair.new, pair.old
    return replace(
        new,
        supersedes=old.id,
        slot=old.slot or new.slot,
        channel=old.channel,
        promoted_from=old.promoted_from,
        pinned=new.pinned or old.pinned,
        metadata=noted(new, {REVIEW: None}),
    )


def _revised(before: MemoryRecord, after: MemoryRecord) -> Revise:
    names = (
        "supersedes",
        "superseded_by",
        "slot",
        "channel",
        "promoted_from",
        "pinned",
        "metadata",
        "valid_to",
        "stated_to",
        "retired_at",
    )
    changed: dict[str, Any] = {name: getattr(after, name) for name in names}
    fields = {name: value for name, value in changed.items() if value != getattr(before, name)}
    return Revise(before.kind, before.id, fields)
