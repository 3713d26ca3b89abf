"""What an importer finds in a file: turns, memories, and what it leaves out and why. Pure values."""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, cast

from recollect.errors import Invalid
from recollect.model.records import Json
from recollect.model.scope import check_name
from recollect.record.turns import Message

IMPORTED = "imported"
"""Where the metadata of what was imported tells where from, and by which id it is known there."""
_MILLISECONDS = 1e11
"""Seconds since 1970 do not reach this before the year 5138; what does is in milliseconds."""
_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that were not UTF-8, as they are decoded."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """A message with its conversation and its index in it, by which it is known again."""

    where: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory. `key` is what it is called at its source, by which it is known again; `owner` whose it is
    there, where that is told; `since` when its words were last changed."""

    where: str
    key: str
    content: str
    at: datetime | None = None
    until: datetime | None = None
    expires: datetime | None = None
    since: datetime | None = None
    confidence: float | None = None
    about: tuple[str, ...] = ()
    owner: str | None = None
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is not taken in. `where` tells its place in the file, never what it says."""

    where: str
    reason: str


Item = Said | Known | Left
Items = Iterator[Item]

BROKEN = "it is not UTF-8 text"
NO_TEXT = "it has no text"
TOO_LONG = "it is longer than RECOLLECT_CONTENT_LIMIT"
UNFIT = "it cannot be stored as it is"
NOT_AN_OBJECT = "it is not what the format has there"


def as_object(value: object) -> Json:
    """The value if it is an object, else one with nothing in it: exports have nulls anywhere."""
    return cast(Json, value) if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def unreadable(text: str) -> str | None:
    """Why a text cannot be kept word for word, if so."""
    if not text.strip():
        return NO_TEXT
    return BROKEN if _ESCAPED.search(text) else None


def named(source: str, *parts: str) -> str:
    """A name for a conversation that its source calls so, whatever characters that has."""
    name = ":".join((source, *parts))
    try:
        return check_name("conversation", name)
    except Invalid:
        digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass"))
        return f"{source}:{digest.hexdigest()}"


def origin(source: str, **more: object) -> dict[str, Any]:
    """The metadata that tells where something was imported from."""
    kept = {name: value for name, value in more.items() if value not in (None, "", [], {})}
    return {IMPORTED: {"from": source, **kept}}


def a_time(value: object, zone: tzinfo | None = UTC) -> datetime | None:
    """A time as exports write it: ISO 8601, or seconds or milliseconds since 1970; None when it is none.
    One without a zone is of `zone`, and of where this runs when that is None."""
    try:
        if isinstance(value, str) and value.strip():
            at = datetime.fromisoformat(value.strip())
            return (at.replace(tzinfo=zone) if at.tzinfo is None and zone else at.astimezone()).astimezone(
                UTC
            )
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
            return _EPOCH + timedelta(seconds=seconds)
    except (ValueError, OverflowError, OSError):
        return None
    return None
