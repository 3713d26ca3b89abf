"""The times that a question names, as filters and as reasons to prefer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recollect.model.search import Filter
from recollect.recall.fuse import Window
from recollect.recall.query import Anchor, TimeHint

_DAY = timedelta(days=1)
_EVER, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_RELATIVE = re.compile(r"\b(?:ago|last|past|yesterday|this|recent|previous|earlier|couple)\b", re.IGNORECASE)
_TOLD_BEFORE, _TOLD_AFTER = 2 * _DAY, 7 * _DAY
"""How long before and after a date something is told that happened on it."""
AROUND = 0.6
"""What the room around a time is worth."""
_AROUND = 3 * _DAY
"""What "when I moved" covers on both sides of the day on which that was told."""


def past(hints: Iterable[TimeHint], now: datetime) -> list[TimeHint]:
    """Those with bounds of which something can have been told. What only begins today is a plan, unless
    it is the time of the saying."""
    return [
        hint
        for hint in hints
        if not hint.soft
        and (hint.since is not None or hint.until is not None)
        and (hint.since is None or hint.since < now - _DAY or hint.kind == "said")
    ]


def windows(hints: Iterable[TimeHint], now: datetime) -> list[Window]:
    """Each with room on both sides: a time named by its distance is loosely meant, and what happened on a
    date is told later."""
    found: list[Window] = []
    for hint in hints:
        found.append(Window(hint.since or _EVER, hint.until or now + _DAY))
        if hint.since is not None and hint.until is not None:
            before, after = _TOLD_BEFORE, _TOLD_AFTER
            if _RELATIVE.search(hint.phrase):
                before = after = hint.until - hint.since + _DAY
            found.append(Window(_moved(hint.since, -before), _moved(hint.until, after), AROUND))
    return found


def _moved(at: datetime, by: timedelta) -> datetime:
    """As far as there are dates: "2024 years ago" begins with the first of them."""
    try:
        return at + by
    except OverflowError:
        return _END if by > timedelta() else _EVER


def narrowed(filter: Filter, hints: Sequence[TimeHint]) -> Filter:
    """The filter for what was *said* in one of the times."""
    said = [hint for hint in hints if hint.kind == "said"]
    if not said:
        return filter
    since = (
        None if any(hint.since is None for hint in said) else min(hint.since for hint in said if hint.since)
    )
    until = (
        None if any(hint.until is None for hint in said) else max(hint.until for hint in said if hint.until)
    )
    return replace(filter, since=since, until=until)


def anchored(anchor: Anchor, at: datetime) -> TimeHint:
    """The time that an event gives, once it is known when that was told."""
    since: datetime | None
    until: datetime | None
    match anchor.relation:
        case "since" | "after":
            since, until = at - _DAY, None
        case "before" | "until":
            since, until = None, at + _DAY
        case _:
            since, until = at - _AROUND, at + _AROUND
    return TimeHint(since, until, anchor.phrase, "happened")
