"""Values as JSON between a server and its clients: dataclasses there and back, by their type hints.

A record carries its `kind`. Every field is there, empty or not, so that readers of the JSON may rely on it;
only what is None by default is left out.
"""

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from recollect.errors import Invalid
from recollect.model.records import BY_KIND, Record

_PLAIN = frozenset((str, int, float, bool, type(None)))


def to_wire(value: Any) -> Any:
    """The value in types that JSON has; `from_wire` gives it back."""
    kind = value.__class__
    if kind in _PLAIN:  # most are, and every answer goes through here
        return value
    if kind is tuple or kind is list or kind is dict:
        if not value:  # as many fields are
            return {} if kind is dict else []
    elif (parts := _parts(kind)) is not None:
        wired: dict[str, Any] = {"kind": value.kind} if isinstance(value, Record) else {}
        for name, _, default in parts:
            one = getattr(value, name)
            if one is not None or default is not None:
                wired[name] = one if one.__class__ in _PLAIN else to_wire(one)
        return wired
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): to_wire(part) for key, part in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, (str, int, float)):  # of a kind of its own, such as an enum
        return value
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("bytes are not JSON")
    return value.tolist() if hasattr(value, "tolist") else [to_wire(part) for part in value]


class _Part(NamedTuple):
    """A field of a dataclass or of a named tuple, and what it is where it was left out."""

    name: str
    type: Any
    default: Any


@cache
def _parts(kind: Any) -> tuple[_Part, ...] | None:
    defaults: dict[str, Any] = {}
    if is_dataclass(kind):
        defaults = {field.name: _default(field) for field in fields(kind) if field.init}
    elif hasattr(kind, "_fields"):
        defaults = dict.fromkeys(kind._fields, MISSING) | kind._field_defaults
    else:
        return None
    hints = get_type_hints(kind)
    return tuple(
        _Part(name, hints[name], _empty(hints[name]) if default is MISSING else default)
        for name, default in defaults.items()
    )


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _empty(hint: Any) -> Any:
    """What was left out of a field that has no default."""
    origin = get_origin(hint)
    if origin is tuple:
        return ()
    if origin in (list, Sequence):
        return []
    return {} if origin in (dict, Mapping) else None


def from_wire(kind: Any, data: Any) -> Any:
    """What `to_wire` wrote, as a value of this type; `Invalid` when it is not one."""
    try:
        return _read(kind, data)
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        if isinstance(error, Invalid):
            raise
        raise Invalid(f"Not a {getattr(kind, '__name__', kind)}: {error}.") from None


def _read(kind: Any, data: Any) -> Any:
    if data is None or kind is Any:
        return data
    if (origin := get_origin(kind)) is not None:
        return _read_generic(origin, get_args(kind), data)
    if kind is datetime:
        return datetime.fromisoformat(data).astimezone(UTC)
    if kind is date:
        return date.fromisoformat(data)
    if isinstance(kind, type) and _parts(kind) is not None:
        if not isinstance(data, Mapping):
            raise Invalid(f"Not a {kind.__name__}: a {type(data).__name__}.")
        given = cast("Mapping[str, Any]", data)
        return _read_parts(_named(kind, given), given)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(data)
    return float(data) if kind is float else data


def _read_generic(origin: Any, args: tuple[Any, ...], data: Any) -> Any:
    if origin in (Union, types.UnionType):
        return _read_union([arg for arg in args if arg is not type(None)], data)
    if origin is tuple:
        if len(args) == 2 and args[1] is ...:
            return tuple(_read(args[0], part) for part in data)
        return tuple(_read(arg, part) for arg, part in zip(args, data, strict=True))
    if origin in (list, Sequence):
        return [_read(args[0], part) for part in data]
    return {key: _read(args[1], part) for key, part in data.items()}  # a mapping


def _read_union(options: list[Any], data: Any) -> Any:
    for option in options:
        if isinstance(data, Mapping) == (isinstance(option, type) and _parts(option) is not None):
            return _read(option, data)
    return data


def _named(kind: Any, data: Mapping[str, Any]) -> Any:
    """The kind of record that the data says it is, where any of several may be meant."""
    if issubclass(kind, Record) and "kind" in data:
        found = BY_KIND[data["kind"]]
        if not issubclass(found, kind):
            raise Invalid(f"A {found.kind} is not a {kind.__name__}.")
        return found
    return kind


def _read_parts(kind: Any, data: Mapping[str, Any]) -> Any:
    parts = _parts(kind) or ()
    return kind(
        **{
            part.name: _read(part.type, data[part.name]) if part.name in data else part.default
            for part in parts
        }
    )
