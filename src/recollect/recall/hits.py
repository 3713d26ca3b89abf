"""From what was found to hits: the records behind it, each content once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.model.places import Pointer
from recollect.model.recollection import Hit, LeftOut
from recollect.model.records import BY_KIND, Entity, MemoryRecord, Record, Turn, searchable_text
from recollect.ports.store import UserView
from recollect.recall.evidence import Evidence, overtaken
from recollect.recall.fuse import Fused
from recollect.recall.question import Asked, same
from recollect.recall.updates import newest_first


def hits(
    view: UserView, fused: Sequence[Fused], wanted: int, asked: Asked
) -> tuple[list[Hit], list[LeftOut]]:
    """The best records, and what was passed over on the way to them: what says the same as another, and
    what the model has in front of it anyway. One that was erased meanwhile is left out."""
    found: list[Hit] = []
    passed: list[LeftOut] = []
    told, fetched = Evidence(), dict[str, Record]()
    seen = dict.fromkeys(asked.shown, "it is in the conversation already")
    for start in range(0, len(fused), wanted):
        some = fused[start : start + wanted]
        fetched |= _fetched(view, some)
        for one in some:
            if one.id not in fetched or len(found) == wanted:
                continue
            record = fetched[one.id]
            hit = _hit(one, record)
            content = same(hit.content)
            if reason := seen.get(content) or told.told(record):
                passed.append(LeftOut(hit.id, hit.kind, hit.score, reason))
            else:
                seen[content] = f"it says the same as {hit.id}"
                told.add(record)
                found.append(hit)
        if len(found) == wanted:
            break
    found = overtaken(view, found, asked, wanted)
    if "updates" in asked.on:
        found = newest_first(found, asked)
    return _cited(view, found, fetched), passed


def _cited(view: UserView, found: list[Hit], fetched: Mapping[str, Record]) -> list[Hit]:
    """The hits with the pointers of those that have a place: turns, and the newest turn behind a memory."""
    turns = {id: turn for id, turn in fetched.items() if isinstance(turn, Turn)}
    behind = [hit.sources[-1] for hit in found if hit.sources and hit.sources[-1] not in turns]
    turns |= {turn.id: turn for turn in view.get(Turn, behind)} if behind else {}
    if not turns:
        return found
    places = {turn.id: (turn.conversation, turn.index) for turn in turns.values()}
    rooms = view.rooms(list(places.values()))
    pointers = {id: str(Pointer(*rooms[at], at[1] + 1)) for id, at in places.items() if at in rooms}
    newest = [next((id for id in reversed(hit.sources) if id in pointers), "") for hit in found]
    return [replace(hit, citation=pointers[id]) if id else hit for hit, id in zip(found, newest, strict=True)]


def _fetched(view: UserView, fused: Sequence[Fused]) -> dict[str, Record]:
    ids: dict[str, list[str]] = {}
    for found in fused:
        ids.setdefault(found.chunk.kind, []).append(found.id)
    return {record.id: record for kind, wanted in ids.items() for record in view.get(BY_KIND[kind], wanted)}


def _hit(found: Fused, record: Record) -> Hit:
    text = searchable_text(record)
    own: dict[str, Any]
    match record:
        case Turn():
            own = {
                "at": record.at,
                "agent": record.agent,
                "conversation": record.conversation,
                "role": str(record.role),
                "sources": (record.id,),
            }
        case MemoryRecord():
            own = {
                "at": record.valid_from,
                "agent": record.agent,
                "confidence": record.confidence,
                "valid_from": record.valid_from,
                "valid_to": record.valid_to,
                "sources": record.sources,
            }
        case Entity():
            own = {"at": record.first_seen, "sources": record.sources}
        case _:
            raise TypeError(f"A {record.kind} cannot be recalled.")
    return Hit(
        id=record.id,
        kind=record.kind,
        content=text,
        excerpt=text[found.chunk.start : found.chunk.stop],
        score=found.score,
        channel=record.channel,
        signals=found.signals,
        paths=found.paths,
        **own,
    )
