"""OpenAI Agents SDK: its own runner and, to compare with, its own session."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from recollect import Invalid, Memory, RecollectError
from tests.framework.memories import FORMS, opened, run_example

pytest.importorskip("agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SessionSettings, SQLiteSession, Usage
from agents.memory import Session
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from recollect.integrations.openai_agents import RecollectSession, memory_tools

pytestmark = pytest.mark.framework

IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 10_000
ITEMS: list[Any] = [
    {"role": "user", "content": "Where is Vera?"},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "Who is this?"}]},
    {"role": "user", "content": [{"type": "input_image", "detail": "auto", "image_url": IMAGE}]},
    {"role": "user", "content": ""},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "\u20ac" * 20},
    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"who": "Vera \u2603"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "In Lisbon."},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "Or."}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "item_reference", "id": "x"},
    {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "phase": None, "content": [
        {"type": "output_text", "text": "Vera is in Lisbon.", "annotations": [], "logprobs": []},
        {"type": "refusal", "refusal": "No more."},
    ]},
]  # fmt: skip


class Scripted(Model):
    """Answers as the policy says, and keeps what it was asked."""

    def __init__(self, policy: Callable[[list[Any]], Any]) -> None:
        self.policy = policy
        self.inputs: list[list[Any]] = []

    async def get_response(self, system_instructions: str | None, input: Any, *args: Any, **kwargs: Any):
        self.inputs.append(input)
        return ModelResponse(output=[self.policy(input)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[content]
    )


def calls(name: str, **arguments: Any) -> Callable[[list[Any]], Any]:
    """Calls a tool, then says what it answered."""

    def policy(input: list[Any]) -> Any:
        if input[-1].get("type") == "function_call_output":
            return said(str(input[-1]["output"]))
        return ResponseFunctionToolCall(
            type="function_call", call_id="c1", name=name, arguments=json.dumps(arguments)
        )

    return policy


async def ask(model: Model, text: str, scope: Any, session: RecollectSession | None = None) -> str:
    agent = Agent(name="helper", instructions="You help.", model=model, tools=memory_tools(scope))
    config = RunConfig(tracing_disabled=True)
    if session:
        config.call_model_input_filter = session.with_memory
    return (await Runner.run(agent, text, session=session, run_config=config)).final_output


@pytest.fixture(params=FORMS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with opened(request.param, tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        yield memory


def test_it_does_what_their_own_session_does(memory: Any) -> None:
    async def told(session: Session) -> list[Any]:
        seen: list[Any] = [await session.get_items(), await session.pop_item()]
        await session.add_items([])
        await session.add_items(ITEMS)
        seen += [await session.get_items(), await session.get_items(3), await session.get_items(limit=0)]
        seen += [await session.pop_item(), await session.pop_item(), len(await session.get_items())]
        await session.add_items(ITEMS[:2])
        seen += [await session.get_items(limit=4), await session.get_items(1000)]
        await session.clear_session()
        seen += [await session.get_items(), await session.pop_item()]
        await session.clear_session()
        await session.add_items(ITEMS[:1])
        return [*seen, await session.get_items()]

    async def scenario() -> None:
        theirs = SQLiteSession("s1")
        ours = RecollectSession("s1", memory.scope(user="anna"))
        assert isinstance(ours, Session)
        assert await told(ours) == await told(theirs)
        theirs.close()

    asyncio.run(scenario())


def test_the_limit_of_the_settings(here: Memory) -> None:
    async def scenario() -> None:
        scope = here.scope(user="anna")
        session = RecollectSession("s1", scope, session_settings=SessionSettings(limit=2))
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS[-2:]
        assert await session.get_items(limit=1) == ITEMS[-1:]
        session.session_settings = None
        assert await session.get_items() == ITEMS

    asyncio.run(scenario())


def test_sessions_and_users_are_apart(memory: Any) -> None:
    async def scenario() -> None:
        anna, ben = memory.scope(user="anna"), memory.scope(user="ben")
        await RecollectSession("s1", anna).add_items(ITEMS[:3])
        assert await RecollectSession("s2", anna).get_items() == []
        assert await RecollectSession("s1", ben).get_items() == []
        await RecollectSession("s1", ben).clear_session()
        assert await RecollectSession("s1", anna).get_items() == ITEMS[:3]  # and another object sees it

    asyncio.run(scenario())


@pytest.mark.parametrize("text", ["\x00\u202e\ud83d \U0001f9ff", "x" * 1_200_000, '"\\' * 20_000, " "])
def test_any_text_comes_back(here: Memory, text: str) -> None:
    items: list[Any] = [
        {"role": "user", "content": text},
        {"type": "function_call_output", "call_id": "c", "output": text},
        {"role": "user", "content": [{"type": "input_text", "text": text}]},
    ]

    async def scenario() -> None:
        session = RecollectSession("s1", here.scope(user="anna"))
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == items[:-1]

    asyncio.run(scenario())


def test_what_was_said_is_mined_and_what_was_carried_is_not_found(here: Memory) -> None:
    scope = here.scope(user="anna")
    session = RecollectSession("s1", scope)
    items: list[Any] = [{"role": "user", "content": "I live in Lisbon and my sister is Vera."}, *ITEMS]
    asyncio.run(session.add_items(items))
    scope.mine()
    assert any(
        "Lisbon" in fact.content for fact in scope.recall("Where do I live?", kinds=["fact"]).of("fact")
    )
    found = scope.recall("iVBORw0KGgo base64 image_url", techniques={"gate": False})
    assert not [hit for hit in found.hits if "iVBORw0KGgo" in hit.content]
    asyncio.run(session.clear_session())
    assert not scope.recall("Where do I live?").hits


def test_memory_does_not_hear_itself(here: Memory) -> None:
    scope = here.scope(user="anna", conversation="s1")
    here.scope(user="anna").remember("The safe opens with 4711.")
    session = RecollectSession("s1", scope)
    model = Scripted(calls("recall", query="How does the safe open?"))
    assert "4711" in asyncio.run(ask(model, "Look it up.", scope, session))
    items: Any = asyncio.run(session.get_items())
    assert [item.get("type", "message") for item in items] == [
        "message", "function_call", "function_call_output", "message"
    ]  # fmt: skip
    spoken = [turn for turn in scope.conversation("s1") if turn.role in ("user", "tool")]
    assert not [turn for turn in spoken if "4711" in turn.content]
    late: Any = {"type": "function_call_output", "call_id": "c1", "output": "4711 again"}
    asyncio.run(session.add_items([late]))
    assert scope.conversation("s1")[-1].role == "note"


def test_memory_stands_in_front_of_the_question_and_stays_out_of_the_history(memory: Any) -> None:
    async def scenario() -> None:
        scope = memory.scope(user="anna")
        first, second = RecollectSession("s1", scope), RecollectSession("s2", scope)
        await ask(Scripted(lambda input: said("Noted.")), "My locker number is walrus-1882.", scope, first)
        model = Scripted(lambda input: said("walrus-1882."))
        await ask(model, "Thanks for helping me out.", scope, second)
        await ask(model, "What is my locker number?", scope, second)
        shown = model.inputs[-1]
        assert [item.get("role") for item in shown] == ["user", "assistant", "system", "user"]
        assert "walrus-1882" in shown[2]["content"]
        assert "memory_context" not in str(await second.get_items())
        await ask(model, "What is my locker number?", memory.scope(user="ben"))
        assert "walrus-1882" not in str(model.inputs[-1])

    asyncio.run(scenario())


def test_tools_are_of_whom_the_run_is_for(memory: Any) -> None:
    async def scenario() -> None:
        for user in ("anna", "ben"):
            agent = Agent[str](
                name="helper",
                model=Scripted(calls("remember", content=f"The favourite tea of {user} is sencha.")),
                tools=memory_tools(lambda run: memory.scope(user=run.context)),
            )
            config = RunConfig(tracing_disabled=True)
            assert "saved" in (await Runner.run(agent, "Save.", context=user, run_config=config)).final_output
            agent.model = Scripted(calls("recall", query="Which tea?"))
            told = (await Runner.run(agent, "Which tea?", context=user, run_config=config)).final_output
            assert f"of {user} is" in told
            assert told.count("sencha") == 1

    asyncio.run(scenario())


def test_tools_that_fail_do_not_fail_the_agent_and_a_session_says_so(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory.db", embedder="hashing")
    memory.close()
    scope = memory.scope(user="anna")

    async def scenario() -> None:
        assert "cannot be reached" in await ask(Scripted(calls("remember", content="It.")), "Save.", scope)
        assert "problems" in await ask(Scripted(calls("recall", query="It?")), "Look.", scope)
        with pytest.raises(RecollectError):
            await RecollectSession("s1", scope).get_items()

    asyncio.run(scenario())


def test_many_write_to_one_session(here: Memory) -> None:
    async def scenario() -> None:
        session = RecollectSession("s1", here.scope(user="anna"))
        pairs: list[list[Any]] = [
            [{"role": "user", "content": f"{n}"}, {"role": "assistant", "content": f"{n}!"}] for n in range(8)
        ]
        await asyncio.gather(*(session.add_items(pair) for pair in pairs))
        items = await session.get_items()
        assert sorted(map(str, items)) == sorted(str(item) for pair in pairs for item in pair)
        for pair in pairs:  # each pair together
            assert items.index(pair[1]) == items.index(pair[0]) + 1
        popped = await asyncio.gather(*(session.pop_item() for _ in range(4)))
        assert len({str(item) for item in popped}) == 4
        assert len(await session.get_items()) == 12

    asyncio.run(scenario())


def test_an_item_of_which_a_part_was_forgotten_is_gone(here: Memory) -> None:
    scope = here.scope(user="anna")
    session = RecollectSession("s1", scope)
    asyncio.run(session.add_items(ITEMS[:4]))
    scope.forget(scope.conversation("s1")[-1].id)
    assert asyncio.run(session.get_items()) == ITEMS[:3]


def test_the_memory_of_all_is_refused_at_once(here: Memory) -> None:
    with pytest.raises(Invalid, match="one user's memory"):
        RecollectSession("s", cast(Any, here))
    with pytest.raises(Invalid, match="one user's memory"):
        memory_tools(cast(Any, here))


def test_the_example(tmp_path: Path) -> None:
    first = run_example("openai_agents_memory.py", tmp_path / "memory.db")
    assert first.splitlines()[:2] == ["anna: Which city do I live in?", "agent: I do not know."]
    assert "ben: Which city do I live in?\nagent: I do not know." in first
    assert "items in anna's Monday: 6" in first
    again = run_example("openai_agents_memory.py", tmp_path / "memory.db")  # a new process knows it
    assert again.splitlines()[:2] == ["anna: Which city do I live in?", "agent: Lisbon."]
