"""LangChain: messages come back as they were, and what is remembered is retrieved as documents."""

import asyncio
import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from recollect import Client, Invalid, Memory, ScopedMemory, StoreUnavailable
from recollect.integrations.langchain import RecollectChatMessageHistory, RecollectRetriever
from recollect.testing.store_samples import ManualClock
from tests.framework.running import run_example
from tests.interface.serving import served
from tests.unit.support import OpenMemory, SwitchedEmbedder

pytestmark = pytest.mark.framework

MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief.", id="s1"),
    HumanMessage("What is the weather in Lyon? ☔", name="Derek", id="h1"),
    AIMessage(
        "",
        id="a1",
        tool_calls=[{"name": "weather", "args": {"city": "Lyon", "days": [1, 2]}, "id": "call-1"}],
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        response_metadata={"model_name": "scripted"},
    ),
    ToolMessage("Rain", tool_call_id="call-1", artifact={"mm": 3.5}, status="success"),
    AIMessage("Rain.", additional_kwargs={"reasoning": "it says so"}),
    HumanMessage(
        [{"type": "text", "text": "And here?"}, {"type": "image_url", "image_url": {"url": "http://x"}}]
    ),
    AIMessage([{"type": "text", "text": "Sun, "}, {"type": "text", "text": "mostly."}]),
    AIMessage("", invalid_tool_calls=[{"name": "x", "args": "{", "id": "y", "error": "no JSON"}]),
    ChatMessage(content="hm", role="critic"),
    FunctionMessage(content="42", name="count"),
    AIMessageChunk(content="half an ans"),
    HumanMessage("\x00 \ud800 '\"\\ ß"),
    HumanMessage(""),
]


@pytest.fixture
def history(memory: Memory) -> RecollectChatMessageHistory:
    return RecollectChatMessageHistory(memory.scope("derek", conversation="c"))


def test_messages_come_back_as_they_were(history: RecollectChatMessageHistory) -> None:
    history.add_messages(MESSAGES[:6])
    history.add_messages(MESSAGES[6:])
    assert history.messages == MESSAGES
    assert [type(message) for message in history.messages] == [type(message) for message in MESSAGES]


def test_large_messages_come_back_as_they_were(history: RecollectChatMessageHistory) -> None:
    image = base64.b64encode(bytes(range(256)) * 2000).decode()
    large: list[BaseMessage] = [
        HumanMessage(
            [{"type": "text", "text": "Look"}, {"type": "image", "base64": image, "mime_type": "image/png"}]
        ),
        HumanMessage("ß🐢 " * 500_000),
        AIMessage("ok", tool_calls=[{"name": "t", "args": {"text": "x" * 300_000}, "id": "1"}]),
        HumanMessage("short"),
    ]
    history.add_messages(large)
    assert history.messages == large


def test_it_survives_a_restart(open_memory: OpenMemory) -> None:
    first = open_memory()
    RecollectChatMessageHistory(first.scope("derek", conversation="c")).add_messages(MESSAGES)
    first.close()
    assert RecollectChatMessageHistory(open_memory().scope("derek", conversation="c")).messages == MESSAGES


def test_conversations_and_users_are_apart(memory: Memory, history: RecollectChatMessageHistory) -> None:
    history.add_user_message("mine")
    other = RecollectChatMessageHistory(memory.scope("ana", conversation="c"))
    second = RecollectChatMessageHistory(memory.scope("derek", conversation="d"))
    assert (other.messages, second.messages) == ([], [])
    other.add_ai_message("hers")
    other.clear()
    assert [message.text for message in history.messages] == ["mine"]


def test_clearing_erases(memory: Memory, history: RecollectChatMessageHistory, clock: ManualClock) -> None:
    history.add_messages([HumanMessage("I live in Lyon."), AIMessage("Lovely.")])
    clock.advance(days=1)
    memory.tend()
    derek = memory.scope("derek")
    assert derek.recall("Where do I live?").hits
    history.clear()
    assert history.messages == []
    assert derek.recall("Where do I live?").hits == ()
    history.clear()
    history.add_user_message("again")
    assert [message.text for message in history.messages] == ["again"]


def test_what_was_said_is_recalled_and_mined(
    memory: Memory, history: RecollectChatMessageHistory, clock: ManualClock
) -> None:
    history.add_messages([HumanMessage("I live in Lyon."), AIMessage("Noted.")])
    clock.advance(days=1)
    memory.tend()
    (fact,) = memory.scope("derek").list("fact")
    assert "Lyon" in getattr(fact, "content", "")


def test_what_was_recorded_otherwise_is_read_too(
    memory: Memory, history: RecollectChatMessageHistory
) -> None:
    scope = memory.scope("derek", conversation="c")
    for role in ("user", "assistant", "system", "tool"):
        scope.record(role, f"by {role}")
    scope.remember("a note")
    assert [(m.type, m.text) for m in history.messages] == [
        ("human", "by user"),
        ("ai", "by assistant"),
        ("system", "by system"),
        ("human", "by tool"),
    ]


def test_a_history_needs_a_conversation(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid, match="conversation"):
        RecollectChatMessageHistory(derek)


