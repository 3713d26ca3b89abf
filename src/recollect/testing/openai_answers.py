"""What the scripted server answers when nothing goes wrong: from a request's body to the answer's."""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Calls:
    """What a chat model says when it calls tools: names with arguments, as a dict or as it is written."""

    calls: tuple[tuple[str, Mapping[str, Any] | str], ...]
    text: str = ""


def calls(*given: tuple[str, Mapping[str, Any] | str], text: str = "") -> Calls:
    return Calls(given, text)


Chat = Callable[[Body], str | Calls]


def scatter(text: str, dimensions: int) -> list[float]:
    """A vector that depends on nothing but the text; its direction means nothing."""
    stream = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(dimensions)
    return [byte / 127.5 - 1.0 for byte in stream]


def embeddings(body: Body, embed: Callable[[str], list[float]]) -> Body:
    given = body["input"]
    texts: list[str] = [given] if isinstance(given, str) else given
    data = [
        {"object": "embedding", "index": index, "embedding": embed(text)} for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def completion(body: Body, said: str | Calls) -> Body:
    """A chat completion; a word counts as a token."""
    text, tools = _spoken(said)
    message: Body = {"role": "assistant", "content": text} | ({"tool_calls": tools} if tools else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tools else "stop"}
    return _chat(body, "chat.completion", [choice]) | {"usage": _usage(body, text)}


def _spoken(said: str | Calls) -> tuple[str, list[Body]]:
    if isinstance(said, str):
        return said, []
    id = uuid.uuid4().hex[:8]
    return said.text, [
        {
            "id": f"call_{id}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for place, (name, given) in enumerate(said.calls)
    ]


def _call_deltas(tools: list[Body]) -> Iterator[Body]:
    """Calls as servers stream them: the name first, then the arguments in two pieces."""
    for place, call in enumerate(tools):
        given: str = call["function"]["arguments"]
        half = len(given) // 2
        yield {"index": place, **call, "function": call["function"] | {"arguments": ""}}
        for piece in (given[:half], given[half:]):
            yield {"index": place, "function": {"arguments": piece}}


def events(body: Body, said: str | Calls) -> bytes:
    """The same as server-sent events, a word each, with the usage at the end if it is asked for."""
    text, tools = _spoken(said)

    def chunks() -> Iterator[Body]:
        for place, word in enumerate(text.split(" ")):
            delta = {"content": word if place == 0 else f" {word}"}
            delta |= {"role": "assistant"} if place == 0 else {}
            choice = {"index": 0, "delta": delta, "finish_reason": None}
            yield _chat(body, "chat.completion.chunk", [choice])
        for call in _call_deltas(tools):
            choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
            yield _chat(body, "chat.completion.chunk", [choice])
        end: Body = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if tools else "stop"}
        yield _chat(body, "chat.completion.chunk", [end])
        options: Body = body.get("stream_options") or {}
        if options.get("include_usage"):
            yield _chat(body, "chat.completion.chunk", []) | {"usage": _usage(body, text)}

    lines = [*(json.dumps(chunk) for chunk in chunks()), "[DONE]"]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def _chat(body: Body, kind: str, choices: list[Body]) -> Body:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": body["model"], "choices": choices}


def _usage(body: Body, text: str) -> Body:
    prompt = sum(len(str(message.get("content")).split()) for message in body["messages"])
    said = len(text.split())
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def response(body: Body, said: str | Calls) -> Body:
    """The same by the Responses API. Each has an id of its own, and repeats its instructions."""
    text, _ = _spoken(said)
    content = {"type": "output_text", "text": text, "annotations": list[Any]()}
    id = uuid.uuid4().hex
    message = {"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed"}
    return _response(body, f"resp_{id}", "completed") | {"output": [message | {"content": [content]}]}


def response_events(body: Body, said: str | Calls) -> bytes:
    """The same as server-sent events, a word each."""
    text, _ = _spoken(said)
    whole = response(body, text)
    (item,) = whole["output"]
    place: Body = {"item_id": item["id"], "output_index": 0, "content_index": 0}

    def told() -> Iterator[Body]:
        begun: Body = whole | {"status": "in_progress", "output": []}
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}}
        part: Body = item["content"][0]
        yield {"type": "response.content_part.added", **place, "part": part | {"text": ""}}
        for number, word in enumerate(text.split(" ")):
            piece = word if number == 0 else f" {word}"
            yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": whole}

    lines = [(event["type"], json.dumps(event | {"sequence_number": n})) for n, event in enumerate(told())]
    return "".join(f"event: {kind}\ndata: {line}\n\n" for kind, line in lines).encode()


def _response(body: Body, id: str, status: str) -> Body:
    return {
        "id": id,
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body["model"],
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def models() -> Body:
    data = [{"id": "any-model", "object": "model", "created": 0, "owned_by": "nobody"}]
    return {"object": "list", "data": data}


def shared_words(query: str, document: str) -> float:
    """The share of the query's words that the document has."""
    asked = set(query.casefold().split())
    return len(asked & set(document.casefold().split())) / max(1, len(asked))


def ranking(body: Body) -> Body:
    """Relevance by shared words, the best first, as rerankers answer."""
    scores = [shared_words(body["query"], document) for document in body["documents"]]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    results = [{"index": index, "relevance_score": scores[index]} for index in order]
    return {"id": "rerank-1", "model": body["model"], "results": results[: body.get("top_n") or len(results)]}
