"""Agents for asyncio, stopped half way, and several at once."""

import asyncio
import threading
from typing import Any

import pytest

from recollect import Agent, Answer, Memory, ScopedMemory
from recollect.agent.events import Recalled
from recollect.models.chat import ChatModel
from recollect.testing.openai_answers import calls
from recollect.testing.openai_server import OpenAIServer
from tests.interface.agent.agents import add, observed


def test_asyncio(server: OpenAIServer, model: ChatModel, ann: ScopedMemory) -> None:
    loops: list[Any] = []

    async def slowly(a: int) -> int:
        """Add one, later."""
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return a + 1

    async def run() -> tuple[Answer, list[str]]:
        agent = Agent(ann, model, [slowly])
        server.say(calls(("slowly", {"a": 1})), "Two.")
        answer = await agent.aask("1 + 1?")
        assert loops == [asyncio.get_running_loop()]  # what is bound to the caller's can be used
        server.say("Three.")
        return answer, [event.type async for event in agent.astream("1 + 2?")]

    answer, types = asyncio.run(run())
    assert (answer.text, observed(answer)) == ("Two.", ["2"])
    assert types == ["recalled", "text", "final"]


def test_cancelling_stops_the_agent(
    server: OpenAIServer, model: ChatModel, memory: Memory, ann: ScopedMemory
) -> None:
    begun, release, after = threading.Event(), threading.Event(), threading.Event()

    def hang() -> str:
        """Never ends."""
        begun.set()
        release.wait(30)
        return "late"

    async def run() -> None:
        server.say(calls(("hang", {})), "Too late.")
        task = asyncio.create_task(Agent(ann, model, [hang]).aask("Wait", conversation="c"))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        after.set()

    asyncio.run(run())
    release.set()
    assert after.is_set()
    assert len(server.requests) == 1  # the model was not asked again
    assert [t.content for t in ann.conversation("c")] == ["Wait"]
    assert "cancelled" in ann.summaries("c")[0].summary
    assert memory.scope("ann", conversation="c").working.items() == []


def test_cancelling_cancels_asynchronous_tools(server: OpenAIServer, model: ChatModel) -> None:
    async def run() -> None:
        begun, ended = asyncio.Barrier(3), list[str]()

        async def hang(name: str) -> None:
            """Never ends."""
            try:
                await begun.wait()  # both are under way
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append(name)
                raise

        server.say(calls(("hang", {"name": "a"}), ("hang", {"name": "b"})), "Too late.")
        task = asyncio.create_task(Agent(None, model, [hang]).aask("Wait"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while sorted(ended) != ["a", "b"]:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_closing_the_stream_stops_the_agent(
    server: OpenAIServer, model: ChatModel, ann: ScopedMemory
) -> None:
    server.say(calls(("add", {"a": 1})), "Two.")
    stream: Any = Agent(ann, model, [add]).stream("1 + 1?", conversation="c")
    assert isinstance(next(stream), Recalled)
    while next(stream).type != "observation":
        pass
    stream.close()
    assert len(server.requests) == 1
    assert [s.summary for s in ann.summaries("c")] == ["Used add. It ended early: it was cancelled."]


def test_two_agents_in_one_conversation(
    server: OpenAIServer, model: ChatModel, memory: Memory, ann: ScopedMemory
) -> None:
    both = threading.Barrier(2, timeout=30)
    answers: dict[str, Answer] = {}

    def chat(body: Any) -> Any:
        asked, steps = body["messages"], [m for m in body["messages"] if m["role"] == "tool"]
        name = next(m["content"] for m in reversed(asked) if m["role"] == "user")
        return f"{name} {steps[0]['content']}" if steps else calls(("meet", {"who": name}))

    def meet(who: str) -> str:
        """Meet the other."""
        both.wait()
        return f"met as {who}"

    with OpenAIServer(chat=chat) as talking:
        speaking = ChatModel(talking.base_url, "a-model")

        def ask(name: str) -> None:
            answers[name] = Agent(ann, speaking, [meet]).ask(name, conversation="shared")

        threads = [threading.Thread(target=ask, args=(name,)) for name in ("first", "second")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        speaking.close()
    assert {name: a.text for name, a in answers.items()} == {
        n: f"{n} met as {n}" for n in ("first", "second")
    }
    assert [a.problems for a in answers.values()] == [(), ()]
    said = sorted(t.content for t in ann.conversation("shared") if t.role.value != "note")
    assert said == sorted(["first", "second", "first met as first", "second met as second"])
    assert sorted(s.query for s in ann.summaries("shared")) == ["first", "second"]
    assert len(ann.list("episode")) == 2
    assert memory.scope("ann", conversation="shared").working.items() == []
