"""Chat completions as responses, whole and in pieces."""

import json
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from recollect.server.gateway.from_chat import Answer, Stream, from_completion

ASKED: dict[str, Any] = {"model": "m", "input": "Hi", "temperature": 0, "store": False}
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}


def answer() -> Answer:
    return Answer(ASKED, "resp_1", 7, "resp_0")


def completion(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"model": "m-1", "choices": [choice], "usage": USAGE}


def whole(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    found = from_completion(answer(), completion(message, finish))
    assert found is not None
    Response.model_validate(found)
    return found


def chunks(*deltas: dict[str, Any], finish: str | None = "stop", done: bool = True) -> bytes:
    told = [{"model": "m-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        told.append({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        told.append({"model": "m-1", "choices": [], "usage": USAGE})
    lines = [*map(json.dumps, told), *(["[DONE]"] if done else [])]
    return "".join(f"data: {line}\r\n\r\n" for line in lines).encode()


def events(content: bytes, size: int = 7) -> list[dict[str, Any]]:
    """What is told of a stream that comes in such pieces."""
    stream = Stream(answer())
    raw = b"".join(stream.feed(content[at : at + size]) for at in range(0, len(content), size)) + stream.end()
    found = [json.loads(one.split("data: ", 1)[1]) for one in raw.decode().split("\n\n") if one]
    assert [one["sequence_number"] for one in found] == [*range(len(found))]
    for one in found:
        EVENT.validate_python(one)
    return found


def test_a_text() -> None:
    found = whole({"content": "Tea."})
    assert {
        name: found[name] for name in ("id", "created_at", "status", "model", "previous_response_id")
    } == {
        "id": "resp_1",
        "created_at": 7,
        "status": "completed",
        "model": "m-1",
        "previous_response_id": "resp_0",
    }
    assert (found["temperature"], found["store"]) == (0, False)
    (item,) = found["output"]
    assert (item["role"], item["status"], item["content"][0]["text"]) == ("assistant", "completed", "Tea.")
    assert found["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


def test_calls_a_refusal_and_what_was_thought() -> None:
    other = {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "x"}}
    found = whole(
        {"content": "Wait.", "reasoning_content": "Hm.", "reasoning": "Hm.", "tool_calls": [CALL, other]},
        "tool_calls",
    )
    assert [item["type"] for item in found["output"]] == [
        *("reasoning", "message", "function_call", "custom_tool_call"),
    ]
    thought, _, call, custom = found["output"]
    assert thought["content"] == [{"type": "reasoning_text", "text": "Hm."}]
    assert (call["call_id"], call["name"], call["arguments"]) == ("c1", "f", '{"a":1}')
    assert (custom["call_id"], custom["input"]) == ("c2", "x")
    (refused,) = whole({"content": None, "refusal": "No."})["output"]
    assert refused["content"] == [{"type": "refusal", "refusal": "No."}]


@pytest.mark.parametrize(
    ("finish", "status", "why"),
    [
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
        (None, "completed", None),
    ],
)
def test_how_it_ended(finish: str | None, status: str, why: Any) -> None:
    found = whole({"content": "Tea"}, finish)
    assert (found["status"], found["incomplete_details"]) == (status, why)
    assert found["output"][0]["status"] == status


@pytest.mark.parametrize("odd", [None, {}, {"choices": None}, {"choices": []}, {"choices": [3]}])
def test_what_is_no_completion_is_no_response(odd: Any) -> None:
    assert from_completion(answer(), odd) is None


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_events_of_a_text(size: int) -> None:
    told = events(chunks({"role": "assistant", "content": ""}, {"content": "Te"}, {"content": "a."}), size)
    assert [one["type"].removeprefix("response.") for one in told] == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done", "completed"),
    ]
    assert [one["delta"] for one in told if one["type"].endswith("delta")] == ["Te", "a."]
    assert told[2]["item"]["content"] == []
    assert told[-1]["response"] == whole({"content": "Tea."})


def test_the_events_of_calls_that_come_side_by_side() -> None:
    def piece(index: int, text: str, **more: Any) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, "function": {"arguments": text, **more}}]}

    first = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}}]}
    second = {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "g", "arguments": "{"}}]}
    deltas = ({"reasoning": "Hm."}, {"content": "Wait."}, first, piece(0, '{"a"'), second, piece(0, ":1}"))
    told = events(chunks(*deltas, piece(1, "}"), finish="tool_calls"))
    done = [one for one in told if one["type"] == "response.function_call_arguments.done"]
    assert [(one["name"], one["arguments"]) for one in done] == [("f", '{"a":1}'), ("g", "{}")]
    assert [item["type"] for item in told[-1]["response"]["output"]] == [
        *("reasoning", "message", "function_call", "function_call"),
    ]
    opened = [one["output_index"] for one in told if one["type"] == "response.output_item.added"]
    assert opened == [0, 1, 2, 3]
    assert opened == [one["output_index"] for one in told if one["type"] == "response.output_item.done"]


def test_an_end_that_is_not_told_and_one_that_does_not_come() -> None:
    assert events(chunks({"content": "Tea"}, done=False))[-1]["type"] == "response.completed"
    assert events(chunks({"content": "Tea"}, finish=None, done=False))[-1]["type"].endswith("delta")


def test_an_error_in_the_middle() -> None:
    said = chunks({"content": "Tea"}, finish=None, done=False)
    told = events(said + b'data: {"error": {"message": "gone", "code": null}}\n\n' + chunks({"content": "x"}))
    assert (told[-1]["type"], told[-1]["message"]) == ("error", "gone")


def test_odd_chunks_are_passed_over() -> None:
    odd = [3, {"delta": 3}, {"delta": {"content": 3, "tool_calls": [3, {"function": 3}]}}]
    line = f"data: {json.dumps({'choices': odd})}\n".encode()
    told = events(b": hello\n\ndata: nothing\n" + line + chunks({"content": "Tea."}))
    assert told[-1]["response"]["output"][-1]["content"][0]["text"] == "Tea."
