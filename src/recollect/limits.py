"""The checks every input from outside goes through, each with an error that says what to do."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Invalid, TooLarge
from recollect.model.records import Json
from recollect.model.space import Space
from recollect.settings import Settings

TEXT_LIMIT = 10_000
"""The most characters of a title, a name or another short text."""
DEPTH_LIMIT = 64
"""How deep JSON may be nested: far from where reading it back would run out of stack."""
COUNT_LIMIT = 2**31
"""No count, limit or index reaches this."""
_SMALL, _LARGE = 1e-200, 1e200
"""Between these the square of a vector is exact enough to scale it by."""


def shown(value: object) -> str:
    """The value for an error message, short; even that can fail."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr can raise anything
        return f"a {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:100]}…"


def check_content(content: str, settings: Settings) -> None:
    if not isinstance(content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The content must be text, not {type(content).__name__}.")
    if len(content) > settings.content_limit:
        raise TooLarge(
            f"The content has {len(content):,} characters; the limit is {settings.content_limit:,} "
            "(RECOLLECT_CONTENT_LIMIT). Split it, or raise the limit."
        )


def check_metadata(metadata: Json, settings: Settings, what: str = "metadata") -> None:
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The {what} must map names to values, not be a {type(metadata).__name__}.")
    if metadata:
        check_json(what, metadata, settings.metadata_limit, "RECOLLECT_METADATA_LIMIT")


def check_json(what: str, value: Any, limit: int, setting: str) -> None:
    _check_nesting(what, value, limit)
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"The {what} cannot be written as JSON: {error}.") from None
    if size > limit:
        raise TooLarge(f"The {what} has {size:,} characters as JSON; the limit is {limit:,} ({setting}).")


def _check_nesting(what: str, value: Any, limit: int) -> None:
    """Names that are text, and not so deep or so large that writing it down would not end."""
    level, depth, count = [value], 0, 0
    while level:
        depth += 1
        if depth > DEPTH_LIMIT:
            raise Invalid(f"The {what} is nested deeper than the {DEPTH_LIMIT} levels that JSON may have.")
        inner: list[Any] = []
        for outer in level:
            if isinstance(outer, dict):
                names = cast("dict[Any, Any]", outer)
                if odd := [name for name in names if not isinstance(name, str)]:
                    raise Invalid(f"The names in the {what} must be text, not {shown(odd[0])}.")
                inner += names.values()
            elif isinstance(outer, (list, tuple)):
                inner += cast("list[Any]", outer)
            if count + len(inner) > limit:
                raise TooLarge(f"The {what} has more than {limit:,} values.")
        count += len(inner)
        level = inner


def check_time(name: str, at: datetime) -> datetime:
    """The time in UTC; one without a zone could be anywhere and is refused."""
    if not isinstance(at, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be a datetime, not {type(at).__name__}.")
    try:
        if at.utcoffset() is not None:
            return at.astimezone(UTC)
    except OverflowError:
        raise Invalid(f"{name} is beyond the years 1 to 9999 in UTC.") from None
    except Exception as error:  # noqa: BLE001 - a zone is anybody's code
        raise Invalid(f"{name} has a time zone that fails: {type(error).__name__}.") from None
    raise Invalid(f"{name} needs a time zone: give datetime(…, tzinfo=timezone.utc).")


def check_whole(name: str, value: int, limit: int = COUNT_LIMIT, least: int = 0) -> int:
    """A whole number from `least` up to, but not including, the limit."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < limit:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(
            f"{name} must be a whole number between {least:,} and {limit - 1:,}, not {shown(value)}."
        )
    return value


def check_number(name: str, value: float, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number from `least` to `most`."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not fits or not least <= value <= most or not -1e300 < value < 1e300:
        between = "" if math.isinf(least) else f" between {least:g} and {most:g}"
        raise Invalid(f"{name} must be a finite number{between}, not {shown(value)}.")
    return value


def check_flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be True or False, not {shown(value)}.")
    return value


def check_text(name: str, value: str | None, limit: int = TEXT_LIMIT) -> str | None:
    return None if value is None else check_given(name, value, limit)


def check_given(name: str, value: str, limit: int = TEXT_LIMIT) -> str:
    """A text that has to be there."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be text, not {type(value).__name__}.")
    if len(value) > limit:
        raise TooLarge(f"{name} has {len(value):,} characters; the limit is {limit:,}.")
    return value


def check_texts(name: str, values: str | Iterable[str], limit: int = TEXT_LIMIT) -> tuple[str, ...]:
    """Several texts, no longer together than the limit; a single one stands for itself."""
    if isinstance(values, str):
        values = (values,)
    if not isinstance(values, (Sequence, Set)) or not all(isinstance(part, str) for part in values):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be a list of texts, not {shown(values)}.")
    if (size := sum(map(len, values))) > limit:
        raise TooLarge(f"{name} has {size:,} characters; the limit is {limit:,}.")
    return tuple(values)


def check_many(name: str, values: Iterable[Any]) -> None:
    """Something to go through; a single text is most likely a mistake."""
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{name} must be a list, not {shown(values)}.")


def check_progress(progress: object) -> None:
    if progress is not None and not callable(progress):
        raise Invalid(f"progress must be a function, not {shown(progress)}.")


def check_vector(given: Any, space: Space | None) -> NDArray[np.float32]:
    """The vector at length one, like those an embedder gives."""
    return check_vectors([given], space)[0]


def check_vectors(given: Sequence[Any], space: Space | None) -> NDArray[np.float32]:
    """Vectors at length one; together, because NumPy takes longer to call than to count."""
    if not given:
        return np.empty((0, 0), np.float32)
    try:
        vectors = [_floats(one) for one in given]
    except (TypeError, ValueError, OverflowError):
        raise Invalid("A vector must be a list of numbers.") from None
    wanted = (space.dimensions,) if space else vectors[0].shape[:1]
    for vector in vectors:
        if vector.ndim != 1 or vector.shape != wanted:
            raise Invalid(f"The vector has shape {vector.shape}; {wanted} was expected.")
    matrix = np.array(vectors, np.float64)
    squares = _squares(matrix)
    if not ((squares > _SMALL) & (squares < _LARGE)).all():  # also for what is not a number
        largest = np.abs(matrix).max(axis=1, initial=0)[:, np.newaxis]
        if not ((largest > 0) & (largest < math.inf)).all():
            raise Invalid("A vector must have finite numbers, not all of them zero.")
        matrix /= largest
        squares = _squares(matrix)
    matrix /= np.sqrt(squares)[:, np.newaxis]
    return matrix.astype(np.float32)


def _squares(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", under="ignore"):
        return np.einsum("ij,ij->i", matrix, matrix)


def _floats(given: Any) -> NDArray[Any]:
    if isinstance(given, np.ndarray) and given.dtype == np.float32:  # pyright: ignore[reportUnknownMemberType]
        return cast("NDArray[np.float32]", given)  # as embedders give them
    return np.asarray(given, np.float64)
