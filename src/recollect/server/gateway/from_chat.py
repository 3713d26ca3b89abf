"""A chat completion as a response: as one object, and as the events of a stream while it comes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.server.gateway.hearing import DONE
from recollect.server.gateway.reading import Body, dicts, parsed

ECHOED: Body = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "reasoning": None,
    "store": True,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
}
"""What a response repeats of its request, and what it is where that does not say."""
CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why an answer is not complete, in the words of both."""
PARTS = {"output_text": "text", "refusal": "refusal", "reasoning_text": "text"}
"""Kinds of parts, and where they have their text."""
SAID = (
    (("reasoning_content", "reasoning"), "reasoning", "reasoning_text"),
    (("content",), "message", "output_text"),
    (("refusal",), "message", "refusal"),
)
"""Where a chat may have a text, and of which kind of item and part that is."""
PREFIX = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
GIVEN = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where a call has what the tool is given."""


@dataclass(slots=True)
class Answer:
    """A response in the making. `add` takes the chunks of a stream, or a whole completion, and gives the
    events that tell of it; `whole` is the response as far as it came."""

    asked: Body
    id: str
    at: int
    previous: str | None = None
    ended: bool = False
    _items: list[Body] = field(default_factory=list[Body])
    _open: int | None = None
    """Which item is being said; calls of tools are open until all has come."""
    _calls: dict[int, int] = field(default_factory=dict[int, int])
    _usage: Body | None = None
    _model: str | None = None
    _finish: str | None = None
    _told: int = 0

    def whole(self, status: str = "in_progress") -> Body:
        given = {name: self.asked[name] for name in ECHOED if self.asked.get(name) is not None}
        cut = CUT.get(self._finish or "") if status == "incomplete" else None
        return {
            **ECHOED,
            **given,
            "id": self.id,
            "object": "response",
            "created_at": self.at,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": cut} if cut else None,
            "model": self._model or self.asked.get("model"),
            "output": [_copied(item) for item in self._items],
            "previous_response_id": self.previous,
            "usage": self._usage,
        }

    def add(self, chunk: Body) -> Iterator[Body]:
        """What the next chunk tells."""
        if not self._told:
            yield self._event("response.created", response=self.whole())
            yield self._event("response.in_progress", response=self.whole())
        self._model = chunk.get("model") or self._model
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = _counted(cast(Body, usage))
        for choice in dicts(chunk.get("choices")):
            if choice.get("index"):
                continue
            message: object = choice.get("message")
            said: object = message or choice.get("delta")
            if isinstance(said, dict):
                yield from self._said(cast(Body, said))
            self._finish = choice.get("finish_reason") or self._finish or ("stop" if message else None)

    def end(self, *, done: bool = False) -> Iterator[Body]:
        """What is told once all has come; nothing where it broke off. With `done` that is said, though why it
        ended may not be."""
        if done and not self.ended:
            yield from self.add({})
            self._finish = self._finish or "stop"
        if self.ended or self._finish is None:
            return
        self.ended = True
        yield from self._closed()
        for place in self._calls.values():
            yield from self._call_closed(place)
        status = "incomplete" if self._finish in CUT else "completed"
        yield self._event(f"response.{status}", response=self.whole(status))

    def failed(self, error: Body) -> Body:
        """An error in place of a chunk."""
        self.ended = True
        told = {name: error.get(name) for name in ("code", "message", "param")}
        return self._event("error", **told)

    def _said(self, said: Body) -> Iterator[Body]:
        for names, kind, part in SAID:
            for text in [text for name in names if isinstance(text := said.get(name), str) and text][:1]:
                yield from self._text(kind, part, text)
        for number, call in enumerate(dicts(said.get("tool_calls"))):
            place = call.get("index")
            yield from self._called(place if isinstance(place, int) else number, call)

    def _text(self, kind: str, part: str, text: str) -> Iterator[Body]:
        if self._open is None or self._items[self._open]["type"] != kind:
            yield from self._closed()
            yield from self._opened(kind, {"role": "assistant"} if kind == "message" else {"summary": []})
        place = cast(int, self._open)
        content: list[Body] = self._items[place]["content"]
        if not content or content[-1]["type"] != part:
            if content:
                yield from self._part_closed(place)
            more: Body = {"annotations": [], "logprobs": []} if part == "output_text" else {}
            content.append({"type": part, PARTS[part]: "", **more})
            yield self._at("response.content_part.added", place, part={**content[-1]})
        content[-1][PARTS[part]] += text
        yield self._at(f"response.{part}.delta", place, delta=text, **_probabilities(part))

    def _opened(self, kind: str, more: Body) -> Iterator[Body]:
        place = len(self._items)
        id = f"{PREFIX[kind]}_{self.id.removeprefix('resp_')}_{place}"
        content: Body = {"content": []} if kind in ("message", "reasoning") else {}
        self._items.append({"type": kind, "id": id, "status": "in_progress", **more, **content})
        self._open = None if kind.endswith("_call") else place
        yield self._event("response.output_item.added", output_index=place, item=_copied(self._items[place]))

    def _called(self, number: int, call: Body) -> Iterator[Body]:
        given: object = call.get("function") or call.get("custom")
        if not isinstance(given, dict):
            return
        made = cast(Body, given)
        if number not in self._calls:
            yield from self._closed()
            self._calls[number] = len(self._items)
            kind = "function_call" if call.get("function") else "custom_tool_call"
            id = call.get("id") or f"call_{self.id.removeprefix('resp_')}_{number}"
            more = {"call_id": id, "name": made.get("name") or "", GIVEN[kind]: ""}
            yield from self._opened(kind, more)
        place = self._calls[number]
        item = self._items[place]
        field = GIVEN[item["type"]]
        if isinstance(piece := made.get(field), str) and piece:
            item[field] += piece
            yield self._event(
                f"{_call_event(item)}.delta", output_index=place, item_id=item["id"], delta=piece
            )

    def _closed(self) -> Iterator[Body]:
        """What was being said is said."""
        if self._open is None:
            return
        place, self._open = self._open, None
        yield from self._part_closed(place)
        yield from self._item_closed(place)

    def _part_closed(self, place: int) -> Iterator[Body]:
        part: Body = self._items[place]["content"][-1]
        kind, name = part["type"], PARTS[part["type"]]
        yield self._at(f"response.{kind}.done", place, **{name: part[name]}, **_probabilities(kind))
        yield self._at("response.content_part.done", place, part={**part})

    def _call_closed(self, place: int) -> Iterator[Body]:
        item = self._items[place]
        name = GIVEN[item["type"]]
        given = {"name": item["name"], name: item[name]} if name == "arguments" else {name: item[name]}
        yield self._event(f"{_call_event(item)}.done", output_index=place, item_id=item["id"], **given)
        yield from self._item_closed(place)

    def _item_closed(self, place: int) -> Iterator[Body]:
        self._items[place]["status"] = "incomplete" if self._finish in CUT else "completed"
        yield self._event("response.output_item.done", output_index=place, item=_copied(self._items[place]))

    def _at(self, kind: str, place: int, **more: Any) -> Body:
        item = self._items[place]
        where = {"item_id": item["id"], "output_index": place, "content_index": len(item["content"]) - 1}
        return self._event(kind, **where, **more)

    def _event(self, kind: str, **more: Any) -> Body:
        self._told += 1
        return {"type": kind, "sequence_number": self._told - 1, **more}


def from_completion(answer: Answer, completion: Body | None) -> Body | None:
    """The response that a whole completion is; None if it is none."""
    if completion is None or not isinstance(completion.get("choices"), list):
        return None
    events = [*answer.add(completion), *answer.end()]
    return events[-1].get("response") if answer.ended else None


class Stream:
    """The server-sent events of a chat, as they come, turned into those of a response."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._rest = b""

    def feed(self, content: bytes) -> bytes:
        """What the next bytes tell. A chunk of a chat is one line."""
        *lines, self._rest = (self._rest + content).split(b"\n")
        return b"".join(as_event(event) for line in lines for event in self._line(line))

    def end(self) -> bytes:
        """What is told when the upstream has said all; some do not say that it is."""
        last = [*self._line(self._rest)]
        return b"".join(as_event(event) for event in (*last, *self._answer.end()))

    def _line(self, line: bytes) -> Iterator[Body]:
        data = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or self._answer.ended:
            return
        if data == DONE.encode():
            yield from self._answer.end(done=True)
            return
        chunk = parsed(data) or {}
        if error := chunk.get("error"):
            told = cast(Body, error) if isinstance(error, dict) else {"message": str(error)}
            yield self._answer.failed(told)
        else:
            yield from self._answer.add(chunk)


def as_event(event: Body) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def _call_event(item: Body) -> str:
    custom = item["type"] == "custom_tool_call"
    return f"response.{'custom_tool_call_input' if custom else 'function_call_arguments'}"


def _probabilities(part: str) -> Body:
    return {"logprobs": []} if part == "output_text" else {}


def _copied(item: Body) -> Body:
    """As it is now: it grows."""
    return {name: [*part] if isinstance(part, list) else part for name, part in item.items()}


def _counted(usage: Body) -> Body:
    """The tokens, by the names that responses have for them."""

    def count(told: Body, name: str) -> int:
        return value if type(value := told.get(name)) is int else 0

    def detail(name: str) -> Body:
        return cast(Body, usage.get(name)) if isinstance(usage.get(name), dict) else {}

    given, made = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    cached = count(detail("prompt_tokens_details"), "cached_tokens")
    thought = count(detail("completion_tokens_details"), "reasoning_tokens")
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + made,
    }
