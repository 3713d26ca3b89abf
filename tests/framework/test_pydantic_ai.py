"""Pydantic AI: its own agents, with its own models for tests."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from recollect import Invalid, Memory
from tests.framework.memories import FORMS, opened, run_example

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from recollect.integrations.pydantic_ai import INSTRUCTIONS, MemoryHistory, memory_toolset

pytestmark = pytest.mark.framework

SYSTEM = (SystemPromptPart, UserPromptPart)
Policy = Callable[[list[ModelMessage]], ModelResponse]


class Asked:
    """A model that answers as the policy says, and keeps what it was asked."""

    def __init__(self, policy: Policy | str = "Fine.") -> None:
        self.policy = policy
        self.requests: list[list[ModelMessage]] = []
        self.infos: list[AgentInfo] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append(messages)
        self.infos.append(info)
        return (
            ModelResponse([TextPart(self.policy)]) if isinstance(self.policy, str) else self.policy(messages)
        )

    def shown(self) -> list[str]:
        """What stood in each request as the system's word; after the first message some models get it as the
        user's, marked so."""
        told = [
            [part for message in messages for part in message.parts if isinstance(part, SYSTEM)]
            for messages in self.requests
        ]
        spoken = [[str(part.content) for part in parts if _is_the_systems(part)] for parts in told]
        return ["".join(texts) for texts in spoken]


def _is_the_systems(part: SystemPromptPart | UserPromptPart) -> bool:
    return isinstance(part, SystemPromptPart) or str(part.content).startswith("<system>")


def calls(name: str, **arguments: Any) -> Policy:
    """Calls a tool, then says what it answered."""

    def policy(messages: list[ModelMessage]) -> ModelResponse:
        last = messages[-1].parts[-1]
        if last.part_kind == "tool-return":
            return ModelResponse([TextPart(str(last.content))])
        return ModelResponse([ToolCallPart(name, arguments)])

    return policy


def agent_of(memory: Any, model: Asked, **more: Any) -> Agent[str, str]:
    """An agent for many users, who are its dependency."""

    def scope(ctx: Any) -> Any:
        return memory.scope(user=ctx.deps)

    return Agent(
        FunctionModel(model),
        deps_type=str,
        toolsets=[memory_toolset(scope)],
        capabilities=[MemoryHistory(scope, **more)],
    )


def ran(agent: Agent[Any, Any], prompt: Any, **more: Any) -> Any:
    """A run; in a loop that is closed, which `run_sync` leaves open."""
    return asyncio.run(agent.run(prompt, **more))


