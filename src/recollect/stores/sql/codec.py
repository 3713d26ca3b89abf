"""Between records and rows.

Text goes through one reversible escape, because no SQL text holds lone surrogates and PostgreSQL's
holds no NUL.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Table

from recollect.errors import Invalid, StoreCorrupt
from recollect.model.records import MemoryRecord, Record
from recollect.model.shapes import FieldShape, Shape, field_from_json, field_to_json, shapes
from recollect.model.space import LARGEST
from recollect.stores.sql.schema import RECORD_TABLES, memories

R = TypeVar("R", bound=Record)

LINKS = ("sources", "about", "blocked_by", "keys")
"""Fields kept in the links table, under their own name."""

_TO_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ESCAPE = "\x10"
_UNSAFE = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def check_id(id: str) -> str:
    """The id; `Invalid` when it would need escaping, so that ids are the same in rows and outside."""
    if not id.isprintable() and _UNSAFE.search(id):
        raise Invalid(f"An id must not contain control characters or lone surrogates: {id!r}.")
    return id


def encode_text(text: str) -> str:
    """The text without NUL and lone surrogates; `decode_text` gives it back."""
    if text.isprintable():  # most are, and it is quick to tell
        return text
    return _UNSAFE.sub(lambda m: f"{_ESCAPE}{ord(m.group()):04x}", text)


def decode_text(text: str) -> str:
    if _ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda m: chr(int(m.group(1), 16)), text)


def encode_number(value: float) -> float:
    """A finite number, a whole one within 32 bits, as every SQL database has them."""
    if isinstance(value, int):
        if not -(1 << 31) <= value < 1 << 31:
            raise Invalid(f"The number {value} is too large.")
    elif not math.isfinite(value):
        raise Invalid(f"{value} is not a finite number.")
    return value


KEPT_TIMES = 1 << 14
"""How many times are kept as they were read: records have several, often the same, and are read again and
again."""


def encode_time(at: datetime) -> int:
    if at.tzinfo is None:
        raise Invalid("Times need a time zone: use datetime.now(timezone.utc) or give tzinfo.")
    return (at - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=KEPT_TIMES)
def decode_time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def encode_json(value: Any) -> str:
    if value == {}:
        return "{}"
    try:
        return _TO_JSON(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"Not JSON: {error}. Use strings, finite numbers, booleans, lists, dicts.") from None


def decode_json(text: str) -> Any:
    return {} if text == "{}" else json.loads(text)


class StoredVector(bytes):
    """Numbers of 16 bits, little-endian. A type of its own, so that a database with vectors can tell."""


def encode_vector(vector: NDArray[np.float32]) -> StoredVector:
    """The vector as stored; `Invalid` when it has values that are no numbers there."""
    return encode_vectors([vector])[0]


def encode_vectors(vectors: Sequence[NDArray[np.float32]]) -> list[StoredVector]:
    """Vectors of one space as stored; together, because NumPy takes longer to call than to count."""
    if not vectors:
        return []
    matrix = np.array(vectors, np.float32)
    # Also refuses what is not a number.
    if not (matrix.max(initial=0) <= LARGEST and matrix.min(initial=0) >= -LARGEST):
        raise Invalid("The vector has values that are not finite numbers, or too large.")
    stored, size = matrix.astype("<f2").tobytes(), 2 * matrix.shape[-1]
    return [StoredVector(stored[start : start + size]) for start in range(0, len(stored), size)]


def decode_vectors(blobs: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(blobs), "<f2").astype(np.float32).reshape(len(blobs), dimensions)


_ENCODE: dict[str, Callable[[Any], Any]] = {
    "time": encode_time,
    "text": encode_text,
    "enum": lambda value: encode_text(str(value)),
    "number": encode_number,
    "tuple": encode_json,
    "json": encode_json,
}
_DECODE: dict[str, Callable[[Any], Any]] = {
    "time": decode_time,
    "text": decode_text,
    "tuple": lambda text: tuple(json.loads(text)),
    "json": decode_json,
}


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    get: Callable[[Record], Any]
    shape: Shape

    def encoded(self, values: list[Any]) -> list[Any]:
        """The column of many records. Most texts are stored as they are, which is quick to tell."""
        if self.shape == "text" and all(map(str.isprintable, filter(None, cast("list[str]", values)))):
            return values
        encode, null = self.encode, self.shape == "json"
        return [encode(value) if value is not None or null else None for value in values]


def table_of(kind: type[Record]) -> Table:
    """The table of a kind; of `MemoryRecord`, which stands for all memories, the one that they share."""
    return memories if kind is MemoryRecord else RECORD_TABLES[kind.kind]


@cache
def _columns(kind: type[Record]) -> tuple[_Column, ...]:
    table = table_of(kind)
    return tuple(
        _Column(
            f.name,
            _ENCODE[f.shape],
            _DECODE.get(f.shape, cast(Callable[[Any], Any], f.type)),
            attrgetter(f.name),
            f.shape,
        )
        for f in shapes(kind)
        if f.name in table.c
    )


@cache
def _details(kind: type[Record]) -> tuple[FieldShape, ...]:
    """The fields that only this kind of memory has; they share one column."""
    return tuple(f for f in shapes(kind) if f.name not in table_of(kind).c and f.name not in LINKS)


@cache
def link_fields(kind: type[Record]) -> tuple[str, ...]:
    return tuple(f.name for f in shapes(kind) if f.name in LINKS)


def to_columns(kind: type[R], records: Sequence[R]) -> dict[str, list[Any]]:
    """The columns of records of one kind, without the user's and the feed's.

    By column, because what is the same for all rows is then done once: this is a hot path.
    """
    for record in records:
        check_id(record.id)
    columns = {column.name: column.encoded(list(map(column.get, records))) for column in _columns(kind)}
    if issubclass(kind, MemoryRecord):
        columns["kind"] = [kind.kind] * len(records)
        columns["details"] = [
            encode_json({f.name: field_to_json(f, getattr(record, f.name)) for f in _details(kind)})
            for record in records
        ]
    return columns


def to_row(record: Record) -> dict[str, Any]:
    """The columns of one record."""
    return {name: value for name, (value,) in to_columns(type(record), [record]).items()}


def from_row(kind: type[R], row: Mapping[str, Any], links: Mapping[str, tuple[str, ...]]) -> R:
    """The record that `to_row` made the row of."""
    try:
        return _decoded(kind, row, links)
    except (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError) as error:
        raise _corrupt(kind) from error


def _corrupt(kind: type[Record]) -> StoreCorrupt:
    return StoreCorrupt(f"A stored {kind.kind} cannot be read: the database is damaged.")


Setter = Callable[[Any, Any], None]


@dataclass(frozen=True, slots=True)
class _Decoding:
    """How each field of a kind is read and set: the columns of text, the others, what is linked, and what
    memories have in one column."""

    texts: tuple[tuple[str, Setter], ...]
    others: tuple[tuple[str, Callable[[Any], Any], Setter], ...]
    links: tuple[tuple[str, Setter], ...]
    details: tuple[tuple[FieldShape, Field[Any], Setter], ...]


@cache
def _decoding(kind: type[Record]) -> _Decoding:
    setters: dict[str, Setter] = {f.name: getattr(kind, f.name).__set__ for f in fields(kind)}
    texts = [column.name for column in _columns(kind) if column.shape == "text"]
    others = [column for column in _columns(kind) if column.shape != "text"]
    defaults = {f.name: f for f in fields(kind)}
    return _Decoding(
        tuple((name, setters[name]) for name in texts),
        tuple((column.name, column.decode, setters[column.name]) for column in others),
        tuple((name, setters[name]) for name in link_fields(kind)),
        tuple((shape, defaults[shape.name], setters[shape.name]) for shape in _details(kind)),
    )


def _decoded(kind: type[R], row: Mapping[str, Any], links: Mapping[str, tuple[str, ...]]) -> R:
    """Written out, because it is done for every record that is read; past `__init__`, which for a frozen
    class takes as long again."""
    how = _decoding(kind)
    record = object.__new__(kind)
    for name, put in how.texts:
        text = row[name]
        put(record, text if text is None or _ESCAPE not in text else decode_text(text))
    for name, decode, put in how.others:
        value = row[name]
        put(record, value if value is None else decode(value))
    for name, put in how.links:
        put(record, links.get(name, ()))
    if how.details:
        details = decode_json(row["details"])
        for shape, known, put in how.details:
            told = shape.name in details
            put(record, field_from_json(shape, details[shape.name]) if told else _default(known))
    return record


def _default(known: Field[Any]) -> Any:
    """Of a field that there was not yet when the record was written; `TypeError` where it needs a value."""
    if known.default is not MISSING:
        return known.default
    if known.default_factory is MISSING:
        raise TypeError(known.name)
    return known.default_factory()


def decoded_columns(
    kind: type[Record], names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Any, ...]]:
    """Some fields of records, from their rows."""
    known = _by_name(kind)
    columns: list[list[Any]] = []
    for name in names:
        decode = known[name].decode
        try:
            columns.append([value if (value := row[name]) is None else decode(value) for row in rows])
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError) as error:
            raise _corrupt(kind) from error
    return [*zip(*columns, strict=True)]


@cache
def _by_name(kind: type[Record]) -> Mapping[str, _Column]:
    return {column.name: column for column in _columns(kind)}


def encode_fields(kind: type[Record], values: Mapping[str, Any]) -> dict[str, Any]:
    """Some columns of a record, for a filter or an update; a list stands for any of its members."""
    known = _by_name(kind)
    row: dict[str, Any] = {}
    for name, value in values.items():
        column = known.get(name)
        if column is None:
            raise Invalid(f"A {kind.kind} has no field {name!r} to filter by or to set.")
        if value is None and column.shape != "json":
            row[name] = None
        elif column.shape not in ("tuple", "json") and isinstance(value, (tuple, list)):
            parts = cast(list[Any], value)
            row[name] = [None if part is None else _encoded(kind, column, part) for part in parts]
        else:
            row[name] = _encoded(kind, column, value)
    return row


def _encoded(kind: type[Record], column: _Column, value: Any) -> Any:
    try:
        return column.encode(value)
    except (TypeError, AttributeError, OverflowError):
        message = f"The {column.name} of a {kind.kind} cannot be a {type(value).__name__}."
        raise Invalid(message) from None
