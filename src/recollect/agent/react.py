"""Tools in words, for models that are not offered any: Thought, Action, Action Input, Observation.

The parser takes what models make of it: fences, other brackets, objects in place of lines, an observation
that they invent. It is a pure function; whatever it is given, it finds an answer or a call in it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from recollect.agent.schema import properties_of, required_of
from recollect.ports.acting import Call, Message, Offered, Result, Said
from recollect.ports.language_model import ChatMessage, Schema, as_data

FINAL = re.compile(r"^[ \t*#>]*final[ _]answer[ \t*]*:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(r"^[ \t*#>]*action[ \t*]*:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_INPUT = re.compile(r"^[ \t*#>]*(?:action[ _])?input[ \t*]*:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t*#>]*observation[ \t*]*:", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[ \t*#>]*thought[ \t*]*:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n?(.*?)\n?```", re.DOTALL)
_BRACKETS = re.compile(r"\A([A-Za-z0-9_-]+)\s*[\[(](.*)[\])]\s*\Z", re.DOTALL)
_NAMES = ("action", "tool", "name", "function")
_INPUTS = ("action_input", "input", "arguments", "parameters", "args", "tool_input")


class Parsed(NamedTuple):
    """What a model said in these words: what it thought, and a call or an answer."""

    thought: str = ""
    call: tuple[str, str] | None = None
    answer: str = ""


def described(tools: Iterable[Offered]) -> str:
    """The tools, a line each."""
    return "\n".join(
        f"- {tool.name}: {' '.join(tool.description.split())} Input: {json.dumps(tool.parameters)}"
        for tool in tools
    )


def in_words(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages with calls and results told in words; what one side says in a row is one message."""
    told: list[ChatMessage] = []
    for message in map(_worded, messages):
        if told and told[-1].role == message.role:
            message = ChatMessage(message.role, f"{told.pop().content}\n\n{message.content}")
        told.append(message)
    return told


def _worded(message: Message) -> ChatMessage:
    if isinstance(message, ChatMessage):
        return message
    if isinstance(message, Result):
        # On one line, as data: what a tool answers could else go on as if we, or the user, said it.
        return ChatMessage("user", f"Observation: {as_data(message.output)}")
    calls = "\n".join(f"Action: {call.tool}\nAction Input: {call.arguments}" for call in message.calls)
    thought = f"Thought: {message.text}\n" if message.text else ""
    return ChatMessage("assistant", f"{thought}{calls}".strip() or "Thought: …")


def said_in_words(said: Said, tools: Sequence[Offered], place: int) -> Said:
    """What a model said in words, as if it had called the tool itself."""
    parsed = parse(said.text)
    if parsed.call is None:
        thought = "\n".join(filter(None, (said.thought, parsed.thought)))
        return said._replace(text=parsed.answer, thought=thought)
    name, given = parsed.call
    known = {tool.name.casefold(): tool for tool in tools}
    found = known.get(name.casefold())
    call = Call(f"call_{place}", found.name if found else name, _arguments(given, found))
    return said._replace(text=parsed.thought, calls=(call,))


def parse(text: str) -> Parsed:
    """What was said: a call where there is one before any answer, else an answer; without either mark, all of
    it is the answer."""
    before, tag, tagged = text.partition("<tool_call>")
    if tag and (call := _named(tagged.partition("</tool_call>")[0])):
        return Parsed(_thought(before), call)
    final, action = FINAL.search(text), _ACTION.search(text)
    if action and (final is None or action.start() < final.start()):
        call = _call(_until_observation(text[action.end() :]))
        if call is not None:
            return Parsed(_thought(text[: action.start()]), call)
    if final:
        return Parsed(_thought(text[: final.start()]), None, _until_observation(text[final.end() :]).strip())
    if call := _named(_unfenced(text)):
        return Parsed("", call)
    return Parsed("", None, _thought(_until_observation(text)))


def _call(told: str) -> tuple[str, str] | None:
    """The tool and its input behind `Action:`."""
    if found := _INPUT.search(told):
        name = told[: found.start()].strip().strip("`*\"'").strip()
        given = told[found.end() :]
        if marked := (FINAL.search(given) or _THOUGHT.search(given) or _ACTION.search(given)):
            given = given[: marked.start()]
        return (name.splitlines()[0].strip(), _unfenced(given)) if name else None
    if call := _named(_unfenced(told)):
        return call
    first = told.strip().splitlines()[0].strip().strip("`*\"'") if told.strip() else ""
    if found := _BRACKETS.match(first):
        return found[1], found[2].strip()
    return (first, "") if re.fullmatch(r"[A-Za-z0-9_-]+", first) else None


def _named(text: str) -> tuple[str, str] | None:
    """A call that is told as one object: {"action": …, "action_input": …}."""
    value = _object(text)
    if value is None:
        return None
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    key = next((key for key in _INPUTS if key in value), None)
    if not name or key is None:
        return None
    given = value[key]
    return str(name), given if isinstance(given, str) else json.dumps(given)


def _arguments(given: str, tool: Offered | None) -> str:
    """The input as JSON: one that is no object is what the only thing means that the tool takes."""
    if _object(given) is not None:
        return given
    schema: Schema = tool.parameters if tool else {}
    properties, required = properties_of(schema), required_of(schema)
    if not given.strip():
        return "{}"
    only = (
        required[0] if len(required) == 1 else next(iter(properties), None) if len(properties) == 1 else None
    )
    if only is None or given.lstrip().startswith("{"):
        return given
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        value = given.strip().strip("\"'")
    return json.dumps({only: value})


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _unfenced(text: str) -> str:
    fenced = _FENCE.match(text)
    return (fenced[1] if fenced else text).strip().strip("`").strip()


def _until_observation(text: str) -> str:
    """What the model says up to the observation that it invents."""
    found = _OBSERVATION.search(text)
    return text[: found.start()] if found else text


def _thought(text: str) -> str:
    return _THOUGHT.sub("", text).strip()
