"""From what was found to hits: the records behind it, each content once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.model.places import Pointer
from recollect.model.recollection import Hit, LeftOut
from recollect.model.records import BY_KIND, Entity, Episode, MemoryRecord, Procedure, Record, Turn
from recollect.model.searched import searchable_text
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
    told, fetched, says = Evidence(), dict[str, Record](), dict[str, list[str]]()
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
            if reason := seen.get(content):
                passed.append(LeftOut(hit.id, hit.kind, hit.score, reason))
            elif teller := told.told(record):
                passed.append(LeftOut(hit.id, hit.kind, hit.score, f"{teller} says it"))
                says.setdefault(teller, []).append(hit.id)
            else:
                seen[content] = f"it says the same as {hit.id}"
                told.add(record)
                found.append(hit)
        if len(found) == wanted:
            break
    places = _places(view, [r for r in fetched.values() if isinstance(r, Turn) and r.id in told.turns])
    if places:  # otherwise nothing was mined from them, so that nothing can have overtaken them
        found = overtaken(view, found, asked, wanted)
    if "updates" in asked.on:
        found = newest_first(found, asked)
    found = [replace(hit, says=tuple(says[hit.id])) if _tells(hit, says) else hit for hit in found]
    return _cited(view, found, places), passed


def _tells(hit: Hit, says: Mapping[str, Sequence[str]]) -> bool:
    """Whether a hit is a turn that says facts; a fact that says a turn tells nothing more of it."""
    return hit.kind == Turn.kind and hit.id in says


def _places(view: UserView, turns: Sequence[Turn]) -> dict[str, str]:
    """The pointers of those of the turns that have a place."""
    at = {turn.id: (turn.conversation, turn.index) for turn in turns}
    rooms = view.rooms(list(at.values())) if at else {}
    return {id: str(Pointer(*rooms[place], place[1] + 1)) for id, place in at.items() if place in rooms}


def _cited(view: UserView, found: list[Hit], places: Mapping[str, str]) -> list[Hit]:
    """The hits with their pointers: turns', and that of the newest turn behind a memory."""
    behind = [hit.sources[-1] for hit in found if hit.kind != Turn.kind and hit.sources]
    more = _places(view, view.get(Turn, [id for id in behind if id not in places])) if behind else {}
    pointers = {**places, **more}
    cited = [pointers.get(hit.sources[-1]) if hit.sources else None for hit in found]
    return [replace(hit, citation=at) if at else hit for hit, at in zip(found, cited, strict=True)]


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
                "went": _went(record),
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


def _went(record: MemoryRecord) -> str:
    """How what a memory tells of went, where that is known."""
    match record:
        case Procedure(successes=well, failures=badly) if well + badly:
            return f"went well {well} of {well + badly} times"
        case Episode(success=bool(success)):
            return "went well" if success else "failed"
        case _:
            return ""
