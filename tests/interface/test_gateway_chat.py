"""Chat completions through the gateway: memory in, turns out, everything else as it is."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from recollect import Conversation, Memory
from recollect.testing.openai_server import Alter, Feed, OpenAIServer
from tests.interface.gateway import Gateway, gateway

TEA = "I drink green tea with Derek every morning."
ASK = "What do I drink with Derek in the morning?"
MODEL = "any-model"


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as found,
    ):
        yield found


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def post(gate: Gateway, messages: list[Any], headers: dict[str, str] | None = None, **more: Any) -> Any:
    body = {"model": MODEL, "messages": messages, **more}
    answer = gate.http.post("/chat/completions", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def test_memories_are_put_into_the_system_message(gate: Gateway) -> None:
    turn = gate.ann.record("user", TEA)
    answer = post(gate, [{"role": "system", "content": "Be brief."}, user(ASK)])
    assert turn.id in answer.headers["x-recollect-injected"].split(",")
    system, asked = gate.asked[-1].body["messages"]
    assert system["content"].startswith("Be brief.\n\n<memory_context>")
    assert "green tea" in system["content"]
    assert asked == user(ASK)


def test_without_a_system_message_there_is_one(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    post(gate, [user(ASK)])
    system, asked = gate.asked[-1].body["messages"]
    assert system["role"] == "system"
    assert "green tea" in system["content"]
    assert asked == user(ASK)


def test_a_developer_message_in_parts_gets_one_more(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    part = {"type": "text", "text": "Be brief."}
    post(gate, [{"role": "developer", "content": [part]}, user(ASK)])
    told = gate.asked[-1].body["messages"][0]["content"]
    assert told[0] == part
    assert "green tea" in told[1]["text"]


def test_the_very_bytes_are_passed_when_nothing_is_put_in(gate: Gateway) -> None:
    said = b'[{"role":"user","content":"caf\\\\u00e9 \xc3\xa9"}]'
    raw = b'{ "model":"m",  "messages":' + said + b', "temperature": 1.0, "x":1e2}'
    assert gate.http.post("/chat/completions", content=raw).status_code == 200
    assert gate.asked[-1].raw == raw


def test_what_is_not_json_is_the_upstreams_to_refuse(gate: Gateway) -> None:
    gate.http.post("/chat/completions", content=b"{not json")
    assert gate.asked[-1].raw == b"{not json"


def test_fields_that_nobody_knows_tools_and_images_pass_untouched(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "x": None}}
    content = [{"type": "text", "text": ASK}, image]
    more = {
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "odd": {"a": [1, 2.5, None, "\ud800"]},
    }
    body = json.dumps({"model": MODEL, "messages": [user(content)], **more})
    answer = gate.http.post("/chat/completions", content=body)
    assert answer.headers["x-recollect-injected"]
    sent = gate.asked[-1].body
    assert sent["messages"][1:] == [user(content)]
    assert {name: sent[name] for name in more} == more
    assert gate.turns()[1:] == [("user", ASK), ("assistant", "I have nothing to say.")]
    assert gate.raw_turns()[1].metadata == {"attached": ["image_url"]}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_spoken_answer_is_recorded_by_what_was_said(gate: Gateway, *, streamed: bool) -> None:
    whole = {"id": "audio_1", "data": "AAAA", "transcript": "Green tea.", "expires_at": 1}
    pieces = [{"id": "audio_1", "transcript": "Green"}, {"data": "AAAA"}, {"transcript": " tea."}]
    if streamed:
        chunks = [{"choices": [{"index": 0, "delta": {"audio": piece}}]} for piece in pieces]
        raw = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
        gate.upstream.script(Feed([raw + b"data: [DONE]\n\n"]))
    else:
        message = {"role": "assistant", "content": None, "refusal": None, "audio": whole}
        body = json.dumps({"model": MODEL, "choices": [{"index": 0, "message": message}]}).encode()
        gate.upstream.script(Feed([body], headers={"Content-Type": "application/json"}))
    first = post(gate, [user("Hi")], stream=streamed)
    gate.settle()
    again = post(gate, [user("Hi"), {"role": "assistant", "audio": {"id": "audio_1"}}, user("Sure?")])
    assert gate.turns() == [
        *(("user", "Hi"), ("assistant", "Green tea.")),
        *(("user", "Sure?"), ("assistant", "I have nothing to say.")),
    ]
    assert gate.raw_turns()[1].metadata == {"attached": ["audio"]}
    conversation = "x-recollect-conversation"
    assert first.headers[conversation] == again.headers[conversation]


def test_what_is_said_is_recorded_once_though_it_is_sent_each_time(gate: Gateway) -> None:
    gate.upstream.say("Hello!", "Fine.", "Bye.")
    messages: list[Any] = [{"role": "system", "content": "It is 9 o'clock."}, user("Hi")]
    talks: list[str] = []
    for say in ("How are you?", "See you!", ""):
        answer = post(gate, messages)
        talks.append(answer.headers["x-recollect-conversation"])
        messages += [answer.json()["choices"][0]["message"], user(say)]
        messages[0] = {"role": "system", "content": f"It is {len(messages)} o'clock."}
    assert gate.turns() == [
        *(("user", "Hi"), ("assistant", "Hello!"), ("user", "How are you?"), ("assistant", "Fine.")),
        *(("user", "See you!"), ("assistant", "Bye.")),
    ]
    assert len(set(talks)) == 1
    assert {turn.conversation for turn in gate.raw_turns()} == {talks[0]}
    assert [turn.index for turn in gate.raw_turns()] == [*range(6)]


@pytest.mark.parametrize(
    "again",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "Hello!  "}]},
        {"role": "assistant", "content": "Hello!\n", "tool_calls": None, "refusal": None, "annotations": []},
    ],
)
def test_the_same_in_other_json_is_the_same(gate: Gateway, again: dict[str, Any]) -> None:
    gate.upstream.say("Hello!")
    post(gate, [user("Hi")])
    post(gate, [user([{"type": "text", "text": "Hi"}]), again, user("So?")])
    assert [text for _, text in gate.turns()] == ["Hi", "Hello!", "So?", "I have nothing to say."]
    assert len({turn.conversation for turn in gate.raw_turns()}) == 1


def test_an_edited_message_branches_off(gate: Gateway) -> None:
    gate.upstream.say("Hello!", "Fine.", "Well.")
    start = [user("Hi"), assistant("Hello!")]
    first = post(gate, [user("Hi")]).headers["x-recollect-conversation"]
    post(gate, [*start, user("How are you?")])
    other = post(gate, [*start, user("How is she?")]).headers["x-recollect-conversation"]
    post(gate, [*start, user("How is she?"), assistant("Well."), user("Good.")])
    turns = gate.raw_turns()
    assert [t.content for t in turns if t.conversation == first] == ["Hi", "Hello!", "How are you?", "Fine."]
    assert [t.content for t in turns if t.conversation == other] == [
        *("How is she?", "Well.", "Good.", "I have nothing to say."),
    ]
    (fork,) = gate.memory.store.user("local").get(Conversation, [other])
    assert fork.metadata == {"forked_from": first, "forked_at": 2}


def test_a_named_conversation_gets_what_is_new(gate: Gateway) -> None:
    name = {"X-Recollect-Conversation": "a%2Fb%20%C3%BC"}
    gate.upstream.say("Hello!", "Fine.", "Yes.")
    assert post(gate, [user("Hi")], name).headers["x-recollect-conversation"] == "a/b %C3%BC"
    post(gate, [user("Hi"), assistant("Hello!"), user("How are you?")], name)
    post(gate, [assistant("Fine."), user("Sure?")], name)  # not all of it
    post(gate, [user("Bye")], name)
    assert [text for _, text in gate.turns()] == [
        *("Hi", "Hello!", "How are you?", "Fine.", "Sure?", "Yes.", "Bye", "I have nothing to say."),
    ]
    assert {turn.conversation for turn in gate.raw_turns()} == {"a/b ü"}


def test_the_conversation_that_goes_on_is_not_recalled(gate: Gateway) -> None:
    gate.upstream.say("Nice.")
    post(gate, [user(TEA)])
    answer = post(gate, [user(TEA), assistant("Nice."), user(ASK)])
    assert "x-recollect-injected" not in answer.headers


def test_tools_called_are_recorded(gate: Gateway) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"in": "Lisbon"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    gate.upstream.script(
        Alter(
            lambda body: body | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        )
    )
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    client = gate.sdk()
    asked: list[Any] = [user("Weather in Lisbon?")]
    got = client.chat.completions.create(model=MODEL, messages=asked, tools=tools)
    made = got.choices[0].message.tool_calls
    assert made
    asked += [got.choices[0].message, {"role": "tool", "tool_call_id": "c1", "content": "Sunny"}]
    gate.upstream.say("It is sunny.")
    client.chat.completions.create(model=MODEL, messages=asked, tools=tools)
    assert gate.turns() == [
        *(
            ("user", "Weather in Lisbon?"),
            ("assistant", ""),
            ("tool", "Sunny"),
            ("assistant", "It is sunny."),
        ),
    ]
    _, called, answered, _ = gate.raw_turns()
    assert called.metadata["tool_calls"] == [{"id": "c1", "name": "weather", "arguments": '{"in": "Lisbon"}'}]
    assert answered.metadata == {"tool_call_id": "c1"}


def test_streaming_with_the_sdk(gate: Gateway) -> None:
    gate.upstream.say("Green tea it is.")
    with gate.sdk().chat.completions.create(model=MODEL, messages=[user(ASK)], stream=True) as stream:  # type: ignore[arg-type]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == "Green tea it is."
    assert gate.turns() == [("user", ASK), ("assistant", "Green tea it is.")]
    assert gate.raw_turns()[1].model == MODEL


def test_a_tool_call_in_pieces_is_recorded_whole(gate: Gateway) -> None:
    def delta(**what: Any) -> bytes:
        chunk = {"model": "m", "choices": [{"index": 0, "delta": what, "finish_reason": None}]}
        return f"data: {json.dumps(chunk)}\n\n".encode()

    pieces = [
        delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"a"'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
        b"data: [DONE]\n\n",
    ]
    gate.upstream.script(Feed([b"".join(pieces)[:100], b"".join(pieces)[100:]]))
    gate.http.post("/chat/completions", json={"model": MODEL, "messages": [user("Look")], "stream": True})
    assert gate.turns() == [("user", "Look"), ("assistant", "")]
    called = gate.raw_turns()[1].metadata
    assert called == {"tool_calls": [{"id": "c1", "name": "look", "arguments": '{"a":1}'}]}


def test_the_asynchronous_sdk(gate: Gateway) -> None:
    async def talk() -> tuple[str, str]:
        async with openai.AsyncOpenAI(base_url=gate.url, api_key="k", max_retries=0) as client:
            messages: Any = [user("Hi")]
            one = await client.chat.completions.create(model=MODEL, messages=messages)
            stream = await client.chat.completions.create(model=MODEL, messages=messages, stream=True)
            pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
            return one.choices[0].message.content or "", "".join(pieces)

    gate.upstream.say("Hello!", "Hello again!")
    assert asyncio.run(talk()) == ("Hello!", "Hello again!")


def test_models_and_embeddings_are_passed_on(gate: Gateway) -> None:
    client = gate.sdk()
    assert [model.id for model in client.models.list()] == [MODEL]
    assert len(client.embeddings.create(model=MODEL, input="tea").data[0].embedding) == 16
    assert gate.asked[-1].headers["authorization"] == "Bearer sk-theirs"


def test_what_was_answered_is_forgotten_and_ended_with_its_conversation(gate: Gateway) -> None:
    """It is recorded after the answer; whoever has that may ask for either at once."""
    for talk in ("one", "two", "three"):
        post(gate, [user(TEA)], {"X-Recollect-Conversation": talk})
        gone = gate.http.delete(f"{gate.served.url}/api/v1/conversations/{talk}")
        assert gone.json()["counts"]["turn"] == 2
    assert gate.turns() == []
    post(gate, [user(TEA)], {"X-Recollect-Conversation": "four"})
    assert gate.http.post(f"{gate.served.url}/api/v1/conversations/four/end").is_success
    gate.settle()
    talk = gate.ann.get("four")
    assert isinstance(talk, Conversation)
    assert talk.ended_at is not None
