"""What has to be so, besides what an erasure touched, for it to be taken back: what the records lead to is
still there, and nobody has taken their places."""

from collections.abc import Iterator, Sequence

from recollect.mine.bonds import SINGLE, group
from recollect.model.changes import ExpectOnly
from recollect.model.records import (
    BY_KIND,
    Entity,
    Goal,
    MemoryRecord,
    Record,
    Relation,
    Summary,
    ToolInvocation,
    Turn,
    mined,
)
from recollect.workspace import Workspace


def undoing_needs(work: Workspace, gone: Sequence[Record]) -> list[ExpectOnly]:
    """As it is when these are erased."""
    return [*_led_to(work, gone), *_answering(work, gone), *_places(gone)]


def _led_to(work: Workspace, gone: Sequence[Record]) -> Iterator[ExpectOnly]:
    """What they lead to and what stays; a record without it would be of nothing."""
    erased = {(record.kind, record.id) for record in gone}
    wanted: dict[str, set[str]] = {}
    for record in gone:
        for kind, ids in _leads(record).items():
            wanted.setdefault(kind, set()).update(id for id in ids if id and (kind, id) not in erased)
    for kind, ids in wanted.items():
        if found := [record.id for record in work.store.get(BY_KIND[kind], sorted(ids), bare=True)]:
            yield ExpectOnly(kind, {"id": found}, frozenset(found))


def _leads(record: Record) -> dict[str, tuple[str | None, ...]]:
    match record:
        case Turn() | Summary():
            return {"conversation": (record.conversation,)}
        case MemoryRecord():
            return {"turn": record.sources, "entity": record.about}
        case Entity():
            return {"turn": record.sources}
        case Relation():
            return {"turn": record.sources, "entity": (record.source, record.target)}
        case Goal():
            return {"goal": (*record.blocked_by, record.parent)}
        case ToolInvocation():
            return {"turn": (record.turn,)}
        case _:
            return {}


def _answering(work: Workspace, gone: Sequence[Record]) -> Iterator[ExpectOnly]:
    """That nothing else has come to answer what they answer."""
    ids = {record.id for record in gone}
    slots: dict[tuple[str, str], set[str]] = {}
    for memory in gone:
        if isinstance(memory, MemoryRecord) and memory.slot is not None:
            slots.setdefault((memory.kind, memory.channel), set()).add(memory.slot)
    conditions = [
        (kind, {"slot": sorted(found), "channel": channel}) for (kind, channel), found in slots.items()
    ]
    single = {group(bond) for bond in gone if isinstance(bond, Relation) and mined(bond).get(SINGLE)}
    conditions += [("relation", {"source": s, "type": t, "channel": c}) for s, t, c in sorted(single)]
    for kind, where in conditions:
        left = {record.id for record in work.store.find(BY_KIND[kind], where, bare=True)} - ids
        yield ExpectOnly(kind, where, frozenset(left))


def _places(gone: Sequence[Record]) -> Iterator[ExpectOnly]:
    """That nothing was said in their place."""
    talks: dict[str, list[int]] = {}
    for turn in gone:
        if isinstance(turn, Turn):
            talks.setdefault(turn.conversation, []).append(turn.index)
    for conversation, indexes in talks.items():
        yield ExpectOnly("turn", {"conversation": conversation, "index": sorted(indexes)}, frozenset())
