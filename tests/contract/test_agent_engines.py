"""An agent's memory has to come out the same on every engine, two at work in one conversation included."""

import threading
from typing import Any

import pytest

from recollect import Agent, Answer, Memory, ScopedMemory
from recollect.testing.openai_answers import calls
from recollect.testing.openai_server import OpenAIServer

pytest.importorskip("openai")

from recollect.models.chat import ChatModel


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    return request.node.originalname


def add(a: int) -> int:
    """Add one."""
    return a + 1


def chat(body: dict[str, Any]) -> Any:
    """Calls the tool once, then answers with what it said."""
    done = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    return f"It is {done[-1]}." if done else calls(("add", {"a": 1}), text="I add.")


def test_two_agents_in_one_conversation_lose_nothing(memory: Memory, derek: ScopedMemory) -> None:
    answers: list[Answer] = []
    with OpenAIServer(chat=chat) as server:
        model = ChatModel(server.base_url, "a-model")

        def ask(question: str) -> None:
            answers.append(Agent(derek, model, [add]).ask(question, conversation="sums"))

        asked = ["My dog is called Rex. What is 1 + 1?", "My cat is called Tom. What is one and one?"]
        threads = [threading.Thread(target=ask, args=(question,)) for question in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        model.close()
    assert [(a.text, a.problems) for a in answers] == [("It is 2.", ())] * 2
    said = [turn.content for turn in derek.conversation("sums") if turn.role.value == "user"]
    assert sorted(said) == sorted(asked)
    assert len(derek.summaries("sums")) == 2
    assert [stats.calls for stats in derek.tools()] == [2]
    facts = " ".join(getattr(fact, "content", "") for fact in derek.list("fact"))
    assert "Rex" in facts
    assert "Tom" in facts
    derek.forget(conversation="sums")
    assert (derek.list("episode"), derek.summaries("sums"), derek.tools()) == ([], [], [])
