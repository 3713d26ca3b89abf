"""How a record's fields look outside Python, read off its type hints; and records as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from recollect.errors import Invalid
from recollect.model.records import BY_KIND, Record

R = TypeVar("R", bound=Record)

Shape = Literal["time", "text", "enum", "number", "tuple", "json"]


@dataclass(frozen=True, slots=True)
class FieldShape:
    name: str
    type: Any
    shape: Shape


def _shape(annotation: Any) -> Shape:
    plain = _without_none(annotation)
    if plain is datetime:
        return "time"
    if plain is str:
        return "text"
    if plain in (int, float, bool):
        return "number"
    if get_origin(plain) is tuple:
        return "tuple"
    return "enum" if isinstance(plain, type) and issubclass(plain, StrEnum) else "json"


def _without_none(annotation: Any) -> Any:
    options = get_args(annotation)
    return next(o for o in options if o is not type(None)) if type(None) in options else annotation


@cache
def shapes(kind: type[Record]) -> tuple[FieldShape, ...]:
    """The fields of a kind of record, in order."""
    hints = get_type_hints(kind)
    return tuple(
        FieldShape(f.name, _without_none(hints[f.name]), _shape(hints[f.name])) for f in fields(kind)
    )


def field_to_json(field: FieldShape, value: Any) -> Any:
    if value is None:
        return None
    if field.shape == "time":
        if value.tzinfo is None:  # it could not be read again
            raise Invalid(f"{field.name} has no time zone")
        return value.isoformat()
    return list(value) if field.shape == "tuple" else value


def field_from_json(field: FieldShape, value: Any) -> Any:
    if value is None or field.shape == "json":
        return value
    if field.shape == "time":
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise Invalid(f"{field.name} has no time zone")
        return at.astimezone(UTC)
    if field.shape == "tuple":
        return tuple(str(part) for part in value)
    return field.type(value)


def to_json(record: Record) -> dict[str, Any]:
    """The record as JSON types; `from_json` gives it back."""
    values = {f.name: field_to_json(f, getattr(record, f.name)) for f in shapes(type(record))}
    return {"kind": record.kind, **values}


def from_json(data: Mapping[str, Any]) -> Record:
    """The record that `to_json` wrote; `Invalid` when it is not one."""
    kind = BY_KIND.get(str(data.get("kind")))
    if kind is None:
        raise Invalid(f"Unknown kind of record: {data.get('kind')!r}.")
    try:
        known = {f.name: field_from_json(f, data[f.name]) for f in shapes(kind) if f.name in data}
        return kind(**known)
    except (TypeError, ValueError, OverflowError) as error:
        raise Invalid(f"Not a {kind.kind}: {error}.") from None
