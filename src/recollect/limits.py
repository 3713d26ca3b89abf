"""The checks every input from outside goes through, each with an error that says what to do."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Invalid, TooLarge
from recollect.model.records import Json
from recollect.model.space import Space
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
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The metadata must map names to values, not be a {type(metadata).__name__}.")
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
    if not isinstance(at, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be a datetime, not {type(at).__name__}.")
    if at.tzinfo is None:
        raise Invalid(f"{name} needs a time zone: give datetime(…, tzinfo=timezone.utc).")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Invalid(f"{name} is beyond the years 1 to 9999 in UTC.") from None


def check_whole(name: str, value: int, limit: int) -> int:
    """A whole number from 0 up to, but not including, the limit."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < limit:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be a whole number between 0 and {limit - 1:,}, not {value!r}.")
    return value


def check_text(name: str, value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be text, not {type(value).__name__}.")
    return value


def check_vector(given: Any, space: Space | None) -> NDArray[np.float32]:
    """The vector at length one, like those an embedder gives."""
    try:
        vector = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        raise Invalid("A vector must be a list of numbers.") from None
    wanted = (space.dimensions,) if space else vector.shape[:1]
    if vector.ndim != 1 or vector.shape != wanted:
        raise Invalid(f"The vector has shape {vector.shape}; {wanted} was expected.")
    length = math.sqrt(np.dot(vector, vector))
    if not 0 < length < math.inf:
        raise Invalid("A vector must have finite numbers, not all of them zero.")
    return vector / np.float32(length)
