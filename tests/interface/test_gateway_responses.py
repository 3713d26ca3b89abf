"""The Responses API through the gateway: chains are kept here, for each user."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from recollect import Memory
from recollect.testing.openai_server import Alter, Feed, OpenAIServer
from recollect.testing.store_samples import ManualClock
from tests.interface.gateway import Gateway, gateway

MODEL = "any-model"
TEA = "I drink green tea with Derek every morning."
ASK = "What do I drink with Derek in the morning?"


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer, clock: ManualClock) -> Iterator[Gateway]:
    settings: dict[str, Any] = {"upstream": upstream.base_url, "upstream_key": "sk-ours"}
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", clock=clock, **settings) as memory,
        gateway(memory, upstream, keyed=True) as found,
    ):
        yield found


def test_a_chain_is_sent_along_and_needs_no_state_upstream(gate: Gateway) -> None:
    gate.upstream.say("Hello!", "Fine.", "Bye.")
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Hi", instructions="Be brief.")
    two = ann.responses.create(model=MODEL, input="How are you?", previous_response_id=one.id)
    three = ann.responses.create(
        model=MODEL, input=[{"role": "user", "content": "See you!"}], previous_response_id=two.id
    )
    assert three.output_text == "Bye."
    sent = gate.asked[-1].body
    assert "previous_response_id" not in sent
    said = [
        item["content"] if item["role"] == "user" else item["content"][0]["text"] for item in sent["input"]
    ]
    assert said == ["Hi", "Hello!", "How are you?", "Fine.", "See you!"]
    assert all("id" not in item for item in sent["input"])
    assert [text for _, text in gate.turns("ann")] == [*said, "Bye."]
    assert len({turn.conversation for turn in gate.raw_turns("ann")}) == 1
    kept = {response.id: response for response in gate.responses("ann")}
    assert kept.keys() == {one.id, two.id, three.id}
    assert kept[three.id].previous == two.id
    assert kept[three.id].input == [{"role": "user", "content": "See you!"}]


def test_a_response_is_got_and_deleted(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Hi")
    two = ann.responses.create(model=MODEL, input="So?", previous_response_id=one.id)
    gate.settle()
    assert ann.responses.retrieve(one.id).output_text == one.output_text
    assert ann.responses.retrieve(two.id).previous_response_id == one.id
    ann.responses.delete(one.id)
    with pytest.raises(openai.NotFoundError):
        ann.responses.retrieve(one.id)
    with pytest.raises(openai.NotFoundError):
        ann.responses.delete(one.id)
    assert len(gate.turns("ann")) == 4, "what was said stays"
    ann.responses.create(model=MODEL, input="And?", previous_response_id=two.id)
    assert gate.asked[-1].body["input"][0] == {"role": "user", "content": "So?"}


def test_somebody_elses_response_is_not_there(gate: Gateway) -> None:
    theirs = gate.sdk_of("ann").responses.create(model=MODEL, input="Hi")
    gate.settle()
    bob, seen = gate.sdk_of("bob"), len(gate.asked)
    refused: list[Any] = []
    for id in (theirs.id, "resp_missing"):
        with pytest.raises(openai.NotFoundError) as error:
            bob.responses.create(model=MODEL, input="Go on", previous_response_id=id)
        refused.append(json.loads(error.value.response.text.replace(id, "ID")))
        with pytest.raises(openai.NotFoundError):
            bob.responses.retrieve(id)
        with pytest.raises(openai.NotFoundError):
            bob.responses.delete(id)
    assert refused[0] == refused[1]
    assert refused[0]["error"]["code"] == "previous_response_not_found"
    assert len(gate.asked) == seen
    assert gate.turns("bob") == []
    assert gate.responses("ann")


def test_what_was_said_is_recorded_though_nobody_can_go_on_from_it(gate: Gateway) -> None:
    gate.upstream.script(Alter(lambda body: {**body, "id": "r" * 1000}))
    gate.of("ann").post("/responses", json={"model": MODEL, "input": ASK})
    assert [role for role, _ in gate.turns("ann")] == ["user", "assistant"]
    assert gate.responses("ann") == []


def test_streaming(gate: Gateway) -> None:
    gate.upstream.say("Green tea it is.", "Yes.")
    ann = gate.sdk_of("ann")
    with ann.responses.stream(model=MODEL, input=ASK) as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        last = stream.get_final_response()
    assert "".join(pieces) == last.output_text == "Green tea it is."
    ann.responses.create(model=MODEL, input="Sure?", previous_response_id=last.id)
    assert [text for _, text in gate.turns("ann")] == [ASK, "Green tea it is.", "Sure?", "Yes."]


def test_memories_go_into_the_instructions_and_are_not_kept_with_the_response(gate: Gateway) -> None:
    gate.memory.scope("ann").record("user", TEA)
    raw = gate.sdk_of("ann").responses.with_raw_response
    for instructions in ("Be brief.", None):
        more: dict[str, Any] = {} if instructions is None else {"instructions": instructions}
        answer = raw.create(model=MODEL, input=ASK, **more)
        assert answer.headers["x-recollect-injected"]
        sent = gate.asked[-1].body["instructions"]
        assert "green tea" in sent
        assert sent.startswith(f"{instructions}\n\n" if instructions else "<memory_context>")
        (kept,) = [one for one in gate.responses("ann") if one.id == answer.parse().id]
        assert kept.body["instructions"] == instructions
        assert "green tea" not in repr(kept)


@pytest.mark.parametrize(("config", "turns"), [({}, 0), ({"memory_config": {"auto_store": True}}, 2)])
def test_nothing_is_stored_of_what_is_not_to_be(gate: Gateway, config: Any, turns: int) -> None:
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Hi", store=False, extra_body=config)
    assert gate.responses("ann") == []
    assert len(gate.turns("ann")) == turns
    assert gate.asked[-1].body["store"] is False
    with pytest.raises(openai.NotFoundError):
        ann.responses.create(model=MODEL, input="So?", previous_response_id=one.id)


def test_tools(gate: Gateway) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": "{}"}
    hidden = {"type": "reasoning", "id": "rs_1", "summary": []}
    gate.upstream.script(Alter(lambda body: body | {"output": [hidden, call]}))
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Weather?")
    gate.upstream.say("Sunny.")
    result: Any = {"type": "function_call_output", "call_id": "c1", "output": "sun"}
    ann.responses.create(model=MODEL, input=[result], previous_response_id=one.id)
    bare = {name: value for name, value in call.items() if name != "id"}
    assert gate.asked[-1].body["input"] == [{"role": "user", "content": "Weather?"}, bare, result]
    assert gate.turns("ann") == [
        *(("user", "Weather?"), ("assistant", ""), ("tool", "sun"), ("assistant", "Sunny.")),
    ]
    assert gate.raw_turns("ann")[1].metadata["tool_calls"][0]["name"] == "weather"


def test_items_nobody_knows_can_be_gone_on_from(gate: Gateway) -> None:
    approval = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}"}
    gate.upstream.script(Alter(lambda body: body | {"output": [approval]}))
    first = gate.of("ann").post("/responses", json={"model": MODEL, "input": "Do it"})
    reply: Any = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input=[reply], previous_response_id=first.json()["id"])
    assert gate.asked[-1].body["input"][1:] == [approval, reply]
    assert len({turn.conversation for turn in gate.raw_turns("ann")}) == 1


def test_going_on_twice_from_one_response_branches_off(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Hi")
    ann.responses.create(model=MODEL, input="Left?", previous_response_id=one.id)
    ann.responses.create(model=MODEL, input="Right?", previous_response_id=one.id)
    said = [text for role, text in gate.turns("ann") if role == "user"]
    assert sorted(said) == ["Hi", "Left?", "Right?"]
    assert len({turn.conversation for turn in gate.raw_turns("ann")}) == 2


def test_a_stream_that_breaks_off_is_recorded_and_cannot_be_gone_on_from(gate: Gateway) -> None:
    from recollect.testing.openai_answers import response_events

    whole = response_events({"model": MODEL}, "one two three four")
    part = whole[: whole.index(b" three")]
    gate.upstream.script(Feed([part], end="broken"))
    with pytest.raises(openai.APIConnectionError):
        list(gate.sdk_of("ann").responses.create(model=MODEL, input="Count", stream=True))
    assert gate.turns("ann") == [("user", "Count"), ("assistant", "one two")]
    assert gate.raw_turns("ann")[1].metadata == {"partial": True}
    assert gate.responses("ann") == []


def test_a_response_goes_with_any_of_its_turns(gate: Gateway) -> None:
    ann = gate.sdk_of("ann")
    one = ann.responses.create(model=MODEL, input="Hi")
    two = ann.responses.create(model=MODEL, input="So?", previous_response_id=one.id)
    (_, answer, *_) = gate.raw_turns("ann")
    assert gate.memory.scope("ann").forget(answer.id).counts == {"turn": 1, "response": 1}
    assert [kept.id for kept in gate.responses("ann")] == [two.id]
    ann.responses.create(model=MODEL, input="And?", previous_response_id=two.id)
    assert gate.asked[-1].body["input"][0] == {"role": "user", "content": "So?"}
    assert "Hi" in str(gate.turns("ann"))
    (talk,) = {turn.conversation for turn in gate.raw_turns("ann")}
    gate.memory.scope("ann").forget(conversation=talk)
    assert (gate.responses("ann"), gate.turns("ann")) == ([], [])


def test_responses_are_kept_for_so_long(gate: Gateway, clock: ManualClock) -> None:
    ann = gate.sdk_of("ann")
    ann.responses.create(model=MODEL, input="Hi")
    gate.settle()
    clock.advance(days=29)
    gate.memory.tend()
    assert gate.responses("ann")
    clock.advance(days=2)
    gate.memory.tend()
    assert gate.responses("ann") == []
    assert len(gate.turns("ann")) == 2
