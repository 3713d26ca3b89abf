"""What the upstream answered, read from its bytes once they have been passed on."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from recollect.ports.language_model import Tokens
from recollect.record.threads import Said
from recollect.server.gateway.reading import Body, dicts, of_items, of_message, parsed

READABLE = ("gzip", "deflate")
"""The encodings that are understood here; the upstream is asked for no other."""
DONE = "[DONE]"
FAILED = "response.failed"
ENDS = ("response.completed", "response.incomplete", FAILED)
GOING, BROKEN = (None, "queued", "in_progress"), ("failed", "cancelled")
"""How a response stands that has not come to its end, and one that came to none of its own."""
PROMPT, COMPLETION = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
"""What the two APIs call the tokens that went in and came out."""
PARTIAL = "partial"
"""In the metadata of a turn: the answer broke off."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer; `response` is the object of the Responses API, if it was that and came to its end. `tokens`
    are what it took by the upstream's count, if it tells: of a stream, only where the client asked for it."""

    said: Said | None
    response: Body | None = None
    tokens: Tokens | None = None
    model: str = ""


def counted(heard: Heard, body: Body | None) -> Heard:
    """With what the upstream says that the answer took."""
    usage, model = (body or {}).get("usage"), (body or {}).get("model")
    if not isinstance(usage, dict) or not isinstance(model, str) or not model:
        return heard
    told = cast(Body, usage)
    given = [_count(told, names) for names in (PROMPT, COMPLETION)]
    return replace(heard, tokens=Tokens(*given), model=model)


def _count(usage: Body, names: tuple[str, ...]) -> int:
    return next((value for name in names if type(value := usage.get(name)) is int and value >= 0), 0)


def unpacked(raw: bytes, encoding: str, most: int) -> bytes:
    """The bytes without their encoding, as far as they came, and no more than so many."""
    if not encoding or encoding == "identity":
        return raw[:most]
    if encoding not in READABLE:
        return b""
    for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):  # with a header of gzip or zlib, or with none
        try:
            return zlib.decompressobj(window).decompress(raw, most)
        except zlib.error:
            continue
    return b""


def heard_chat(content: bytes, streamed: bool, whole: bool) -> Heard:
    if not streamed:
        body = parsed(content)
        return counted(Heard(_completion(body)), body)
    return counted(Heard(_streamed_chat(content)), _last_usage(content))


def _last_usage(content: bytes) -> Body | None:
    """The chunk of a stream that tells what all of it took; there is one if the client asked for it."""
    if b'"usage"' not in content:
        return None
    chunks = (parsed(data.encode()) or {} for data in events(content) if data != DONE)
    return next((chunk for chunk in reversed([*chunks]) if chunk.get("usage")), None)


def heard_response(content: bytes, streamed: bool, whole: bool) -> Heard:
    body = _streamed_response(content) if streamed else parsed(content)
    if body is None:
        return Heard(None)
    status = body.get("status")
    ended = status not in BROKEN and (status not in GOING or (whole and not streamed))
    said = [one for one in of_items(body.get("output")) if one.role == "assistant"]
    kept = body if ended and isinstance(body.get("id"), str) and not body.get("error") else None
    heard = Heard(_marked(said[0], body.get("model"), ended) if said else None, kept)
    return counted(heard, body)


def _completion(body: Body | None) -> Said | None:
    for choice in dicts((body or {}).get("choices")):
        message = choice.get("message")
        if isinstance(message, dict) and (said := of_message({"role": "assistant", **cast(Body, message)})):
            return _marked(said, (body or {}).get("model"), ended=True) if said else None
    return None


def _streamed_chat(content: bytes) -> Said | None:
    """The first choice, put together from its pieces."""
    texts: list[str] = []
    calls: dict[int, Body] = {}
    audio: Body = {}
    model, ended = None, False
    for data in events(content):
        if data == DONE:
            ended = True
            continue
        chunk = parsed(data.encode()) or {}
        model = chunk.get("model") or model
        for choice in dicts(chunk.get("choices")):
            if choice.get("index"):
                continue
            ended = ended or choice.get("finish_reason") is not None
            delta = choice.get("delta")
            if isinstance(delta, dict):
                _add(texts, calls, cast(Body, delta))
                _add_audio(audio, cast(Body, delta).get("audio"))
    made = [calls[place] for place in sorted(calls)]
    said = of_message({"role": "assistant", "content": "".join(texts), "tool_calls": made, "audio": audio})
    return _marked(said, model, ended) if said else None


def _add(texts: list[str], calls: dict[int, Body], delta: Body) -> None:
    texts += [piece for name in ("content", "refusal") if isinstance(piece := delta.get(name), str)]
    pieces = [*dicts(delta.get("tool_calls"))]
    if isinstance(old := delta.get("function_call"), dict):
        pieces.append({"index": 0, "function": old})
    for piece in pieces:
        place = piece.get("index")
        call = calls.setdefault(place if isinstance(place, int) else len(calls), {"function": {}})
        if isinstance(piece.get("id"), str):
            call["id"] = piece["id"]
        made = piece.get("function")
        if isinstance(made, dict):
            for name, value in cast(Body, made).items():
                if isinstance(value, str):
                    call["function"][name] = call["function"].get(name, "") + value


def _add_audio(audio: Body, piece: object) -> None:
    """What is said in a piece of a spoken answer, and the id that it is known by."""
    told = cast(Body, piece) if isinstance(piece, dict) else {}
    if isinstance(told.get("id"), str):
        audio["id"] = told["id"]
    if isinstance(told.get("transcript"), str):
        audio["transcript"] = audio.get("transcript", "") + told["transcript"]


def _streamed_response(content: bytes) -> Body | None:
    """The response as its last event has it; of one that broke off, what can be put together."""
    begun: Body | None = None
    items: list[Any] = []
    texts: list[str] = []
    for data in events(content):
        event = parsed(data.encode()) or {}
        kind, response = event.get("type"), event.get("response")
        if isinstance(response, dict):
            begun = cast(Body, response)
            if kind in ENDS and (kind != FAILED or begun.get("output")):
                return begun
        elif kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            texts.append(event["delta"])
        elif kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            items.append(event["item"])
            texts.clear()
    if begun is None and not items and not texts:
        return None
    if texts:
        part = {"type": "output_text", "text": "".join(texts)}
        items.append({"type": "message", "role": "assistant", "content": [part]})
    return {**(begun or {}), "output": items, "status": None}


def events(content: bytes) -> Iterator[str]:
    """The data of each server-sent event."""
    lines: list[str] = []
    for line in content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _marked(said: Said, model: object, ended: bool) -> Said:
    return replace(
        said,
        model=model if isinstance(model, str) else None,
        metadata={} if ended else {PARTIAL: True},
    )


def instructed(response: Body, instructions: object) -> Body:
    """The response without what was put into its instructions, which some upstreams repeat: memories stay
    where they can be forgotten."""
    return {**response, "instructions": instructions} if "instructions" in response else response


def is_stream(kind: str) -> bool:
    return kind.partition(";")[0].strip().lower() == "text/event-stream"


def as_json(value: Any) -> bytes:
    """Any text that JSON can have can be written so."""
    return json.dumps(value, separators=(",", ":")).encode()
