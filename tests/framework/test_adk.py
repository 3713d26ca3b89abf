"""Google ADK: its own runner, agents and sessions, with a model that does as it is told."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Client, Invalid, Memory
from tests.framework.memories import FORMS, opened, run_example

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.load_memory_tool import LoadMemoryTool as AdkLoadMemoryTool
from google.genai import types

from recollect.integrations.adk import (
    LOAD_LINE,
    SAVE_LINE,
    AutoSavePlugin,
    RecollectMemoryService,
    conversation_of,
    embedding_settings,
)

pytestmark = pytest.mark.framework

Policy = Callable[[LlmRequest], types.Part]


class Model(BaseLlm):
    """Answers as the policy says, and keeps what it was asked."""

    policy: Policy = lambda request: types.Part(text="Fine.")
    requests: list[LlmRequest]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request.model_copy(deep=True))
        yield LlmResponse(content=types.Content(role="model", parts=[self.policy(llm_request)]))


class Desk:
    """An app with one agent that has a memory."""

    def __init__(self, memory: Any, policy: Policy | None = None, app: str = "desk", **more: Any) -> None:
        self.model = Model(model="scripted", requests=[], **({"policy": policy} if policy else {}))
        self.service = RecollectMemoryService(memory, **more)
        self.sessions = InMemorySessionService()
        agent = LlmAgent(name="helper", model=self.model, instruction="You help.", tools=self.service.tools())
        self.app = App(name=app, root_agent=agent, plugins=[AutoSavePlugin(self.service)])
        self.runner = Runner(app=self.app, session_service=self.sessions, memory_service=self.service)

    async def session(self, user: str = "anna", id: str = "s1") -> Session:
        where: dict[str, Any] = {"app_name": self.app.name, "user_id": user, "session_id": id}
        return await self.sessions.get_session(**where) or await self.sessions.create_session(**where)

    async def say(self, text: str, user: str = "anna", id: str = "s1") -> str:
        await self.session(user, id)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        said = [
            part.text
            async for event in self.runner.run_async(user_id=user, session_id=id, new_message=message)
            for part in (event.content.parts if event.content and event.content.parts else [])
            if part.text
        ]
        return said[-1] if said else ""

    async def found(self, query: str, user: str = "anna") -> list[str]:
        where = {"app_name": self.app.name, "user_id": user}
        response = await self.service.search_memory(query=query, **where)
        return [part.text or "" for memory in response.memories for part in memory.content.parts or []]


@pytest.fixture(params=FORMS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with opened(request.param, tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        yield memory


def event(text: str, id: str = "", author: str = "user") -> Event:
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(author=author, content=content, id=id or Event.new_id())


def session_of(*events: Event, user: str = "anna", id: str = "s1") -> Session:
    return Session(id=id, app_name="desk", user_id=user, events=[*events])


def contents(memory: Memory, user: str = "anna", id: str = "s1") -> list[str]:
    turns = memory.scope(user=user, channel="desk").conversation(conversation_of("desk", id))
    return [turn.content for turn in turns]


def calls(name: str, **args: Any) -> Policy:
    """Calls a tool, then says what it answered."""

    def policy(request: LlmRequest) -> types.Part:
        last = (request.contents[-1].parts or [])[-1]
        if last.function_response:
            return types.Part(text=str(last.function_response.response))
        return types.Part.from_function_call(name=name, args=args)

    return policy


def test_a_session_is_found_by_its_user_in_its_app_and_by_nobody_else(memory: Any) -> None:
    async def scenario() -> None:
        desk = Desk(memory)
        where = {"app_name": "desk", "user_id": "anna"}
        await desk.service.add_session_to_memory(session_of(event("My sister Vera lives in Lisbon.")))
        assert await desk.found("Where does Vera live?") == ["My sister Vera lives in Lisbon."]
        assert await desk.found("Where does Vera live?", user="ben") == []
        with pytest.raises(Invalid, match="_global"):  # which all apps would read
            desk.service.scope("_global", "anna")
        other = await desk.service.search_memory(app_name="other", user_id="anna", query="Vera Lisbon")
        assert other.memories == []
        entry = (await desk.service.search_memory(query="Vera Lisbon", **where)).memories[0]
        assert entry.author == "user"
        assert entry.timestamp
        assert entry.timestamp.endswith("+00:00")
        await desk.service.delete_memory(memory_id=entry.id, app_name="desk", user_id="ben")  # not ben's
        assert await desk.found("Vera Lisbon")
        await desk.service.delete_memory(memory_id=entry.id, **where)
        await desk.service.delete_memory(memory_id=entry.id, **where)
        assert await desk.found("Vera Lisbon") == []

    asyncio.run(scenario())


def test_a_session_that_is_added_again_adds_what_is_new(memory: Any) -> None:
    async def scenario() -> None:
        service = RecollectMemoryService(memory)
        said = [event("one"), event("two", author="helper"), event("one")]
        for length in (1, 2, 2, 3, 3):
            await service.add_session_to_memory(session_of(*said[:length]))
        await service.add_session_to_memory(session_of(*said[1:], event("four")))  # only the end was loaded
        await service.add_events_to_memory(
            app_name="desk", user_id="anna", events=[said[0], event("five")], session_id="s1"
        )

    asyncio.run(scenario())
    scope = memory.scope(user="anna", channel="desk")
    turns = scope.conversation("desk/s1")
    turns = asyncio.run(turns) if asyncio.iscoroutine(turns) else turns
    assert [(turn.role, turn.content) for turn in turns] == [
        ("user", "one"), ("assistant", "two"), ("user", "one"), ("user", "four"), ("user", "five")
    ]  # fmt: skip
    assert [turn.agent for turn in turns] == ["desk"] * 5


def test_many_add_one_session_at_once(here: Memory) -> None:
    async def scenario() -> None:
        service = RecollectMemoryService(here)
        said = [event(f"message {number}") for number in range(12)]
        await asyncio.gather(
            *(service.add_session_to_memory(session_of(*said[:length])) for length in (4, 8, 12, 12, 6)),
        )
        await service.add_session_to_memory(session_of(*said))

    asyncio.run(scenario())
    assert contents(here) == [f"message {number}" for number in range(12)]


def test_events_that_are_added_at_once_are_all_there(here: Memory) -> None:
    async def scenario() -> None:
        service = RecollectMemoryService(here)
        where: dict[str, Any] = {"app_name": "desk", "user_id": "anna", "session_id": "s1"}
        deltas = [[event(f"from {number}")] for number in range(4)]
        await asyncio.gather(*(service.add_events_to_memory(events=delta, **where) for delta in deltas))

    asyncio.run(scenario())
    assert sorted(contents(here)) == [f"from {number}" for number in range(4)]


@pytest.mark.parametrize("gone", [[0], [1], [2], [1, 2], [0, 1, 2]])
def test_what_was_forgotten_does_not_come_back_with_its_session(here: Memory, gone: list[int]) -> None:
    said = [event(f"secret {number}") for number in range(3)]
    service = RecollectMemoryService(here)
    asyncio.run(service.add_session_to_memory(session_of(*said)))
    scope = here.scope(user="anna", channel="desk")
    turns = scope.conversation("desk/s1")
    for place in gone:
        scope.forget(turns[place].id)
    asyncio.run(service.add_session_to_memory(session_of(*said, event("and on"))))
    left = [f"secret {number}" for number in range(3) if number not in gone]
    assert contents(here) == [*left, "and on"]


def test_thoughts_tools_and_unfinished_events_are_not_said(here: Memory) -> None:
    parts = [
        types.Part(text="hm", thought=True),
        types.Part(text="Paris."),
        types.Part(text="\U0001f5fc 東京"),
    ]
    spoken = Event(author="helper", content=types.Content(role="model", parts=parts))
    called = types.Part.from_function_call(name="look", args={})
    tool = Event(author="helper", content=types.Content(role="model", parts=[called]))
    part = event("Par", author="helper")
    part.partial = True
    asyncio.run(RecollectMemoryService(here).add_session_to_memory(session_of(part, tool, spoken)))
    assert contents(here) == ["Paris.\n\U0001f5fc 東京"]


def test_a_huge_message_is_kept_whole(here: Memory) -> None:
    huge = "é" * 1_100_000
    service = RecollectMemoryService(here)
    for _ in range(2):
        asyncio.run(service.add_session_to_memory(session_of(event(huge, "e1"), event("after", "e2"))))
    assert "".join(contents(here)) == huge + "after"
    found = asyncio.run(service.search_memory(app_name="desk", user_id="anna", query=huge + " after"))
    assert found.memories


def test_memories_can_be_given_outright(memory: Any) -> None:
    async def scenario() -> None:
        desk = Desk(memory)
        entry = MemoryEntry(content=types.Content(parts=[types.Part(text="Anna is allergic to peanuts.")]))
        await desk.service.add_memory(
            app_name="desk", user_id="anna", memories=[entry], custom_metadata={"from": "clinic"}
        )
        assert await desk.found("What is Anna allergic to?") == ["Anna is allergic to peanuts."]

    asyncio.run(scenario())


def test_the_instruction_grows_by_two_lines(here: Memory) -> None:
    desk = Desk(here)
    asyncio.run(desk.say("Hello"))
    instruction = str(desk.model.requests[0].config.system_instruction)
    assert instruction.startswith("You help.")
    assert SAVE_LINE in instruction
    assert LOAD_LINE in instruction
    assert sorted(desk.model.requests[0].tools_dict) == ["load_memory", "save_memory"]


def test_an_agent_saves_and_loads(memory: Any) -> None:
    async def scenario() -> None:
        saving = Desk(memory, calls("save_memory", content="The deploy key is rotated on Mondays."))
        assert "saved" in await saving.say("Note when keys are rotated.", id="first")
        loading = Desk(memory, calls("load_memory", query="When is the deploy key rotated?"))
        assert "on Mondays" in await loading.say("Look it up.", id="second")
        assert "on Mondays" not in await loading.say("Look it up.", user="ben", id="second")
        empty = Desk(memory, calls("save_memory", content="  "))
        assert "nothing to save" in await empty.say("Save.", id="third")

    asyncio.run(scenario())


def shown(request: LlmRequest) -> list[int]:
    """Where memory stands among the contents."""
    texts = ["".join(part.text or "" for part in content.parts or []) for content in request.contents]
    return [place for place, text in enumerate(texts) if "<memory_context" in text]


def test_memory_is_fetched_for_the_first_message_only(here: Memory) -> None:
    here.scope(user="anna", channel="desk").remember("Anna's train leaves at noon.")
    desk = Desk(here, calls("load_memory", query="train"))
    asyncio.run(desk.say("When does Anna's train leave?"))
    assert [shown(request) for request in desk.model.requests] == [[0], [0]]  # also after a tool was called
    asyncio.run(desk.say("And when does Anna's train leave tomorrow?"))
    assert [shown(request) for request in desk.model.requests[2:]] == [[], []]
    session = asyncio.run(desk.session())
    assert "memory_context" not in session.model_dump_json()


def test_a_session_is_saved_every_five_turns_of_its_user(here: Memory) -> None:
    desk = Desk(here)
    for number in range(1, 11):
        asyncio.run(desk.say(f"message {number}"))
        turns = contents(here)
        assert turns.count("Fine.") == number // 5 * 5
        assert len(turns) == number // 5 * 10


def test_nothing_is_saved_for_whom_memory_is_off(here: Memory) -> None:
    here.scope(user="anna").update_settings(enabled=False)
    desk = Desk(here)
    for number in range(5):
        asyncio.run(desk.say(f"message {number}"))
    assert contents(here) == []


def test_many_talk_at_once(memory: Any) -> None:
    async def scenario() -> None:
        desk = Desk(memory)
        users = [f"user{number}" for number in range(6)]

        async def talk(user: str) -> None:
            for number in range(5):
                assert await desk.say(f"I am {user} and say {number}.", user=user) == "Fine."

        await asyncio.gather(*map(talk, users))
        for user in users:
            found = await desk.found(f"I am {user}", user=user)
            assert any(user in text for text in found)
            assert not [text for text in found for other in users if other != user and other in text]

    asyncio.run(scenario())


def test_a_turn_that_failed_is_saved_too(here: Memory) -> None:
    def fails_at_five(request: LlmRequest) -> types.Part:
        if (request.contents[-1].parts or [])[-1].text == "message 5":
            raise RuntimeError("the model is gone")
        return types.Part(text="Fine.")

    desk = Desk(here, fails_at_five)
    for number in range(1, 5):
        asyncio.run(desk.say(f"message {number}"))
    with pytest.raises(RuntimeError, match="the model is gone"):
        asyncio.run(desk.say("message 5"))
    assert contents(here)[-2:] == ["Fine.", "message 5"]


@pytest.fixture(params=["closed", "unreachable", "nobody"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """A memory that fails, and the user for whom it does."""
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        if request.param == "nobody":  # a name that no user can have
            yield memory, "\x1b" * 300
            return
    if request.param == "closed":
        yield memory, "anna"
        return
    with Client("http://127.0.0.1:9", "key", attempts=1) as client:
        yield client, "anna"


def test_an_agent_goes_on_when_its_memory_fails(broken: tuple[Any, str]) -> None:
    memory, user = broken

    async def scenario() -> None:
        desk = Desk(memory)
        for number in range(5):  # the fifth is to be saved
            assert await desk.say(f"question {number}", user=user) == "Fine."
        loading = Desk(memory, calls("load_memory", query="anything"))
        assert "problems" in await loading.say("What do you know?", user=user)
        saving = Desk(memory, calls("save_memory", content="Something."))
        assert "error" in await saving.say("Save it.", user=user)
        assert await desk.found("anything", user=user) == []

    asyncio.run(scenario())


def test_an_agent_does_not_wait_for_a_memory_that_hangs(here: Memory) -> None:
    desk = Desk(here, patience=0.0)
    for number in range(5):
        assert asyncio.run(desk.say(f"question {number}")) == "Fine."


def test_adks_own_tools_work_with_it(here: Memory) -> None:
    here.scope(user="anna", channel="desk").remember("The spare key is under the third pot.")
    desk = Desk(here, calls("load_memory", query="Where is the spare key?"))
    agent = LlmAgent(name="plain", model=desk.model, tools=[AdkLoadMemoryTool()])
    desk.runner = Runner(
        app_name="desk", agent=agent, session_service=desk.sessions, memory_service=desk.service
    )
    assert "third pot" in asyncio.run(desk.say("Find it."))


def test_the_embedding_configuration_of_kagent() -> None:
    assert embedding_settings({"type": "OpenAI", "model": "text-embedding-3-small"}) == {
        "embedder": "https://api.openai.com/v1",
        "embedder_model": "text-embedding-3-small",
        "embedder_dimensions": 768,
    }
    own = {"provider": "anything", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
    assert embedding_settings(own)["embedder"] == "http://127.0.0.1:9/v1"
    assert embedding_settings(own)["embedder_key"] == "k"
    with pytest.raises(Invalid, match="base_url"):
        embedding_settings({"provider": "bedrock", "model": "m"})
    with pytest.raises(Invalid, match="model"):
        embedding_settings({"provider": "openai"})


def test_the_example(tmp_path: Path) -> None:
    first = run_example("adk_memory.py", tmp_path / "memory.db")
    assert first.splitlines()[:2] == ["anna: Which city do I live in?", "agent: I do not know."]
    assert "ben: Which city do I live in?\nagent: I do not know." in first
    again = run_example("adk_memory.py", tmp_path / "memory.db")  # a new process knows it from the start
    assert again.splitlines()[:2] == ["anna: Which city do I live in?", "agent: Lisbon."]
