"""From a function to a tool: its schema, the check of what a model sends, and what it answers."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    create_model,
)

from recollect.errors import Invalid
from recollect.scoped import ScopedMemory

TOLD = 5
"""How many mistakes of one call are told."""
NAME_SHOWN = 60
NO_SUCH = "extra_forbidden"
WHOSE = "whose memory this is comes from the key or the command line alone: leave it out"
"""To whoever names a user."""
IDENTITY = frozenset({"user", "user_id", "key", "tenant", "owner"})


class Seen(NamedTuple):
    """What a tool works with: one person's memory, and the conversation of turns that name none."""

    memory: ScopedMemory
    conversation: str | None = None


class Answer(NamedTuple):
    """What a tool answers: as text that models read, and as data."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """What models are told of a tool, and what is done when one calls it."""

    name: str
    description: str
    handler: Callable[..., Answer]
    arguments: type[BaseModel]
    schema: Mapping[str, Any] = field(repr=False)
    reads: bool
    """Whether it changes nothing."""
    destroys: bool
    asks: bool
    """Whether it is a question, of which a server works on few at once."""

    def call(self, seen: Seen, given: Mapping[str, Any]) -> Answer:
        """What comes of it; `Invalid` for arguments that it does not take."""
        said = {name: value for name, value in given.items() if value is not None}  # as models leave out
        try:
            checked = self.arguments.model_validate(said)
        except ValidationError as error:
            raise Invalid(self._mistakes(error)) from None
        return self.handler(seen, **{name: getattr(checked, name) for name in self.arguments.model_fields})

    def _mistakes(self, error: ValidationError) -> str:
        """What is wrong, without what was sent, and what can be sent instead."""
        found = error.errors(include_input=False, include_url=False, include_context=False)
        said = [_mistake(one["type"], ".".join(map(str, one["loc"])), one["msg"]) for one in found[:TOLD]]
        more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
        needed = set(self.schema.get("required", ()))
        takes = ", ".join(n if n in needed else f"{n}?" for n in self.arguments.model_fields)
        return f"{'; '.join(said)}{more}. {self.name} takes: {takes or 'nothing'}."


def _mistake(kind: str, where: str, message: str) -> str:
    if kind == NO_SUCH:
        why = WHOSE if where.lower() in IDENTITY else "there is no such argument"
        return f"{where[:NAME_SHOWN]}: {why}"
    return f"{where[:NAME_SHOWN]}: {message.removeprefix('Value error, ')}"


def tool(
    handler: Callable[..., Answer],
    name: str = "",
    description: str = "",
    *,
    reads: bool = False,
    destroys: bool = False,
    asks: bool = False,
) -> Tool:
    """The function as a tool, called as it is, described as it is documented."""
    _, *parameters = inspect.signature(handler).parameters.values()
    fields: dict[str, Any] = {
        one.name: (one.annotation, ... if one.default is one.empty else one.default) for one in parameters
    }
    arguments = create_model(handler.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    told = description or " ".join((handler.__doc__ or "").split())
    schema = _plain(arguments.model_json_schema())
    return Tool(name or handler.__name__, told, handler, arguments, schema, reads, destroys, asks)


def _plain(schema: Any) -> Any:
    """The schema in the fewest words: no titles, and what may be left out is not said to be null too."""
    if isinstance(schema, list):
        return [_plain(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, Any]", schema)
    if given.get("type") == "object":
        inside = {name: _plain(part) for name, part in given.get("properties", {}).items()}
        needed = {"required": given["required"]} if "required" in given else {}
        return {"type": "object", "properties": inside, **needed, "additionalProperties": False}
    kept = {name: value for name, value in given.items() if name not in ("title", "anyOf")}
    if kept.get("default", 0) is None:
        del kept["default"]
    alternatives = [part for part in given.get("anyOf", ()) if part != {"type": "null"}]
    if len(alternatives) == 1:
        return {**_plain(alternatives[0]), **kept}
    return {**kept, **({"anyOf": _plain(alternatives)} if alternatives else {})}


TIME = "2025-03-15 or 2025-03-15T18:30Z"
"""How a time is written."""


def _time(given: Any) -> datetime:
    try:
        time = datetime.fromisoformat(given.strip())
    except (ValueError, AttributeError):  # some models send numbers
        raise ValueError(f"write a time such as {TIME}") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


Time = Annotated[datetime, BeforeValidator(_time), WithJsonSchema({"type": "string"})]
"""A time in ISO's notation; without a zone it is in UTC."""


def several(given: Any) -> Any:
    """Some models send the one name that they mean in place of a list."""
    return [given] if isinstance(given, str) else given


def text(description: str) -> Any:
    """A text that must not be empty."""
    return Field(description=description, min_length=1)
