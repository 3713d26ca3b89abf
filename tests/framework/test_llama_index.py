"""LlamaIndex: the memory block in its own `Memory`, chat engines and agents."""

import asyncio
import gc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole, TextBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ChatMemory

from recollect import Client, Invalid, Memory, ScopedMemory
from recollect.integrations.llama_index import RecollectMemoryBlock
from tests.framework.running import run_example
from tests.interface.serving import served
from tests.unit.support import OpenMemory, SwitchedEmbedder

pytestmark = [
    pytest.mark.framework,
    # LlamaIndex never closes the connection of its own chat history.
    pytest.mark.filterwarnings("ignore:.*aiosqlite.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*aiosqlite.*:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def unclosed() -> Iterator[None]:
    """What is left of it is collected here, unheard, and not in the middle of a test of something else."""
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*aiosqlite.*", ResourceWarning)
        gc.collect()


REX = "My dog Rex is allergic to chicken."
ASKED = "What is Rex allergic to?"


def user(text: str, **more: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text, **more)


def answered(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def put(block: RecollectMemoryBlock, *messages: ChatMessage, session: str | None = "s") -> None:
    asyncio.run(block.aput(list(messages), from_short_term_memory=True, session_id=session))


def got(block: RecollectMemoryBlock, *messages: ChatMessage) -> str:
    return asyncio.run(block.aget(list(messages), session_id="s"))


@pytest.fixture
def block(derek: ScopedMemory) -> RecollectMemoryBlock:
    return RecollectMemoryBlock(memory=derek)


def test_what_leaves_the_history_is_recorded_word_for_word(
    block: RecollectMemoryBlock, derek: ScopedMemory
) -> None:
    odd = "ß🐢 \x00 '\"<memory>"
    put(
        block,
        ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
        user(REX),
        ChatMessage(role=MessageRole.ASSISTANT, content=None, additional_kwargs={"tool_calls": []}),
        ChatMessage(role=MessageRole.TOOL, content="42"),
        ChatMessage(role=MessageRole.ASSISTANT, blocks=[TextBlock(text="Poor "), TextBlock(text=odd)]),
    )
    said = [(turn.role.value, turn.content) for turn in derek.conversation("s")]
    assert said[:3] == [("system", "Be brief."), ("user", REX), ("tool", "42")]
    assert said[3][0] == "assistant"
    assert said[3][1].endswith(odd)


def test_what_bears_on_the_question_comes_back(block: RecollectMemoryBlock) -> None:
    put(block, user(REX), answered("Poor Rex!"))
    found = got(block, user("Hello"), answered("Hi"), user(ASKED))
    assert found.startswith("<memory_context>")
    assert REX in found
    assert got(block) == ""
    assert got(block, answered("Hi")) == ""


def test_what_the_model_has_in_front_of_it_is_not_repeated(block: RecollectMemoryBlock) -> None:
    put(block, user(REX))
    assert REX not in got(block, user(REX), answered("Poor Rex!"), user(ASKED))


def test_the_scope_may_name_the_conversation(memory: Memory) -> None:
    own = RecollectMemoryBlock(memory=memory.scope("derek", conversation="mine"))
    put(own, user(REX))
    put(RecollectMemoryBlock(memory=memory.scope("derek")), user("Hello there"), session=None)
    names = {talk.id for talk in memory.scope("derek").conversations()}
    assert "mine" in names
    assert len(names) == 2


def test_users_are_apart_and_a_restart_changes_nothing(open_memory: OpenMemory) -> None:
    first = open_memory()
    put(RecollectMemoryBlock(memory=first.scope("derek")), user(REX))
    first.close()
    again = open_memory()
    assert REX in got(RecollectMemoryBlock(memory=again.scope("derek")), user(ASKED))
    assert got(RecollectMemoryBlock(memory=again.scope("ana")), user(ASKED)) == ""


def test_what_was_forgotten_does_not_come_back(block: RecollectMemoryBlock, derek: ScopedMemory) -> None:
    put(block, user(REX))
    derek.forget(conversation="s")
    assert got(block, user(ASKED)) == ""


def test_nothing_is_recorded_for_whom_memory_is_off(block: RecollectMemoryBlock, derek: ScopedMemory) -> None:
    derek.update_settings(enabled=False)
    put(block, user(REX))
    assert "turn" not in derek.counts()
    assert got(block, user(ASKED)) == ""


def test_long_messages_and_questions(block: RecollectMemoryBlock, derek: ScopedMemory) -> None:
    long = "ß🐢 " * 60_000
    put(block, user(long), user(REX))
    *pieces, last = [turn.content for turn in derek.conversation("s")]
    assert "".join(pieces) == long
    assert last == REX
    assert REX in got(block, user("x " * 200_000 + ASKED))


def test_an_agent_goes_on_without_its_memory(block: RecollectMemoryBlock, embedder: SwitchedEmbedder) -> None:
    embedder.down = True
    put(block, user(REX))
    assert REX in got(block, user(ASKED))  # by words
    with Client("http://127.0.0.1:9", "key", sleep=lambda seconds: None) as client:
        away = RecollectMemoryBlock(memory=client.scope("derek"))
        put(away, user(REX))
        assert got(away, user(ASKED)) == ""


def test_a_memory_that_hangs_is_not_waited_for(derek: ScopedMemory) -> None:
    import threading

    release = threading.Event()

    class Slow:
        scope = derek.scope

        def recall(self, query: str, **how: Any) -> None:
            release.wait(30)

    async def ask() -> str:
        try:
            return await RecollectMemoryBlock(memory=Slow(), patience=0.05).aget([user(ASKED)])
        finally:
            release.set()

    assert asyncio.run(ask()) == ""


def test_a_wrong_setting_is_told(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid):
        got(RecollectMemoryBlock(memory=derek, how={"kinds": ["nonsense"]}), user(ASKED))


def test_it_is_cut_from_the_end(block: RecollectMemoryBlock) -> None:
    put(block, *(user(f"Rex likes ball number {number} a lot.") for number in range(8)))
    whole = got(block, user("Which ball does Rex like?"))
    lines = whole.splitlines()
    shorter = asyncio.run(block.atruncate(whole, 40)) or ""
    cut = shorter.splitlines()
    assert cut[-1] == lines[-1]
    assert cut[:-1] == lines[: len(cut) - 1]
    assert len(whole) - len(shorter) >= 160
    assert asyncio.run(block.atruncate(whole, 10_000)) is None


def chat_memory(scope: Any, **more: Any) -> ChatMemory:
    """One that keeps little in front of the model."""
    given = {
        "session_id": "s",
        "token_limit": 400,
        "chat_history_token_ratio": 0.05,
        "token_flush_size": 10,
        **more,
    }
    return ChatMemory.from_defaults(memory_blocks=[RecollectMemoryBlock(memory=scope)], **given)


def test_in_the_memory_of_llama_index(derek: ScopedMemory) -> None:
    async def use() -> list[ChatMessage]:
        chat = chat_memory(derek)
        for number in range(3):
            await chat.aput_messages([user(f"{REX} And ball number {number} is his."), answered("I see.")])
        await chat.aput(user(ASKED))
        return await chat.aget()

    system, *rest = asyncio.run(use())
    assert system.role is MessageRole.SYSTEM
    assert "<long_term_memory>" in (system.content or "")
    assert "chicken" in (system.content or "")
    assert rest[-1].content == ASKED
    assert len(derek.conversation("s")) >= 2


def test_two_sessions_at_once(memory: Memory) -> None:
    async def talk(name: str) -> None:
        chat = chat_memory(memory.scope(name), session_id=f"of {name}")
        for number in range(4):
            await chat.aput_messages([user(f"I am {name} and like number {number}."), answered("I see.")])

    async def both() -> None:
        await asyncio.gather(talk("derek"), talk("ana"))

    asyncio.run(both())
    for name, other in (("derek", "ana"), ("ana", "derek")):
        said = [turn.content for turn in memory.scope(name).conversation(f"of {name}")]
        assert said
        assert not any(other in content for content in said)


class Scripted(MockFunctionCallingLLM):
    """Says whether it was told of chicken."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted", is_function_calling_model=True)

    async def achat_with_tools(self, tools: Any, *args: Any, **kwargs: Any) -> ChatResponse:
        messages = kwargs.get("chat_history") or []
        told = any("chicken" in (message.content or "") for message in messages)
        return ChatResponse(message=answered("Chicken." if told else "I do not know."))


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # of its own agents
def test_an_agent_with_it(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", REX, conversation="earlier")

    async def ask(name: str) -> str:
        agent = FunctionAgent(tools=[], llm=Scripted(), streaming=False)
        chat = ChatMemory.from_defaults(memory_blocks=[RecollectMemoryBlock(memory=memory.scope(name))])
        return str(await agent.run(ASKED, memory=chat))

    assert asyncio.run(ask("derek")) == "Chicken."
    assert asyncio.run(ask("ana")) == "I do not know."


def test_behind_a_server(memory: Memory) -> None:
    with served(memory) as server, Client(server.url, server.issue(owner="derek").key) as client:
        block = RecollectMemoryBlock(memory=client.scope("derek"))
        put(block, user(REX))
        assert REX in got(block, user(ASKED))


def test_the_memory_of_all_is_refused_at_once(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "all.db", embedder="none")
    with memory, pytest.raises(ValueError, match="one user's memory"):
        RecollectMemoryBlock(memory=memory)


def test_the_example_runs(tmp_path: Path) -> None:
    assert run_example("llama_index_memory.py", tmp_path)[-4:] == [
        "derek: What is Rex allergic to?",
        "agent: Chicken.",
        "ana: What is Rex allergic to?",
        "agent: Who is Rex?",
    ]
