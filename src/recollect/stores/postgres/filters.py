"""A filter as conditions on chunks, which statements call `c`."""

from typing import Any

from recollect.model.search import Filter
from recollect.stores.sql.codec import encode_text, encode_time


def conditions(filter: Filter) -> tuple[str, dict[str, Any]]:
    """The conditions, and the parameters they name."""
    found, values = _equalities(filter)
    bounds: dict[str, tuple[Any, str]] = {
        "since": (_time(filter.since), "c.at >= %(since)s"),
        "until": (_time(filter.until), "c.at < %(until)s"),
        "confidence": (filter.min_confidence or None, "c.confidence >= %(confidence)s"),
    }
    for name, (value, condition) in bounds.items():
        if value is not None:
            found.append(condition)
            values[name] = value
    held, times = _holding(filter) if filter.in_force else ([], {})
    return " AND ".join(found + held) or "true", values | times


def _equalities(filter: Filter) -> tuple[list[str], dict[str, Any]]:
    found: list[str] = []
    values: dict[str, Any] = {}
    for column, wanted in filter.wanted.items():
        found.append(f"c.{column} = ANY(%({column})s)")
        values[column] = [encode_text(value) for value in wanted]
    if filter.exclude_conversation is not None:
        found.append("c.conversation IS DISTINCT FROM %(excluded)s")
        values["excluded"] = encode_text(filter.exclude_conversation)
    return found, values


def _holding(filter: Filter) -> tuple[list[str], dict[str, Any]]:
    """Valid at `as_of`, as far as was known at `known_at`; by default, now."""
    current = "(c.expires_at IS NULL OR c.expires_at > %(now)s)"
    if filter.as_of is None and filter.known_at is None:
        # A correction made for later leaves the old memory in force until then. What began after it
        # was recorded is told from what a clock that went back has put into the future.
        planned = "c.supersedes IS NOT NULL AND c.valid_from > greatest(c.recorded_at, %(now)s)"
        ended = "(c.valid_to IS NULL OR c.valid_to > %(now)s)"
        return [current, "c.retired_at IS NULL", ended, f"NOT ({planned})"], {"now": _time(filter.now)}
    end = "CASE WHEN c.retired_at > %(known_at)s THEN c.stated_to ELSE c.valid_to END"
    held = [current, "c.recorded_at <= %(known_at)s", "c.valid_from <= %(as_of)s"]
    known_at = _time(filter.known_at) or _LATEST
    as_of = _time(filter.as_of) or known_at
    times = {"now": _time(filter.now), "known_at": known_at, "as_of": as_of}
    return [*held, f"coalesce({end}, {_LATEST + 1}) > %(as_of)s"], times


_LATEST = (1 << 62) - 1


def _time(at: Any) -> int | None:
    return None if at is None else encode_time(at)