@pytest.fixture(params=FORMS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with opened(request.param, tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        yield memory


def said(memory: Memory, conversation: str = "c1", user: str = "anna") -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in memory.scope(user=user).conversation(conversation)]


def test_what_one_user_said_is_shown_to_them_in_another_conversation(memory: Any) -> None:
    async def scenario() -> None:
        model = Asked()
        agent = agent_of(memory, model)
        await agent.run("My locker number is walrus-1882.", deps="anna", conversation_id="c1")
        result = await agent.run("What is my locker number?", deps="anna", conversation_id="c2")
        await agent.run("What is my locker number?", deps="ben", conversation_id="c2")
        assert ["walrus-1882" in shown for shown in model.shown()] == [False, True, False]
        assert "walrus-1882" not in str(result.all_messages())  # what was shown is no part of the run
        kinds = [part.part_kind for part in model.requests[1][-1].parts]
        assert kinds == ["system-prompt", "user-prompt"]

    asyncio.run(scenario())


def test_a_history_that_is_sent_again_is_recorded_once(here: Memory) -> None:
    model = Asked()
    agent = agent_of(here, model)
    first = ran(agent, "One.", deps="anna", conversation_id="c1")
    history = first.all_messages()
    ran(agent, "Two.", deps="anna", message_history=history)  # which names its conversation
    expected = [("user", "One."), ("assistant", "Fine."), ("user", "Two."), ("assistant", "Fine.")]
    assert said(here) == expected
    turn = here.scope(user="anna").conversation("c1")[1]
    assert turn.model == "function:Asked:"
    assert turn.metadata["run"]


def test_the_conversation_that_goes_on_is_not_recalled(here: Memory) -> None:
    model = Asked()
    agent = agent_of(here, model)
    for _ in range(2):
        ran(agent, "My locker number is walrus-1882, isn't it?", deps="anna", conversation_id="c1")
    assert model.shown() == ["", ""]


def test_an_agent_remembers_and_recalls(memory: Any) -> None:
    async def scenario() -> None:
        saving = Asked(calls("remember", content="The deploy key is rotated on Mondays."))
        assert "saved" in (await agent_of(memory, saving).run("Note it.", deps="anna")).output
        assert INSTRUCTIONS in str(saving.infos[0].instructions)
        loading = agent_of(memory, Asked(calls("recall", query="When is the deploy key rotated?")))
        assert "Mondays" in (await loading.run("Look.", deps="anna")).output
        assert "Mondays" not in (await loading.run("Look.", deps="ben")).output

    asyncio.run(scenario())


def test_memory_is_asked_once_a_run_and_does_not_hear_itself(here: Memory) -> None:
    scope = here.scope(user="anna")
    scope.remember("The safe opens with 4711.")
    model = Asked(calls("recall", query="safe"))
    agent = agent_of(here, model)
    ran(agent, "How does the safe open?", deps="anna", conversation_id="c1")
    assert ["4711" in shown for shown in model.shown()] == [True, True]
    assert [role for role, _ in said(here)] == ["user", "assistant"]


def test_as_a_history_processor_it_shows_memory_once(here: Memory) -> None:
    scope = here.scope(user="anna")
    scope.remember("The safe opens with 4711.")
    model = Asked(calls("recall", query="safe"))
    agent = Agent(
        FunctionModel(model),
        toolsets=[memory_toolset(scope)],
        capabilities=[ProcessHistory(MemoryHistory(scope).process)],
    )
    history = ran(agent, "How does the safe open?").all_messages()
    ran(agent, "And how does the safe close?", message_history=history)
    assert [shown.count("<memory_context") for shown in model.shown()] == [1, 1, 1, 1]
    assert not scope.list("turn", role="user")


def test_what_tools_say_and_what_is_answered_by_a_tool_is_recorded(here: Memory) -> None:
    class City(BaseModel):
        name: str

    agent = Agent(
        TestModel(call_tools=["weather"], custom_output_args={"name": "Zürich"}),
        output_type=City,
        capabilities=[MemoryHistory(here.scope(user="anna"))],
    )

    @agent.tool_plain
    def weather() -> dict[str, str]:
        return {"sky": "clear"}

    ran(agent, ["Where?", ImageUrl("https://example.com/a.png"), "Say it."], conversation_id="c1")
    assert said(here) == [
        ("user", "Where?\nSay it."),
        ("tool", '{"sky":"clear"}'),
        ("assistant", '{"name":"Zürich"}'),
    ]


def test_what_is_streamed_is_recorded(here: Memory) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for word in ("All ", "is ", "well."):
            yield word

    agent = Agent(
        FunctionModel(stream_function=stream), capabilities=[MemoryHistory(here.scope(user="anna"))]
    )

    async def scenario() -> None:
        async with agent.run_stream("How is it?", conversation_id="c1") as result:
            assert [part async for part in result.stream_text(delta=True)]

    asyncio.run(scenario())
    assert said(here) == [("user", "How is it?"), ("assistant", "All is well.")]


def test_what_was_said_in_a_run_that_failed_is_recorded(here: Memory) -> None:
    def fails(messages: list[ModelMessage]) -> ModelResponse:
        raise RuntimeError("the model is gone")

    with pytest.raises(RuntimeError, match="the model is gone"):
        ran(agent_of(here, Asked(fails)), "Are you there?", deps="anna", conversation_id="c1")
    assert said(here) == [("user", "Are you there?")]


def test_an_agent_goes_on_when_its_memory_fails(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory.db", embedder="hashing")
    memory.close()
    for policy, expected in [
        (calls("remember", content="It."), "cannot be reached"),
        (calls("recall", query="It?"), "problems"),
    ]:
        assert expected in ran(agent_of(memory, Asked(policy)), "Do it.", deps="anna").output
    assert ran(agent_of(memory, Asked()), "Do it.", deps="\x1b").output == "Fine."  # nobody can be called so


def test_an_agent_does_not_wait_for_a_memory_that_hangs(here: Memory) -> None:
    agent = agent_of(here, Asked(), patience=0.0)
    assert ran(agent, "Are you there?", deps="anna").output == "Fine."


def test_many_runs_at_once(memory: Any) -> None:
    async def scenario() -> list[Any]:
        agent = agent_of(memory, Asked())
        users = [f"user{number % 4}" for number in range(16)]
        runs = [agent.run(f"I am {user}, {n}.", deps=user) for n, user in enumerate(users)]
        results = await asyncio.gather(*runs)
        assert [result.output for result in results] == ["Fine."] * 16
        counts = [memory.scope(user=f"user{number}").counts() for number in range(4)]
        return [await count if asyncio.iscoroutine(count) else count for count in counts]

    assert [count["turn"] for count in asyncio.run(scenario())] == [8] * 4


@pytest.mark.parametrize("text", ["\x00\u202e \U0001f9ff 東京", "ü" * 1_200_000])
def test_any_text_is_recorded_whole(here: Memory, text: str) -> None:
    ran(agent_of(here, Asked()), text, deps="anna", conversation_id="c1")
    assert "".join(content for role, content in said(here) if role == "user") == text


def test_what_was_forgotten_is_not_shown(here: Memory) -> None:
    model = Asked()
    agent = agent_of(here, model)
    ran(agent, "My locker number is walrus-1882.", deps="anna", conversation_id="c1")
    here.scope(user="anna").forget(conversation="c1")
    ran(agent, "What is my locker number?", deps="anna", conversation_id="c2")
    assert model.shown() == ["", ""]


def test_a_history_without_a_question_is_left_alone(here: Memory) -> None:
    history = [ModelRequest(parts=[SystemPromptPart("Be kind.")])]
    agent = agent_of(here, model := Asked())
    ran(agent, None, message_history=history, deps="anna", conversation_id="c1")
    assert model.shown() == ["Be kind."]
    assert said(here) == [("assistant", "Fine.")]


def test_nothing_is_recorded_for_whom_memory_is_off(here: Memory) -> None:
    here.scope(user="anna").update_settings(enabled=False)
    asyncio.run(agent_of(here, Asked()).run("I live in Lisbon.", deps="anna", conversation_id="c1"))
    assert said(here) == []


def test_the_memory_of_all_is_refused_at_once(here: Memory) -> None:
    for make in (memory_toolset, MemoryHistory):
        with pytest.raises(Invalid, match="one user's memory"):
            make(cast(Any, here))


def test_the_example(tmp_path: Path) -> None:
    first = run_example("pydantic_ai_memory.py", tmp_path / "memory.db")
    assert first.splitlines()[:2] == ["anna: Which city do I live in?", "agent: I do not know."]
    assert "ben: Which city do I live in?\nagent: I do not know." in first
    again = run_example("pydantic_ai_memory.py", tmp_path / "memory.db")  # a new process knows it
    assert again.splitlines()[:2] == ["anna: Which city do I live in?", "agent: Lisbon."]
