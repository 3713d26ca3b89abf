"""Which conversation a request goes on with whose messages are not all of it, or were answered before."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.testing.openai_server import OpenAIServer
from tests.interface.gateway import Gateway, echoing, gateway

MODEL = "any-model"
WINDOW = 5


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with echoing() as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    settings: dict[str, Any] = {"upstream": upstream.base_url, "upstream_key": "sk-ours"}
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", **settings) as memory,
        gateway(memory, upstream, keyed=True) as found,
    ):
        yield found


@pytest.fixture
def ann(gate: Gateway) -> httpx.Client:
    return gate.of("ann")


def answered(*texts: str) -> list[dict[str, str]]:
    """Exchanges that have been."""
    pairs = [(("user", text), ("assistant", f"You said {text}")) for text in texts]
    return [{"role": role, "content": text} for pair in pairs for role, text in pair]


def say(client: httpx.Client, before: list[dict[str, str]], text: str, **headers: str) -> str:
    """Go on with a text; in which conversation it is."""
    body = {"model": MODEL, "messages": [*before, {"role": "user", "content": text}]}
    sent = {"memory_config": {"retrieval_limit": 0}, **body}
    answer = client.post("/chat/completions", json=sent, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.headers["x-recollect-conversation"]


def talk(client: httpx.Client, *texts: str) -> str:
    """A conversation of which all is sent each time."""
    talks = [say(client, answered(*texts[:place]), text) for place, text in enumerate(texts)]
    assert len(set(talks)) == 1
    return talks[0]


def said(gate: Gateway, conversation: str, user: str = "ann") -> list[str]:
    return [turn.content for turn in gate.raw_turns(user) if turn.conversation == conversation]


def whole(*texts: str) -> list[str]:
    return [message["content"] for message in answered(*texts)]


def test_a_window_that_slides_is_one_conversation(gate: Gateway, ann: httpx.Client) -> None:
    texts = [f"Number {n}" for n in range(8)]
    talks = {say(ann, answered(*texts[:place])[-WINDOW + 1 :], text) for place, text in enumerate(texts)}
    assert len(talks) == 1
    assert said(gate, *talks) == whole(*texts)
    assert len(gate.turns("ann")) == 16


def test_a_window_with_tools_that_slides_is_one_conversation(gate: Gateway, ann: httpx.Client) -> None:
    messages: list[Any] = [{"role": "user", "content": "Count"}]
    talks: set[str] = set()
    for n in range(6):
        body = {"model": MODEL, "messages": messages[-WINDOW:]}
        answer = ann.post("/chat/completions", json=body)
        talks.add(answer.headers["x-recollect-conversation"])
        messages.append(answer.json()["choices"][0]["message"])
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"Result {n}"})
    gate.settle()
    assert len(talks) == 1
    assert said(gate, *talks) == [message["content"] for message in messages[:-1]]


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (["Hi"], "one exchange is not enough"),
        (["Anything new?", "Hi"], "what was before the greeting is another"),
        (["What is up?", "And you?"], "that one has gone on since"),
    ],
)
def test_what_only_sounds_alike_is_another_conversation(
    gate: Gateway, ann: httpx.Client, before: list[str], why: str
) -> None:
    old = talk(ann, "Good day", "What is up?", "And you?", "How are you?", "Hi")
    new = say(ann, answered(*before), "Tell me more")
    assert new != old, why
    assert said(gate, new) == whole(*before, "Tell me more")
    assert len(said(gate, old)) == 10


def test_where_two_conversations_end_alike_neither_goes_on(gate: Gateway, ann: httpx.Client) -> None:
    first, second = talk(ann, "One", "Thanks", "Bye"), talk(ann, "Two", "Thanks", "Bye")
    third = say(ann, answered("Thanks", "Bye"), "One more thing")
    assert len({first, second, third}) == 3
    assert said(gate, third) == whole("Thanks", "Bye", "One more thing")


@pytest.mark.parametrize("headers", [{"X-Recollect-Channel": "work"}, {"X-Recollect-Agent": "helper"}])
def test_a_window_stays_with_its_channel_and_agent(
    gate: Gateway, ann: httpx.Client, headers: dict[str, str]
) -> None:
    old = talk(ann, "One", "Two", "Three")
    new = say(ann, answered("Two", "Three"), "Four", **headers)
    assert said(gate, old) == whole("One", "Two", "Three")
    assert said(gate, new) == whole("Two", "Three", "Four")


def test_a_window_stays_with_its_user(gate: Gateway, ann: httpx.Client) -> None:
    old = talk(ann, "One", "Two", "Three")
    new = say(gate.of("bob"), answered("Two", "Three"), "Four")
    assert said(gate, old) == whole("One", "Two", "Three")
    assert said(gate, new, "bob") == whole("Two", "Three", "Four")


def test_a_window_of_what_was_forgotten_is_said_anew(gate: Gateway, ann: httpx.Client) -> None:
    old = talk(ann, "One", "Two", "Three")
    gate.settle()
    gate.memory.scope("ann").forget(conversation=old)
    new = say(ann, answered("Two", "Three"), "Four")
    assert [text for _, text in gate.turns("ann")] == said(gate, new) == whole("Two", "Three", "Four")


NAMED = {"X-Recollect-Conversation": "mine"}


def test_asking_once_more_in_a_named_conversation_records_the_other_answer(
    gate: Gateway, ann: httpx.Client
) -> None:
    say(ann, [], "One", **NAMED)
    gate.upstream.say("First.", "Second.", "Third.")
    for _ in range(3):
        say(ann, answered("One"), "Two", **NAMED)
    assert said(gate, "mine") == [*whole("One"), "Two", "First.", "Second.", "Third."]
    before = [
        *answered("One"),
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": "Third."},
    ]
    say(ann, before, "Three", **NAMED)
    assert said(gate, "mine")[-2:] == whole("Three")
    assert len(gate.turns("ann")) == 8


def test_what_is_edited_or_said_again_in_a_named_conversation_is_new(
    gate: Gateway, ann: httpx.Client
) -> None:
    say(ann, [], "One", **NAMED)
    say(ann, answered("One"), "Two", **NAMED)
    say(ann, answered("One", "Two"), "Two", **NAMED)  # its answer is sent: it is said twice
    say(ann, answered("One"), "Too", **NAMED)
    say(ann, [], "Too", **NAMED)
    assert said(gate, "mine") == whole("One", "Two", "Two", "Too", "Too")


def test_a_response_asked_for_once_more_goes_with_what_was_asked(gate: Gateway, ann: httpx.Client) -> None:
    one, two = ({"role": "user", "content": text} for text in ("One", "Two"))
    gate.upstream.say("First.", "Second.", "Third.")
    answer = {"role": "assistant", "content": "First."}
    for given in ([one], [one, answer, two], [one, answer, two]):
        ann.post("/responses", json={"model": MODEL, "input": given}, headers=NAMED)
    assert said(gate, "mine") == ["One", "First.", "Two", "Second.", "Third."]
    (asked,) = [turn.id for turn in gate.raw_turns("ann") if turn.content == "Two"]
    gate.memory.scope("ann").forget(asked)
    assert "Two" not in str(gate.responses("ann"))
