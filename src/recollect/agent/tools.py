"""What an agent can do: a name, what it is for, what it takes, and a function."""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_type_hints, overload

from recollect.agent.schema import converted, described, schema_of
from recollect.errors import Invalid
from recollect.limits import shown
from recollect.ports.acting import Offered
from recollect.ports.language_model import Schema

LONGEST_NAME = 64
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
"""What servers take as the name of a tool."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`call` gets the arguments by name and answers with text or anything that can be JSON, or with something
    to await that does; what it raises becomes an observation."""

    name: str
    description: str
    parameters: Schema
    call: Callable[[Mapping[str, Any]], Any]
    groups: tuple[str, ...] = ()
    """With any, it is there only for questions that ask for one of them."""
    seconds: float | None = None
    """How long a call may take, where that differs from RECOLLECT_AGENT_TOOL_SECONDS."""

    def __call__(self, **arguments: Any) -> Any:
        return self.call(arguments)

    @property
    def offered(self) -> Offered:
        return Offered(self.name, self.description, self.parameters)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    groups: Iterable[str] = (),
    seconds: float | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    groups: Iterable[str] = (),
    seconds: float | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """A tool of a typed function, by itself or as a decorator. What it takes is read from its signature, what
    it is for from its docstring; an `Args:` section, or `:param name:` lines, describe the arguments."""

    def made(function: Callable[..., Any]) -> Tool:
        called = name or getattr(function, "__name__", "")
        if not _NAME.fullmatch(called):
            raise Invalid(
                f"A tool's name has letters, digits, _ and -, 64 of them at most, not {shown(called)}: "
                "give one with tool(name=…)."
            )
        hints = _hints(function)
        about, arguments = described(inspect.getdoc(function) or "")
        parameters = _parameters(function, hints, arguments)

        def call(given: Mapping[str, Any]) -> Any:
            return function(**{n: converted(value, hints.get(n, Any)) for n, value in given.items()})

        return Tool(called, description or about, parameters, call, tuple(groups), seconds)

    return made if function is None else made(function)


def as_tool(given: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or made of a function."""
    if isinstance(given, Tool):
        return given
    if not callable(given):
        raise Invalid(f"A tool must be a Tool or a function, not {shown(given)}.")
    return tool(given)


def offered(given: Iterable[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    """Tools by their names, each of which is there once."""
    found: dict[str, Tool] = {}
    for one in map(as_tool, given):
        if one.name in found:
            raise Invalid(f"There are two tools with the name {one.name!r}.")
        found[one.name] = one
    return found


def beside(taken: Collection[str], given: Iterable[Tool | Callable[..., Any]]) -> list[Tool]:
    """Tools that can be offered beside those whose names are taken. One of a group, as those of a server are,
    gets the group's name before its own: who gave it did not choose that."""
    return [_renamed(taken, one) if one.name in taken else one for one in map(as_tool, given)]


def _renamed(taken: Collection[str], one: Tool) -> Tool:
    if not one.groups:
        raise Invalid(
            f"{one.name!r} is the name of a memory tool: give yours another with tool(name=…), or leave the "
            "memory's out with memory_tools=(…)."
        )
    group = re.sub(r"[^A-Za-z0-9_-]", "_", one.groups[0])[: LONGEST_NAME - len(one.name) - 1]
    return replace(one, name=f"{group}_{one.name}")


def in_groups(tools: Iterable[Tool], groups: Iterable[str] | None) -> list[Tool]:
    """The tools that are there for a question: those of no group, and those of a group it asks for; all where
    it asks for none."""
    wanted = None if groups is None else set(groups)
    return [tool for tool in tools if wanted is None or not tool.groups or wanted & set(tool.groups)]


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
        return get_type_hints(target)
    except Exception:  # noqa: BLE001 - names that are known to the type checker only
        return {}


def _parameters(function: Callable[..., Any], hints: Mapping[str, Any], about: Mapping[str, str]) -> Schema:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise Invalid(f"A model gives arguments by name: {name!r} must not be positional only.")
        schema = schema_of(hints.get(name, Any))
        properties[name] = {**schema, **({"description": about[name]} if name in about else {})}
        if parameter.default is parameter.empty:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