def test_messages_of_many_at_once_are_all_there(memory: Memory) -> None:
    def say(number: int) -> None:
        own = RecollectChatMessageHistory(memory.scope("derek", conversation="c"))
        for round in range(5):
            own.add_messages([HumanMessage(f"q{number}-{round}"), AIMessage(f"a{number}-{round}")])

    threads = [threading.Thread(target=say, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [m.text for m in RecollectChatMessageHistory(memory.scope("derek", conversation="c")).messages]
    assert len(texts) == 40
    assert all(answer == "a" + question[1:] for question, answer in zip(texts[::2], texts[1::2], strict=True))


def test_asyncio(history: RecollectChatMessageHistory) -> None:
    async def use() -> None:
        await history.aadd_messages(MESSAGES)
        assert await history.aget_messages() == MESSAGES
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(use())


def test_behind_a_server(memory: Memory) -> None:
    with served(memory) as server, Client(server.url, server.issue(owner="derek").key) as client:
        history = RecollectChatMessageHistory(client.scope("derek", conversation="c"))
        history.add_messages([*MESSAGES, HumanMessage("My dog Rex is allergic to chicken.")])
        assert history.messages[:-1] == MESSAGES
        found = RecollectRetriever(memory=client.scope("derek")).invoke("What is Rex allergic to?")
        assert "chicken" in found[0].page_content


@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")
@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainPendingDeprecationWarning")
def test_in_a_chain_with_a_message_history(memory: Memory) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("Hello Derek."), AIMessage("You are Derek.")]))
    seen: list[int] = []
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{said}")])
    counted = RunnableLambda(lambda value: (seen.append(len(value.to_messages())), value)[1])  # type: ignore[union-attr]
    chain: Any = RunnableWithMessageHistory(
        prompt | counted | model,
        lambda session_id: RecollectChatMessageHistory(memory.scope("derek", conversation=session_id)),
        input_messages_key="said",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "monday"}}
    chain.invoke({"said": "I am Derek."}, config)
    chain.invoke({"said": "Who am I?"}, config)
    history = RecollectChatMessageHistory(memory.scope("derek", conversation="monday"))
    assert [m.text for m in history.messages] == [
        "I am Derek.",
        "Hello Derek.",
        "Who am I?",
        "You are Derek.",
    ]
    assert seen == [1, 3]


@pytest.fixture
def told(derek: ScopedMemory) -> ScopedMemory:
    derek.record("user", "My dog Rex is allergic to chicken.", conversation="monday")
    derek.remember("Derek lives in Lyon", about=["Derek"])
    return derek


def test_documents(told: ScopedMemory) -> None:
    turn, *_ = RecollectRetriever(memory=told).invoke("What is Rex allergic to?")
    stored = told.get(turn.id or "")
    assert turn.page_content == getattr(stored, "content", "")
    assert turn.metadata["score"] > 0
    assert (turn.metadata["kind"], turn.metadata["role"], turn.metadata["conversation"]) == (
        "turn",
        "user",
        "monday",
    )
    fact, *_ = RecollectRetriever(memory=told, how={"kinds": ["fact"]}).invoke("Where does Derek live?")
    assert fact.metadata["sources"] == list(told.list("fact")[0].sources)  # type: ignore[attr-defined]
    assert json.loads(json.dumps(fact.metadata)) == fact.metadata


def test_documents_in_asyncio(told: ScopedMemory) -> None:
    retriever = RecollectRetriever(memory=told, top_k=1)
    found = asyncio.run(retriever.abatch(["What is Rex allergic to?", "Where does Derek live?"]))
    assert ["chicken" in found[0][0].page_content, "Lyon" in found[1][0].page_content] == [True, True]


def test_the_retriever_sees_one_user(memory: Memory, told: ScopedMemory) -> None:
    assert RecollectRetriever(memory=memory.scope("ana")).invoke("What is Rex allergic to?") == []


def test_what_was_forgotten_is_not_retrieved(told: ScopedMemory) -> None:
    told.forget(conversation="monday")
    found = RecollectRetriever(memory=told).invoke("What is Rex allergic to?")
    assert not any("Rex" in document.page_content for document in found)


@pytest.mark.parametrize("query", ["", "\x00\ud800", "🐢" * 200_000, "Hello!"])
def test_odd_queries_give_documents_or_none(told: ScopedMemory, query: str) -> None:
    assert isinstance(RecollectRetriever(memory=told).invoke(query), list)


def test_a_memory_that_is_down_gives_no_documents(
    memory: Memory, told: ScopedMemory, embedder: SwitchedEmbedder
) -> None:
    embedder.down = True
    assert "chicken" in RecollectRetriever(memory=told).invoke("What is Rex allergic to?")[0].page_content
    with Client("http://127.0.0.1:9", "key", sleep=lambda seconds: None) as client:
        assert RecollectRetriever(memory=client.scope("derek")).invoke("What is Rex allergic to?") == []
        with pytest.raises(StoreUnavailable):  # what was said is not lost in silence
            RecollectChatMessageHistory(client.scope("derek", conversation="c")).add_user_message("hello")


def test_a_wrong_setting_is_told(told: ScopedMemory) -> None:
    with pytest.raises(Invalid):
        RecollectRetriever(memory=told, how={"kinds": ["nonsense"]}).invoke("What is Rex allergic to?")


def test_the_memory_of_all_is_refused_at_once(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "all.db", embedder="none")
    with memory, pytest.raises(ValueError, match="one user's memory"):
        RecollectRetriever(memory=memory)


def test_the_example_runs(tmp_path: Path) -> None:
    lines = run_example("langchain_memory.py", tmp_path)
    assert lines == [
        "derek: My dog Rex is allergic to chicken.",
        "  retrieved: nothing",
        "agent: Poor Rex!",
        "derek: What is Rex allergic to?",
        "  retrieved: My dog Rex is allergic to chicken.",
        "agent: Chicken.",
        "ana: What is Rex allergic to?",
        "  retrieved: nothing",
        "agent: I do not know Rex.",
        "messages in derek's Monday: ['human', 'ai']",
    ]
