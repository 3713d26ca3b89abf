"""From Python's types to JSON Schema and from JSON to Python's values; and what a docstring says."""

import dataclasses
import json
import re
import types
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from enum import Enum
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from recollect.errors import Invalid
from recollect.limits import check_json
from recollect.ports.language_model import Schema

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array"},
    dict: {"type": "object"},
}
_WRITTEN = (datetime, date, time)
_FORMATS: dict[str, tuple[type[datetime] | type[date] | type[time], str]] = {
    "date-time": (datetime, "a date and time, such as 2026-01-31T18:30:00+00:00"),
    "date": (date, "a date, such as 2026-01-31"),
    "time": (time, "a time, such as 18:30:00"),
}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_SECTION = re.compile(r"^(?:Args|Arguments|Parameters|Params):\s*$", re.MULTILINE)
_OTHERS = re.compile(r"^(?:Returns?|Raises|Yields?|Examples?|Notes?):", re.MULTILINE)
_ARGUMENT = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.+)$")
_PARAM = re.compile(r"^:param(?: \w+)? (\w+):\s*(.+)$", re.MULTILINE)


def schema_of(hint: Any) -> Schema:
    """The JSON Schema of what an annotation allows; of one that is not known, anything."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        told = next((one for one in arguments[1:] if isinstance(one, str)), None)
        return {**schema_of(arguments[0]), **({"description": told} if told else {})}
    if origin is Literal:
        return {"enum": [*arguments]}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in arguments]}
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [one.value for one in hint]}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _schema_of_fields(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", **({"additionalProperties": schema_of(arguments[1])} if arguments else {})}
    if isinstance(origin, type) and issubclass(origin, (Sequence, set, frozenset)):
        return {"type": "array", **({"items": schema_of(arguments[0])} if arguments else {})}
    return {}


def _schema_of_fields(hint: Any) -> Schema:
    hints, fields = get_type_hints(hint), dataclasses.fields(hint)
    missing = dataclasses.MISSING
    needed = [one.name for one in fields if one.default is missing and one.default_factory is missing]
    return {
        "type": "object",
        "properties": {one.name: schema_of(hints[one.name]) for one in fields},
        "required": needed,
        "additionalProperties": False,
    }


def converted(value: Any, hint: Any) -> Any:
    """JSON as the annotation wants it; `ValueError` or `TypeError` when it cannot be."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return converted(value, arguments[0])
    if origin in (Union, types.UnionType):
        return _as_one_of(value, arguments)
    if hint in _WRITTEN and isinstance(value, str):
        return hint.fromisoformat(value)
    if hint in (int, float) and type(value) in (int, float):
        return hint(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = get_type_hints(hint)
        return hint(**{n: converted(v, hints.get(n, Any)) for n, v in cast("dict[str, Any]", value).items()})
    if isinstance(value, list) and isinstance(origin or hint, type):
        made = [converted(one, arguments[0] if arguments else Any) for one in cast("list[Any]", value)]
        kind = cast(Any, origin or hint)
        return cast(Any, kind(made) if kind in (tuple, set, frozenset) else made)
    if isinstance(value, dict) and isinstance(origin, type) and len(arguments) == 2:
        return {name: converted(one, arguments[1]) for name, one in cast("dict[str, Any]", value).items()}
    return cast(Any, value)


def _as_one_of(value: Any, hints: Sequence[Any]) -> Any:
    """As the first of several annotations that it fits."""
    for hint in hints:
        if misfit(value, schema_of(hint)) is None:
            try:
                return converted(value, hint)
            except (ValueError, TypeError):
                continue
    return value


def misfit(value: Any, schema: Any, path: str = "the input") -> str | None:
    """The first thing in which a value does not fit a schema, in words for a model; None when it fits.
    Schemas are anybody's: what is not known here, or has another shape than it should, allows anything."""
    if not isinstance(schema, Mapping):
        return f"{path} must not be there." if schema is False else None
    known = cast(Schema, schema)
    if (choices := known.get("anyOf")) and isinstance(choices, list):
        wrong = [misfit(value, one, path) for one in cast("list[Any]", choices)]
        return None if None in wrong else (wrong[0] if len(wrong) == 1 else f"{path} fits none of its types.")
    if isinstance(allowed := known.get("enum"), list) and value not in allowed:
        return f"{path} must be one of {allowed}."
    kinds = _texts(known.get("type"))
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{path} must be of type {' or '.join(kinds)}."
    if isinstance(value, str):
        form = _FORMATS.get(str(known.get("format")))
        return None if form is None or _is_written(value, form[0]) else f"{path} must be {form[1]}."
    if isinstance(value, dict):
        return _misfit_in(cast("dict[str, Any]", value), known, path)
    if isinstance(value, list):
        each = enumerate(cast("list[Any]", value))
        found = (misfit(one, known.get("items"), f"{path}[{place}]") for place, one in each)
        return next((wrong for wrong in found if wrong), None)
    return None


def coerced(value: Any, schema: Any) -> Any:
    """The value, with what models write as text where something else is wanted ("2", "true", "[1]") as that.
    What does not fit then is left as it is."""
    if not isinstance(schema, Mapping):
        return value
    known = cast(Schema, schema)
    if isinstance(choices := known.get("anyOf"), list):
        if misfit(value, known) is None:
            return value
        tried = ((coerced(value, one), one) for one in cast("list[Any]", choices))
        return next((made for made, one in tried if misfit(made, one) is None), value)
    if isinstance(value, str):
        value = _meant(value, _texts(known.get("type")))
    if isinstance(value, dict):
        parts, rest = properties_of(known), known.get("additionalProperties")
        given = cast("dict[str, Any]", value)
        return {name: coerced(one, parts.get(name, rest)) for name, one in given.items()}
    if isinstance(value, list):
        return [coerced(one, known.get("items")) for one in cast("list[Any]", value)]
    return value


def _meant(text: str, kinds: Sequence[str]) -> Any:
    """What a text stands for, if it is JSON of one of these types; else the text."""
    if not kinds or "string" in kinds:
        return text
    word = text.strip()
    try:
        made = json.loads(word.lower() if word in ("True", "False") else word)
        check_json("text", made, len(text), "")
    except (ValueError, RecursionError, Invalid):
        return text
    return made if any(kind in _TYPES and _is(made, kind) for kind in kinds) else text


def _texts(given: Any) -> list[str]:
    """A text, or those in a list; of anything else none."""
    several = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [one for one in several if isinstance(one, str)]


def _is_written(value: str, kind: type[datetime] | type[date] | type[time]) -> bool:
    try:
        kind.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is(value: Any, kind: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return kind not in _TYPES or isinstance(value, _TYPES[kind])


def _misfit_in(value: dict[str, Any], schema: Schema, path: str) -> str | None:
    properties = properties_of(schema)
    if missing := [name for name in required_of(schema) if name not in value]:
        return f"{path} must have {', '.join(missing)}."
    if schema.get("additionalProperties") is False and (more := sorted(value.keys() - properties.keys())):
        known = f"it has {', '.join(properties)}" if properties else "it takes nothing"
        return f"{path} must not have {', '.join(more)[:200]}; {known}."
    found = (misfit(one, properties.get(name), f"{path}.{name}") for name, one in value.items())
    return next((wrong for wrong in found if wrong), None)


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """The schemas of an object's parts, by their names."""
    found = schema.get("properties")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def required_of(schema: Schema) -> list[str]:
    """The parts that an object must have."""
    found = schema.get("required")
    return _texts(found) if isinstance(found, list) else []


def described(docstring: str) -> tuple[str, dict[str, str]]:
    """What a docstring says a function is for, and of each argument."""
    about = {found[1]: found[2].strip() for found in _PARAM.finditer(docstring)}
    text = _PARAM.split(docstring)[0] if about else docstring
    head, *rest = _SECTION.split(text, maxsplit=1)
    for line in rest[0].splitlines() if rest else ():
        if line.strip() and not line[0].isspace():
            break
        if found := _ARGUMENT.match(line):
            about[found[1]] = found[2].strip()
    return _OTHERS.split(head)[0].strip(), about
