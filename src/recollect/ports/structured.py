"""Answers of a language model in a given shape: asked for, checked, repaired once, or refused.

The keywords of JSON Schema that are checked are those in `_CHECKS` and `_NESTED`. A schema with any other
is a mistake of ours and raises `TypeError`: a rule that is not checked is worse than none.
"""

import json
import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from recollect.errors import ModelError
from recollect.ports.language_model import ChatMessage, LanguageModel, Reply, Schema, Source, Tokens

T = TypeVar("T")

_SHOWN = 4000
"""How much of a bad answer is shown to the model again."""


def structured(
    model: LanguageModel,
    messages: Sequence[ChatMessage],
    schema: Schema,
    read: Callable[[Any], T],
    *,
    source: Source,
    max_tokens: int,
    within: float | None = None,
) -> tuple[T, Tokens]:
    """The model's answer as `read` makes it of JSON that fits the schema, and what it took.

    `read` raises `ValueError` with what is wrong. A bad answer is sent back once with what is wrong with
    it; a second bad one is a `ModelError`. `within` is for all of it.
    """
    ends = None if within is None else monotonic() + within
    asked = [*messages]
    asked[-1] = ChatMessage(asked[-1].role, f"{asked[-1].content}\n\n{_instruction(schema)}")
    spent = Tokens()
    for last in (False, True):
        left = None if ends is None else max(0.0, ends - monotonic())
        reply = model.ask(asked, source=source, max_tokens=max_tokens, schema=schema, within=left)
        spent = spent.plus(reply.tokens)
        try:
            return read(_parsed(reply, schema)), spent
        except ValueError as error:
            if not last:
                asked += [
                    ChatMessage("assistant", reply.text[:_SHOWN]),
                    ChatMessage("user", f"That cannot be used: {error} Answer again, with JSON alone."),
                ]
    # What is wrong may quote the answer, and with it what was asked.
    raise ModelError(f"{model.name} gave no usable answer, not even when told what was wrong ({source}).")


def _instruction(schema: Schema) -> str:
    """Servers that enforce a schema do not show it to the model, and others know nothing of it."""
    return (
        f"Answer with JSON alone, without any other words, that fits this JSON Schema:\n{json.dumps(schema)}"
    )


def _parsed(reply: Reply, schema: Schema) -> Any:
    """The answer as JSON that fits; ValueError says what is wrong."""
    if reply.cut:
        raise ValueError("It was cut off at the limit of its length; be shorter.")
    text = reply.text.strip()
    if fenced := re.fullmatch(r"```\w*\s*(.*?)\s*```", text, re.DOTALL):  # many models cannot help it
        text = fenced[1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise ValueError(f"It is not JSON: {reason}.") from None
    if wrong := mismatch(value, schema):
        raise ValueError(wrong)
    return value


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
    ),
    "null": lambda value: value is None,
}

_NUMBER = (int, float)
_CHECKS: dict[str, tuple[type | tuple[type, ...], str, Callable[[Any, Any], bool]]] = {
    "type": (object, "must be of type", lambda value, types: any(_TYPES[t](value) for t in _several(types))),
    "enum": (object, "must be one of", lambda value, allowed: value in allowed),
    "minLength": (str, "must have at least so many characters:", lambda value, least: len(value) >= least),
    "maxLength": (str, "must have at most so many characters:", lambda value, most: len(value) <= most),
    "minItems": (list, "must have at least so many items:", lambda value, least: len(value) >= least),
    "maxItems": (list, "must have at most so many items:", lambda value, most: len(value) <= most),
    "minimum": (_NUMBER, "must be at least", lambda value, least: value >= least),
    "maximum": (_NUMBER, "must be at most", lambda value, most: value <= most),
    "required": (dict, "must have", lambda value, names: all(name in value for name in names)),
}
"""Each keyword: the values it is about (it says nothing of others), itself in words, and its test."""

_NESTED = ("properties", "additionalProperties", "items")
_IGNORED = ("description", "title")


def mismatch(value: Any, schema: Schema, path: str = "the answer") -> str | None:
    """The first thing in which the value does not fit the schema, in words; None when it fits."""
    if unknown := schema.keys() - _CHECKS.keys() - {*_NESTED, *_IGNORED}:
        raise TypeError(f"The schema keyword {min(unknown)!r} is not checked here.")
    for keyword, (kind, words, holds) in _CHECKS.items():
        if keyword in schema and isinstance(value, kind) and not holds(value, schema[keyword]):
            return f"{path} {words} {json.dumps(schema[keyword])}."
    if isinstance(value, dict):
        return _in_object(cast(dict[str, Any], value), schema, path)
    if isinstance(value, list) and "items" in schema:
        items = enumerate(cast(list[Any], value))
        found = (mismatch(item, schema["items"], f"{path}[{place}]") for place, item in items)
        return next((wrong for wrong in found if wrong), None)
    return None


def _in_object(value: dict[str, Any], schema: Schema, path: str) -> str | None:
    properties: dict[str, Schema] = schema.get("properties", {})
    if schema.get("additionalProperties") is False and (more := value.keys() - properties.keys()):
        return f"{path} must not have {json.dumps(min(more))}."
    found = (
        mismatch(value[name], properties[name], f"{path}.{name}") for name in properties if name in value
    )
    return next((wrong for wrong in found if wrong), None)


def _several(types: str | Sequence[str]) -> Sequence[str]:
    return (types,) if isinstance(types, str) else types


def closed(**properties: Schema) -> dict[str, Any]:
    """The schema of an object with exactly these properties, as strict servers want it."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
