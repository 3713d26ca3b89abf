"""Turns of a model with tools, over real HTTP: what is sent, what is heard, what is learnt of the server."""

import json
import threading
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from recollect.agent.waiting import Cancelled, Workers
from recollect.errors import ModelError
from recollect.models.chat import ChatModel
from recollect.ports.acting import Call, Offered, Result, Said, ToolsUnknown
from recollect.ports.language_model import ChatMessage, Tokens
from recollect.testing.openai_answers import calls
from recollect.testing.openai_server import Feed, Hang, OpenAIServer, Status

ASKED = [ChatMessage("user", "Where?")]
LOOK = Offered("look", "Look.", {"type": "object", "properties": {}})


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def model(server: OpenAIServer, waits: list[float]) -> Generator[ChatModel]:
    made = ChatModel(server.base_url, "a-model", attempts=3, concurrency=1, sleep=waits.append)
    yield made
    made.close()


def act(model: ChatModel, *messages: Any, tools: Any = (LOOK,), **more: Any) -> Iterator[str | Said]:
    return model.act([*ASKED, *messages], tools, source="agent", max_tokens=50, **more)


def test_what_is_sent_and_heard(server: OpenAIServer, model: ChatModel) -> None:
    server.say(calls(("look", {"at": "é"}), ("look", "{broken"), text="I look."))
    *pieces, said = act(model)
    assert pieces == ["I", " look."]
    assert isinstance(said, Said)
    assert (said.text, [(call.tool, call.arguments) for call in said.calls], said.tokens) == (
        "I look.",
        [("look", '{"at": "\\u00e9"}'), ("look", "{broken")],
        Tokens(1, 2),
    )
    *_, again = act(model, said, *[Result(call.id, call.tool, "\ud800") for call in said.calls])
    assert isinstance(again, Said)
    first, second = server.requests
    assert first.body["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": "Look.", "parameters": dict(LOOK.parameters)},
        }
    ]
    sent = second.body["messages"][1:]
    assert [json.loads(call["function"]["arguments"]) for call in sent[0]["tool_calls"]] == [
        {"at": "é"},
        {"unread": "{broken"},
    ]
    assert [message["tool_call_id"] for message in sent[1:]] == [call["id"] for call in sent[0]["tool_calls"]]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "a-model does not support tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice'),
        (422, "Extra inputs are not permitted: tools"),
        (500, "tools param requires --jinja flag"),
    ],
)
def test_a_server_that_knows_no_tools_is_asked_once(
    server: OpenAIServer, model: ChatModel, waits: list[float], status: int, message: str
) -> None:
    server.script(Status(status, body={"error": {"message": message}}))
    for _ in range(2):
        with pytest.raises(ToolsUnknown):
            list(act(model))
    assert (len(server.requests), waits) == (1, [])
    *_, said = act(model, tools=())
    assert isinstance(said, Said)
    assert said.text == "I have nothing to say."


def test_parts_that_a_server_does_not_know_are_left_out(server: OpenAIServer, model: ChatModel) -> None:
    for part in ("stream_options", "temperature", "max_tokens"):
        server.script(Status(400, body={"error": {"message": "unknown", "param": part}}))
    *_, said = act(model)
    assert isinstance(said, Said)
    assert said.tokens == Tokens()
    assert "tools" in server.requests[-1].body
    assert server.requests[-1].body["max_completion_tokens"] == 50
    assert not {"stream_options", "temperature", "max_tokens"} & set(server.requests[-1].body)


def test_an_answer_that_comes_as_a_whole(server: OpenAIServer, model: ChatModel) -> None:
    function = {"name": "look", "arguments": {"at": 1}}
    message = {"content": None, "reasoning_content": "Hm.", "tool_calls": [{"function": function}]}
    whole = json.dumps({"choices": [{"message": message, "finish_reason": "length"}]}, indent=1)
    server.script(Feed([whole.encode()], headers={"Content-Type": "application/json"}))
    assert list(act(model)) == [Said("", (Call("call_0", "look", '{"at": 1}'),), Tokens(), "Hm.", cut=True)]


def test_closing_it_ends_the_request_and_lets_others_in(server: OpenAIServer, model: ChatModel) -> None:
    piece = b'data: {"choices": [{"delta": {"content": "I"}}]}\n\n'
    step = Feed([piece], end="open")
    server.script(step)
    told = act(model)
    assert next(told) == "I"
    told.close()  # type: ignore[attr-defined]
    assert step.gone.wait(30)
    assert len(list(act(model, within=30))) > 1  # of one request at a time


@pytest.mark.parametrize("step", [Hang(), Feed([b": wait\n\n"], end="open")])
def test_giving_it_up_ends_a_request_that_says_nothing(
    server: OpenAIServer, model: ChatModel, step: Hang | Feed
) -> None:
    server.script(step)
    workers = Workers()
    job = workers.begin(lambda: act(model), "given-up")
    (thread,) = [one for one in threading.enumerate() if one.name == "recollect-given-up"]
    pause = threading.Event()
    while not server.requests:
        pause.wait(0.01)
    workers.cancel()
    with pytest.raises(Cancelled):
        workers.one(job, 0)
    assert len(list(act(model, within=30))) > 1  # of one request at a time
    thread.join(30)
    assert not thread.is_alive()
    assert len(server.requests) == 2


def test_what_breaks_off_is_not_asked_for_again(server: OpenAIServer, model: ChatModel) -> None:
    server.script(Feed([b'data: {"choices": [{"delta": {"content": "I"}}]}\n\n'], end="broken"))
    told = act(model)
    assert next(told) == "I"
    with pytest.raises(ModelError, match="broke off"):
        next(told)
    assert len(server.requests) == 1
