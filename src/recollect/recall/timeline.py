"""What happened when: everything said, learnt and ended, in order of time."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from heapq import merge
from itertools import dropwhile, islice, takewhile

from recollect.limits import check_flag, check_text, check_time, check_whole
from recollect.model.recollection import Event
from recollect.model.records import Entity, MemoryRecord, Relation, Role, Turn
from recollect.ports.store import UserView
from recollect.recall.graph import Graph
from recollect.workspace import Workspace

_START = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


def timeline(
    work: Workspace,
    entity: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    as_of: datetime | None = None,
    latest: bool = False,
) -> list[Event]:
    """Events from `since` up to `until`, oldest first; with `entity`, a name, an alias or an id, only those
    about it. With `as_of`, how things stood then: what held at that moment, from when it began. Of more than
    `limit` the first ones, or the `latest`."""
    check_text("entity", entity)
    check_whole("limit", limit)
    check_flag("latest", latest)
    first = _START if since is None else check_time("since", since)
    last = _END if until is None else check_time("until", until)
    then = None if as_of is None else check_time("as_of", as_of)
    if entity is None:
        events = _everything(work, then, latest)
    else:
        one = work.entity(entity)
        known = work.reading(lambda work, view: _about(work, view, one, then))
        events = iter(sorted(known, key=_key, reverse=latest))
    found = list(islice((event for event in events if first <= event.at < last), limit))
    return found[::-1] if latest else found


def _everything(work: Workspace, then: datetime | None, latest: bool) -> Iterator[Event]:
    """All events in order of time, or, from the latest on, in the opposite order."""
    said = (
        Event(
            at=t.at,
            what="said",
            kind=t.kind,
            id=t.id,
            content=t.content,
            sources=(t.id,),
            metadata={"role": str(t.role)},
        )
        for t in work.store.find(Turn, {"channel": work.channels}, order="at", descending=latest)
        if t.role is not Role.NOTE  # the memory that cites it stands for it
    )
    if then is not None:
        if latest:
            said = dropwhile(lambda event: event.at > then, said)
        else:
            said = takewhile(lambda event: event.at <= then, said)
    known: list[Event] = []
    for memory in work.store.find(MemoryRecord, {"channel": work.channels}):
        known += _life(memory, then, work.clock.now())
    known.sort(key=_key, reverse=latest)
    return merge(said, known, key=_key, reverse=latest)


def _about(work: Workspace, view: UserView, entity: Entity, then: datetime | None) -> list[Event]:
    channels, now = work.channels, work.clock.now()
    graph = Graph(work, view, work.resting.warn)
    events: list[Event] = []
    for memory in graph.about(entity.id):
        if memory.channel in channels:
            events += _life(memory, then, now)
    relations = list(graph.touching([entity.id], channels))
    ends = {r.source for r in relations} | {r.target for r in relations}
    names = {e.id: e.name for e in view.get(Entity, sorted(ends))}
    for relation in relations:
        events += _bond(relation, names, then)
    return events


def _key(event: Event) -> tuple[datetime, str]:
    return event.at, event.id


def _life(memory: MemoryRecord, then: datetime | None, now: datetime) -> list[Event]:
    """When a memory began to hold and, if it did, when it ended; nothing if it did not hold `then`."""
    if then is not None:  # as recall's filter has it: what is expired is asked for no more
        expired = memory.expires_at is not None and memory.expires_at <= now and not memory.pinned
        if expired or not _held(memory.valid_from, memory.valid_to, then):
            return []
    began = Event(
        at=memory.valid_from,
        what="corrected" if memory.supersedes else "learnt",
        kind=memory.kind,
        id=memory.id,
        content=memory.content,
        valid_to=memory.valid_to,
        sources=memory.sources,
    )
    return _span(began, then)


def _bond(relation: Relation, names: Mapping[str, str], then: datetime | None) -> list[Event]:
    if then is not None and not related_then(relation, then):
        return []
    began = Event(
        at=relation.valid_from,
        what="began",
        kind=relation.kind,
        id=relation.id,
        content=f"{names.get(relation.source, '?')} {relation.type} {names.get(relation.target, '?')}",
        valid_to=relation.valid_to,
        sources=relation.sources,
    )
    return _span(began, then)


def related_then(relation: Relation, then: datetime) -> bool:
    """Whether the relation held at that moment: one that was merely mistaken never did."""
    mistaken = relation.retired_at is not None and relation.valid_to is None
    return not mistaken and _held(relation.valid_from, relation.valid_to, then)


def _held(start: datetime, end: datetime | None, then: datetime) -> bool:
    return start <= then and (end is None or then < end)


def _span(began: Event, then: datetime | None) -> list[Event]:
    if began.valid_to is None or then is not None:
        return [began]
    return [began, replace(began, at=began.valid_to, what="ended")]
