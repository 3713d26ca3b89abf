"""The same verbs for asyncio: every one, with the same arguments and the same answers."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from recollect import (
    AsyncMemory,
    AsyncScopedMemory,
    AsyncWorkingMemory,
    Conflict,
    Invalid,
    Memory,
    ScopedMemory,
    WorkingMemory,
)
from recollect.tend.work import NAMES
from recollect.testing.store_samples import ManualClock
from tests.unit.support import SwitchedEmbedder, contents

Work = Callable[[AsyncMemory], Coroutine[Any, Any, None]]


def run(path: Path, work: Work) -> None:
    async def within() -> None:
        async with await AsyncMemory.open(path, embedder=SwitchedEmbedder(), clock=ManualClock()) as memory:
            await work(memory)

    asyncio.run(within())


def verbs(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("plain", "derived"),
    [(ScopedMemory, AsyncScopedMemory), (Memory, AsyncMemory), (WorkingMemory, AsyncWorkingMemory)],
)
def test_every_verb_is_there_with_the_same_arguments(plain: type, derived: type) -> None:
    assert verbs(derived) == verbs(plain)
    assert inspect.signature(AsyncMemory.scope).parameters == inspect.signature(Memory.scope).parameters
    for name in verbs(plain) - {"scope", "open", "working", "goal"}:
        ours, theirs = getattr(derived, name), getattr(plain, name)
        assert inspect.signature(ours) == inspect.signature(theirs) or name == "close", name
        assert inspect.iscoroutinefunction(ours) or inspect.isasyncgenfunction(ours), name
        assert ours.__doc__ == theirs.__doc__ or name == "close", name


def test_the_verbs_answer_alike(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        derek = memory.scope("derek", channel="work")
        assert (derek.scope.user, derek.scope.channel) == ("derek", "work")
        turn = await derek.record("user", "green tea", conversation="c", index=0)
        assert await derek.get(turn.id) == turn
        fact = await derek.remember("likes tea", about=["Derek"])
        assert set(contents(await derek.recall("tea"))) == {"green tea", "likes tea"}
        new = await derek.correct(fact.id, "loves tea")
        assert [record.id for record in await derek.list("fact", superseded_by=None)] == [new.id]
        with pytest.raises(Conflict):
            await derek.record("user", "other", conversation="c", index=0)
        assert (await derek.forget(conversation="c")).counts == {"conversation": 1, "turn": 1}
        assert [outcome.problem for outcome in await memory.tend()] == [None] * len(NAMES)
        assert [n async for n in memory.rebuild_text()] == [2]
        assert await memory.rebuild_vectors() == 2

    run(path, work)


def test_working_memory_is_awaited(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        working = memory.scope("derek", conversation="c").working
        await working.add("thought", "tea, then")
        await working.set("kettle", {"on": True})
        await working.set_goal("make tea")
        assert [item.content for item in await working.items()] == ["tea, then"]
        assert (await working.goal, await working.get("kettle")) == ("make tea", {"on": True})
        await asyncio.gather(*(working.add("action", f"step {i}") for i in range(50)))
        assert await working.tokens() == 3 + 50 * 2
        assert (await memory.working_state()).conversations == 1
        with pytest.raises(Invalid, match="conversation="):
            _ = memory.scope("derek").working

    run(path, work)


def test_fifty_at_once(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        derek = memory.scope("derek")
        turns = await asyncio.gather(*(derek.record("user", f"tea {i}", conversation="c") for i in range(50)))
        assert sorted(turn.index for turn in turns) == list(range(50))
        both = await asyncio.gather(
            *(derek.recall(f"tea {i}", top_k=1) for i in range(50)),
            *(derek.record("user", f"coffee {i}") for i in range(50)),
        )
        assert [found.hits[0].content for found in both[:50]] == [f"tea {i}" for i in range(50)]  # type: ignore[union-attr]

    run(path, work)


def test_the_loop_stays_free_while_a_verb_works(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        derek = memory.scope("derek")
        done = asyncio.Event()
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await derek.record_many([{"role": "user", "content": f"tea {i}"} for i in range(500)])
        done.set()
        await ticking
        assert ticks > 10

    run(path, work)


def test_export_streams_and_import_takes_it(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        derek = memory.scope("derek")
        await derek.record_many(
            [{"role": "user", "content": f"tea {i}", "conversation": "c"} for i in range(600)]
        )
        stream = derek.export()
        assert isinstance(stream, AsyncIterator)
        lines = [line async for line in stream]
        assert len(lines) == 602
        imported = await memory.scope("ann").import_(lines)
        assert imported.total == 601
        assert [line async for line in memory.scope("ann").export()][1:] == lines[1:]

    run(path, work)


def test_a_stream_can_be_left_early(path: Path) -> None:
    async def work(memory: AsyncMemory) -> None:
        await memory.scope("derek").record("user", "tea")
        async for line in memory.scope("derek").export():
            assert "recollect" in line
            break
        assert (await memory.scope("derek").recall("tea")).hits

    run(path, work)
