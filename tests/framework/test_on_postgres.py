"""The same on PostgreSQL: what depends on how turns are numbered, counted and forgotten."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from recollect import Memory
from tests.contract import postgres

pytest.importorskip("google.adk")
pytest.importorskip("agents")

from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types

from recollect.integrations.adk import RecollectMemoryService
from recollect.integrations.openai_agents import RecollectSession

pytestmark = [pytest.mark.framework, pytest.mark.engine]


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with postgres.started() as server, postgres.new_database(server, "recollect_frameworks") as url:
        postgres.opened(url).close()
        with Memory.open(url, embedder="hashing") as memory:
            yield memory


def event(text: str) -> Event:
    return Event(author="user", content=types.Content(role="user", parts=[types.Part(text=text)]))


def test_sessions_of_adk(memory: Memory) -> None:
    said = [event(f"message {number}\x00") for number in range(6)]
    service = RecollectMemoryService(memory)

    async def add(*events: Event) -> None:
        await service.add_session_to_memory(
            Session(id="s1", app_name="desk", user_id="anna", events=[*events])
        )

    async def scenario() -> None:
        await asyncio.gather(*(add(*said[:length]) for length in (2, 4, 6, 6)))
        await add(*said)

    asyncio.run(scenario())
    scope = memory.scope(user="anna", channel="desk")
    turns = scope.conversation("desk/s1")
    assert [turn.content for turn in turns] == [f"message {number}\x00" for number in range(6)]
    scope.forget(turns[5].id)
    asyncio.run(add(*said, event("and on")))
    assert [turn.content for turn in scope.conversation("desk/s1")][4:] == ["message 4\x00", "and on"]


def test_sessions_of_openai_agents(memory: Memory) -> None:
    items: list[Any] = [
        {"role": "user", "content": "\x00 \ud83d"},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x" * 300_000},
    ]

    async def scenario() -> None:
        session = RecollectSession("s2", memory.scope(user="anna"))
        await session.add_items(items)
        assert await session.get_items() == items
        popped: Any = await asyncio.gather(session.pop_item(), session.pop_item())
        assert {item["type"] for item in popped if item} == {"function_call", "reasoning"}
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(scenario())
