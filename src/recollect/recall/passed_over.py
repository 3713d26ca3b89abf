"""What would have been found but for a filter or the threshold, and which of them kept it out."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from recollect.model.recollection import LeftOut
from recollect.model.records import BY_KIND, Record
from recollect.model.search import Candidate, Filter, Search
from recollect.model.space import Space
from recollect.ports.store import UserView
from recollect.recall.fuse import Found, Weighing, fuse
from recollect.recall.gather import Sought
from recollect.recall.question import Asked
from recollect.text.analyse import query_terms

MOST = 5
_NOTHING = frozenset[str]()


def passed_over(
    view: UserView, asked: Asked, sought: Sought, space: Space | None, found: Sequence[str]
) -> list[LeftOut]:
    """The best of what a search without any filter finds beside `found`."""
    candidates = view.search(
        Search(
            filter=Filter(now=asked.filter.now, in_force=False),
            terms=tuple(query_terms(sought.text)) if "words" in asked.on else (),
            vector=sought.vector,
            space=space,
            threshold=-1.0,
            limit=50,
        )
    )
    known = set(found)
    new = [Found(chunk) for chunk in candidates if chunk.owner not in known]
    share = 0.5 if sought.vector is not None else 0.0
    best = fuse(new, Weighing(share, asked.filter.now, _NOTHING))[:MOST]
    ids: dict[str, list[str]] = {}
    for one in best:
        ids.setdefault(one.chunk.kind, []).append(one.id)
    records = {r.id: r for kind, wanted in ids.items() for r in view.get(BY_KIND[kind], wanted)}
    return [
        LeftOut(one.id, one.chunk.kind, one.score, _reason(records[one.id], one.chunk, asked))
        for one in best
        if one.id in records
    ]


def _reason(record: Record, chunk: Candidate, asked: Asked) -> str:
    filter = asked.filter
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    if reason := _not_in_force(values, filter) or _not_asked_for(values, record.kind, filter):
        return reason
    if chunk.text == 0 and chunk.similarity is not None and chunk.similarity < asked.threshold:
        return f"its similarity {chunk.similarity:.3f} is below the threshold {asked.threshold}"
    return "others were nearer"


def _not_in_force(values: dict[str, Any], filter: Filter) -> str | None:
    """The same rules as the filter's own, in words."""
    then = filter.as_of is not None or filter.known_at is not None
    at = filter.as_of or filter.known_at or filter.now
    expires: datetime | None = values.get("expires_at")
    if expires is not None and expires <= filter.now and not values["pinned"]:
        return f"it expired on {expires:%Y-%m-%d}"
    recorded: datetime | None = values.get("recorded_at")
    if filter.known_at is not None and recorded is not None and recorded > filter.known_at:
        return f"it was not known before {recorded:%Y-%m-%d}"
    end, retired = _end(values, filter)
    if (end is not None and end <= at) or (retired is not None and not then):
        if values.get("superseded_by"):
            return f"it was corrected: {values['superseded_by']} holds"
        return f"it no longer holds since {min(day for day in (end, retired) if day):%Y-%m-%d}"
    began: datetime | None = values.get("valid_from")
    if began is not None and began > at and (then or values.get("supersedes")):
        return f"it holds only from {began:%Y-%m-%d}"
    return None


def _end(values: dict[str, Any], filter: Filter) -> tuple[datetime | None, datetime | None]:
    """Until when it held, and since when it is no longer believed, as far as was known then."""
    retired: datetime | None = values.get("retired_at")
    if filter.known_at is not None and retired is not None and retired > filter.known_at:
        return values.get("stated_to"), None
    return values.get("valid_to"), retired


def _not_asked_for(values: dict[str, Any], kind: str, filter: Filter) -> str | None:
    named = {
        "kind": kind,
        **{name: values.get(name) for name in ("role", "channel", "agent", "conversation")},
    }
    for name, allowed in filter.wanted.items():
        if named[name] not in allowed:
            return f"its {name} is {named[name]}"
    if filter.exclude_conversation is not None and named["conversation"] == filter.exclude_conversation:
        return "its conversation was excluded"
    if values.get("confidence", 1.0) < filter.min_confidence:
        return f"its confidence is {values['confidence']}"
    at: datetime | None = values.get("at") or values.get("valid_from") or values.get("first_seen")
    if at is not None and ((filter.since and at < filter.since) or (filter.until and at >= filter.until)):
        return f"it is of {at:%Y-%m-%d}"
    return None
