"""What happened when: everything said, learnt and ended, in order of time."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from heapq import merge
from itertools import islice

from recollect.errors import NotFound
from recollect.limits import check_text, check_time, check_whole
from recollect.model.recollection import Event
from recollect.model.records import MEMORY_TYPES, Entity, MemoryRecord, Relation, Role, Turn
from recollect.workspace import Workspace

_START = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


def timeline(
    work: Workspace, entity: str | None, since: datetime | None, until: datetime | None, limit: int
) -> list[Event]:
    """Events from `since` up to `until`, oldest first; with `entity`, a name or id, only those about it."""
    check_text("entity", entity)
    check_whole("limit", limit)
    first = _START if since is None else check_time("since", since)
    last = _END if until is None else check_time("until", until)
    events = _everything(work) if entity is None else iter(_about(work, _entity(work, entity)))
    inside = (event for event in events if first <= event.at < last)
    return list(islice(inside, limit))


def _entity(work: Workspace, name: str) -> Entity:
    for found in (*work.store.get(Entity, [name]), *work.store.find(Entity, {"name": name}, limit=1)):
        return found
    wanted = name.casefold()
    for entity in work.store.find(Entity):
        if wanted in (entity.name.casefold(), *(alias.casefold() for alias in entity.aliases)):
            return entity
    raise NotFound(f"Nothing is known of {name!r}.")


def _everything(work: Workspace) -> Iterator[Event]:
    said = (
        Event(at=t.at, what="said", kind=t.kind, id=t.id, content=t.content, metadata={"role": str(t.role)})
        for t in work.store.find(Turn, {"channel": work.scope.channels}, order="at")
        if t.role is not Role.NOTE  # the memory that cites it stands for it
    )
    known: list[Event] = []
    for kind in MEMORY_TYPES:
        for memory in work.store.find(kind, {"channel": work.scope.channels}):
            known += _life(memory)
    known.sort(key=_key)
    return merge(said, known, key=_key)


def _about(work: Workspace, entity: Entity) -> list[Event]:
    events: list[Event] = []
    for kind in MEMORY_TYPES:
        for memory in work.store.find(kind):
            if entity.id in memory.about:
                events += _life(memory)
    relations = {r.id: r for end in ("source", "target") for r in work.store.find(Relation, {end: entity.id})}
    ends = {r.source for r in relations.values()} | {r.target for r in relations.values()}
    names = {e.id: e.name for e in work.store.get(Entity, sorted(ends))}
    for relation in relations.values():
        events += _bond(relation, names)
    return sorted(events, key=_key)


def _key(event: Event) -> tuple[datetime, str]:
    return event.at, event.id


def _life(memory: MemoryRecord) -> list[Event]:
    """When a memory began to hold and, if it did, when it ended."""
    what = "corrected" if memory.supersedes else "learnt"
    return _span(what, memory.kind, memory.id, memory.content, memory.valid_from, memory.valid_to)


def _bond(relation: Relation, names: dict[str, str]) -> list[Event]:
    content = f"{names.get(relation.source, '?')} {relation.type} {names.get(relation.target, '?')}"
    return _span("began", "relation", relation.id, content, relation.valid_from, relation.valid_to)


def _span(what: str, kind: str, id: str, content: str, start: datetime, end: datetime | None) -> list[Event]:
    began = Event(at=start, what=what, kind=kind, id=id, content=content)
    return [began] if end is None else [began, replace(began, at=end, what="ended")]
