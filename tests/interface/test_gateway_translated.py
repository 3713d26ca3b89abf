"""Responses through the gateway, before an upstream that has chat completions only."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from recollect import Memory
from recollect.testing.openai_answers import events
from recollect.testing.openai_server import Alter, Feed, OpenAIServer, Status
from tests.interface.gateway import Gateway, gateway

MODEL = "any-model"
TEA = "I drink green tea with Derek every morning."
ASK = "What do I drink with Derek in the morning?"
TOOL: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer(lacks=["/v1/responses"]) as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    with opened(tmp_path, upstream) as found:
        yield found


@contextmanager
def opened(folder: Path, upstream: OpenAIServer, **settings: Any) -> Iterator[Gateway]:
    settings["upstream"] = upstream.base_url
    with (
        Memory.open(folder / "m.db", embedder="hashing", **settings) as memory,
        gateway(memory, upstream, keyed=True) as found,
    ):
        yield found


def asked(gate: Gateway) -> list[str]:
    return [request.path.removeprefix("/v1/") for request in gate.asked]


def test_a_chain_with_memory(gate: Gateway) -> None:
    gate.memory.scope("ann").record("user", TEA)
    gate.upstream.say("Green tea.", "Derek.")
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input=ASK, instructions="Be brief.")
    assert asked(gate) == ["responses", "chat/completions"], "it is tried once"
    assert (one.output_text, one.status, one.instructions) == ("Green tea.", "completed", "Be brief.")
    assert one.usage
    assert one.usage.output_tokens == 2
    system, _ = gate.asked[-1].body["messages"]
    assert system["content"].startswith("Be brief.\n\n<memory_context>")
    two = ann.responses.create(model=MODEL, input="With whom?", previous_response_id=one.id)
    assert asked(gate)[2:] == ["chat/completions"]
    said = [message for message in gate.asked[-1].body["messages"] if message["role"] != "system"]
    assert said == [
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": "Green tea."},
        {"role": "user", "content": "With whom?"},
    ]
    assert [text for _, text in gate.turns("ann") if text != TEA] == [
        *(ASK, "Green tea.", "With whom?", "Derek."),
    ]
    assert ann.responses.retrieve(two.id).output_text == "Derek."
    assert ann.responses.retrieve(two.id).previous_response_id == one.id == two.previous_response_id
    assert "green tea" not in repr([one.body["instructions"] for one in gate.responses("ann")])
    (spent,) = [row for row in gate.memory.scope("ann").spending() if row.source == "memory_qa"]
    assert spent.calls == 2


def test_streaming(gate: Gateway) -> None:
    gate.upstream.say("Green tea it is.", "Yes.")
    ann = gate.sdk_of("ann")
    with ann.responses.stream(model=MODEL, input=ASK) as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        last = stream.get_final_response()
    assert "".join(pieces) == last.output_text == "Green tea it is."
    assert len(pieces) == 4
    assert last.usage
    ann.responses.create(model=MODEL, input="Sure?", previous_response_id=last.id)
    assert [text for _, text in gate.turns("ann")] == [ASK, "Green tea it is.", "Sure?", "Yes."]


def test_each_event_comes_before_the_next_is_sent(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi")
    whole = events({"model": MODEL, "messages": []}, "one two three")
    pieces = [piece + b"\n\n" for piece in whole.split(b"\n\n")[:-1]]
    gates = [threading.Event() for _ in pieces]
    gate.upstream.script(Feed(pieces, gates))
    gates[0].set()
    with ann.responses.create(model=MODEL, input="Count", stream=True) as stream:
        told = (event.delta for event in stream if event.type == "response.output_text.delta")
        for number, piece in enumerate(("one", " two", " three")):
            gates[number].set()
            assert next(told) == piece
        for let in gates:
            let.set()
        assert [*told] == []


@pytest.mark.parametrize("stream", [False, True])
def test_tools(gate: Gateway, *, stream: bool) -> None:
    def calling(body: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
        return body | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}

    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi")
    if stream:
        delta = {"tool_calls": [{"index": 0, **CALL}]}
        told = [{"delta": delta, "index": 0}, {"delta": {}, "index": 0, "finish_reason": "tool_calls"}]
        lines = [json.dumps({"model": MODEL, "choices": [one]}) for one in told]
        gate.upstream.script(Feed([f"data: {line}\n\n".encode() for line in (*lines, "[DONE]")]))
        with ann.responses.stream(model=MODEL, input="Weather?", tools=[TOOL]) as streamed:
            one: Any = streamed.get_final_response()
    else:
        gate.upstream.script(Alter(calling))
        one = ann.responses.create(model=MODEL, input="Weather?", tools=[TOOL], tool_choice="required")
    (call,) = one.output
    assert (call.type, call.call_id, call.name, call.arguments) == ("function_call", "c1", "weather", "{}")
    gate.upstream.say("Sunny.")
    result: Any = {"type": "function_call_output", "call_id": "c1", "output": "sun"}
    two = ann.responses.create(model=MODEL, input=[result], previous_response_id=one.id, tools=[TOOL])
    assert two.output_text == "Sunny."
    assert gate.asked[-1].body["messages"][1:] == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "sun"},
    ]
    assert ("tool", "sun") in gate.turns("ann")


class Drink(BaseModel):
    name: str


def test_structured_answers(gate: Gateway) -> None:
    gate.upstream.say('{"name": "tea"}')
    parsed = gate.sdk_of("ann").responses.parse(model=MODEL, input=ASK, text_format=Drink)
    assert parsed.output_parsed == Drink(name="tea")
    assert gate.asked[-1].body["response_format"]["json_schema"]["name"] == "Drink"


def test_errors_are_passed_back_and_what_cannot_be_is_said(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi")
    gate.upstream.script(Status(429, retry_after="3"))
    with pytest.raises(openai.RateLimitError, match="scripted") as limited:
        ann.responses.create(model=MODEL, input="Hi")
    assert limited.value.response.headers["retry-after"] == "3"
    with pytest.raises(openai.BadRequestError, match="chat completions only"):
        ann.responses.create(model=MODEL, input="Hi", tools=[{"type": "web_search"}])
    gate.upstream.script(Alter(lambda body: {"odd": 1}))
    with pytest.raises(openai.InternalServerError, match="no chat completion"):
        ann.responses.create(model=MODEL, input="Hi")
    assert len(gate.turns("ann")) == 2


def test_a_stream_that_breaks_off(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi", store=False)
    whole = events({"model": MODEL, "messages": []}, "one two three four")
    gate.upstream.script(Feed([whole[: whole.index(b" three")]], end="broken"))
    with pytest.raises(openai.APIConnectionError):
        list(ann.responses.create(model=MODEL, input="Count", stream=True))
    assert gate.turns("ann") == [("user", "Count"), ("assistant", "one two")]
    assert gate.raw_turns("ann")[1].metadata == {"partial": True}
    assert gate.responses("ann") == []


def streamed(gate: Gateway, *chunks: Any) -> list[Any]:
    """The events that such a stream is told by."""
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi", store=False)
    lines = [chunk if isinstance(chunk, str) else json.dumps({"model": MODEL, **chunk}) for chunk in chunks]
    gate.upstream.script(Feed([f"data: {line}\n\n".encode() for line in lines]))
    return [*ann.responses.create(model=MODEL, input="Go on", stream=True)]


def test_a_stream_that_does_not_say_why_it_ended(gate: Gateway) -> None:
    delta = {"choices": [{"index": None, "delta": {"content": "Tea."}, "finish_reason": None}]}
    told = streamed(gate, delta, "[DONE]")
    assert [event.type for event in told][-2:] == ["response.output_item.done", "response.completed"]
    assert told[-1].response.output_text == "Tea."
    assert (gate.turns("ann"), gate.raw_turns("ann")[1].metadata) == (
        [("user", "Go on"), ("assistant", "Tea.")],
        {},
    )
    assert [kept.id for kept in gate.responses("ann")] == [told[-1].response.id]


def test_a_stream_of_nothing_ends(gate: Gateway) -> None:
    assert [event.type for event in streamed(gate, "[DONE]")] == [
        *("response.created", "response.in_progress", "response.completed"),
    ]


def test_an_error_in_a_stream_may_be_a_text(gate: Gateway) -> None:
    (told,) = streamed(gate, {"error": "out of memory"}, "[DONE]")
    assert (told.type, told.message) == ("error", "out of memory")


def test_a_call_of_a_function_may_say_that_it_is_no_other(gate: Gateway) -> None:
    call = {"index": 0, **CALL, "custom": None}
    first = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    told = streamed(gate, first, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    (made,) = told[-1].response.output
    assert (made.type, made.name, made.arguments) == ("function_call", "weather", "{}")


@pytest.mark.parametrize("setting", ["auto", "native", "chat"])
def test_which_of_both_an_upstream_is_asked_for_can_be_set(tmp_path: Path, setting: str) -> None:
    with OpenAIServer() as upstream, opened(tmp_path, upstream, upstream_responses=setting) as gate:
        ann = gate.sdk_of("ann")
        assert ann.responses.create(model=MODEL, input="Hi").output_text == "I have nothing to say."
        upstream.script(Status(404))
        with pytest.raises(openai.NotFoundError):
            ann.responses.create(model=MODEL, input="Hi")
        path = "chat/completions" if setting == "chat" else "responses"
        assert asked(gate) == [path] * 2, "what an upstream has shown to have it keeps"


def test_a_model_that_is_missing_is_no_path_that_is(tmp_path: Path) -> None:
    with OpenAIServer() as upstream, opened(tmp_path, upstream) as gate:
        missing = {"error": {"message": "The model does not exist", "code": "model_not_found"}}
        upstream.script(Status(404, body=missing))
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            gate.sdk_of("ann").responses.create(model="odd", input="Hi")
        assert asked(gate) == ["responses"]
