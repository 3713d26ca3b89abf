"""Turns of a model with tools, as OpenAI-compatible servers say them; pure functions of bodies and lines."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.models._vectors import well_formed
from recollect.ports.acting import Call, Message, Offered, Result, Said, read_arguments
from recollect.ports.language_model import ChatMessage, Tokens

Body = dict[str, Any]

_OPENING = "<think>"
_CLOSING = "</think>"
_TOOLS = re.compile(r"\btools?\b|tool_choice|tool[- ]?call|function[- ]?call", re.IGNORECASE)


def message(said: Message) -> Body:
    """A message as it is sent."""
    match said:
        case ChatMessage():
            return {"role": said.role, "content": well_formed(said.content)}
        case Result():
            return {"role": "tool", "tool_call_id": well_formed(said.id), "content": well_formed(said.output)}
        case Said():
            body: Body = {"role": "assistant", "content": well_formed(said.text)}
            return body | ({"tool_calls": [*map(_call, said.calls)]} if said.calls else {})


def _call(call: Call) -> Body:
    # Templates of local servers read the arguments again, and fail on what is no object.
    given, wrong = read_arguments(call.arguments)
    function = {
        "name": well_formed(call.tool),
        "arguments": well_formed(json.dumps(given, ensure_ascii=False) if wrong else call.arguments or "{}"),
    }
    return {"id": well_formed(call.id), "type": "function", "function": function}


def offered(tools: Iterable[Offered]) -> list[Body]:
    """Tools as they are sent."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def is_about_tools(error: object) -> bool:
    """Whether a refusal has to do with tools: servers that know none say so in their own words."""
    told = _mapping(error).get("error")
    said = " ".join(_text(_mapping(told).get(name)) for name in ("param", "message")) + _text(told)
    return _TOOLS.search(said) is not None


@dataclass(slots=True)
class Hearing:
    """What was heard of a turn so far, piece by piece."""

    text: str = ""
    thought: str = ""
    told: int = 0
    """How much of the text was passed on."""
    calls: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    tokens: Tokens = field(default_factory=Tokens)
    reason: str | None = None

    def hear(self, chunk: Body) -> str:
        """Take in a part of the answer, or all of it; what of the text can be passed on now."""
        usage = _mapping(chunk.get("usage"))
        if usage:
            self.tokens = Tokens(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        choices = chunk.get("choices")
        choice = _mapping(cast("list[Any]", choices)[0]) if isinstance(choices, list) and choices else {}
        delta = _mapping(choice.get("delta") or choice.get("message"))
        self.text += _text(delta.get("content"))
        self.thought += _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        self.reason = _text(choice.get("finish_reason")) or self.reason
        calls = delta.get("tool_calls")
        for place, given in enumerate(cast("list[Any]", calls) if isinstance(calls, list) else ()):
            self._hear_call(place, _mapping(given))
        return self._piece()

    def _hear_call(self, place: int, given: Body) -> None:
        index = given.get("index")
        parts = self.calls.setdefault(index if isinstance(index, int) else place, ["", "", ""])
        function = _mapping(given.get("function"))
        arguments = function.get("arguments")
        parts[0] = parts[0] or _text(given.get("id"))
        parts[1] += _text(function.get("name"))
        parts[2] += json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)

    def _piece(self) -> str:
        """What is new of the text, once it is known to be no thinking aloud."""
        text = self.text.lstrip()
        if _OPENING.startswith(text[: len(_OPENING)]) and _CLOSING not in text:
            return ""
        spoken = _spoken(self.text)
        piece, self.told = spoken[self.told :], max(self.told, len(spoken))
        return piece

    def said(self) -> Said:
        """All of it."""
        text, thought = _spoken(self.text), self.thought.strip()
        if not thought and text != self.text:
            thought = self.text.lstrip().removeprefix(_OPENING).partition(_CLOSING)[0].strip()
        calls = tuple(
            Call(*map(well_formed, (id or f"call_{place}", tool, arguments or "{}")))
            for place, (id, tool, arguments) in sorted(self.calls.items())
            if tool
        )
        return Said(well_formed(text), calls, self.tokens, well_formed(thought), self.reason == "length")


def _spoken(text: str) -> str:
    """The text without what was thought aloud before it; what never ends is all thought."""
    if not text.lstrip().startswith(_OPENING):
        return text
    return text.partition(_CLOSING)[2].lstrip()


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of what comes in pieces."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        *whole, last = rest.split(b"\n")
        rest = bytearray(last)
        yield from (bytes(line).rstrip(b"\r") for line in whole)
    if rest:
        yield bytes(rest)


def chunks(told: Iterable[bytes]) -> Iterator[Body]:
    """The parts of an answer in its lines: server-sent events, or one object from a server that does not
    stream. `ValueError` when they are neither, or end in the middle."""
    plain: list[bytes] = []
    for line in told:
        if line.startswith(b"data:"):
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            chunk = _mapping(json.loads(data))
            if chunk.get("error"):
                raise ValueError("an error in the stream")
            yield chunk
            plain.clear()
        elif line and not line.startswith((b":", b"event:", b"id:", b"retry:")):
            plain.append(line)
    if plain:
        yield _mapping(json.loads(b"\n".join(plain)))


def _mapping(value: object) -> Body:
    return cast(Body, value) if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def body_of(model: str, said: Sequence[Message], tools: Sequence[Offered], max_tokens: int) -> Body:
    """The request for a turn."""
    body: Body = {
        "model": model,
        "messages": [*map(message, said)],
        "max_tokens": max_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return body | ({"tools": offered(tools)} if tools else {})
