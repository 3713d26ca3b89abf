"""The checks every input from outside goes through, each with an error that says what to do."""

import json
from datetime import UTC, datetime
from typing import Any

from recollect.errors import Invalid, TooLarge
from recollect.model.records import Json
from recollect.settings import Settings


def check_content(content: str, settings: Settings) -> None:
    if not isinstance(content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The content must be text, not {type(content).__name__}.")
    if len(content) > settings.content_limit:
        raise TooLarge(
            f"The content has {len(content):,} characters; the limit is {settings.content_limit:,} "
            "(RECOLLECT_CONTENT_LIMIT). Split it, or raise the limit."
        )


def check_metadata(metadata: Json, settings: Settings) -> None:
    if metadata:
        check_json("metadata", metadata, settings.metadata_limit, "RECOLLECT_METADATA_LIMIT")


def check_json(what: str, value: Any, limit: int, setting: str) -> None:
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"The {what} cannot be written as JSON: {error}.") from None
    if size > limit:
        raise TooLarge(f"The {what} has {size:,} characters as JSON; the limit is {limit:,} ({setting}).")


def check_time(name: str, at: datetime) -> datetime:
    """The time in UTC; one without a zone could be anywhere and is refused."""
    if at.tzinfo is None:
        raise Invalid(f"{name} needs a time zone: give datetime(…, tzinfo=timezone.utc).")
    return at.astimezone(UTC)
