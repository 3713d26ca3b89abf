"""The same verbs for asyncio, derived from the synchronous ones: each runs in a thread, be the memory in this
process or behind a server."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from recollect.errors import StoreUnavailable
from recollect.memory import Memory
from recollect.model.scope import GLOBAL, Scope
from recollect.scoped import ScopedMemory
from recollect.scoped.working import WorkingMemory

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 16
PAGE = 256
"""How many items of a stream are fetched at a time."""


class Threaded:
    """Something synchronous, and the threads in which its methods run."""

    def __init__(self, inner: Any, threads: ThreadPoolExecutor) -> None:
        self._inner = inner
        self._threads = threads

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        except RuntimeError:  # the threads have ended with the memory
            raise StoreUnavailable("The memory was closed: open it again.") from None
        return await future


class Opened(Threaded):
    """What threads were started for. Use it with `async with`, or close it."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner, ThreadPoolExecutor(THREADS, "recollect"))

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)  # what still runs is finished first
        await asyncio.to_thread(self._inner.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def awaited(verb: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The verb as a coroutine, of whatever has a verb of that name."""
    name = verb.__name__

    @functools.wraps(verb)
    async def call(self: Threaded, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(lambda: getattr(self._inner, name)(*args, **kwargs))  # pyright: ignore[reportPrivateUsage]

    return call


def streamed(
    verb: Callable[Concatenate[Any, P], Iterator[T]],
) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """A verb that yields, as an asynchronous iterator."""
    name = verb.__name__

    @functools.wraps(verb)
    async def call(self: Threaded, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        items: Iterator[T] = getattr(self._inner, name)(*args, **kwargs)  # pyright: ignore[reportPrivateUsage]
        while page := await self._run(lambda: list(islice(items, PAGE))):  # pyright: ignore[reportPrivateUsage]
            for item in page:
                yield item

    return call


class AsyncWorkingMemory(Threaded):
    """The working memory of one conversation, for asyncio: `await working.goal`, and the verbs of
    `WorkingMemory`. The goal is set with `set_goal`."""

    @property
    def goal(self) -> Coroutine[Any, Any, str | None]:
        return self._run(lambda: self._inner.goal)

    add = awaited(WorkingMemory.add)
    items = awaited(WorkingMemory.items)
    tokens = awaited(WorkingMemory.tokens)
    set = awaited(WorkingMemory.set)
    get = awaited(WorkingMemory.get)
    values = awaited(WorkingMemory.values)
    set_goal = awaited(WorkingMemory.set_goal)
    compress = awaited(WorkingMemory.compress)
    context = awaited(WorkingMemory.context)
    end_invocation = awaited(WorkingMemory.end_invocation)
    clear = awaited(WorkingMemory.clear)


class AsyncScopedMemory(Threaded):
    """One user's memory, for asyncio. Every verb of `ScopedMemory` with the same arguments."""

    @property
    def scope(self) -> Scope:
        return self._inner.scope

    @property
    def working(self) -> AsyncWorkingMemory:
        """What an agent has in its head during the scope's conversation."""
        return AsyncWorkingMemory(self._inner.working, self._threads)

    record = awaited(ScopedMemory.record)
    record_many = awaited(ScopedMemory.record_many)
    record_tool = awaited(ScopedMemory.record_tool)
    record_summary = awaited(ScopedMemory.record_summary)
    remember = awaited(ScopedMemory.remember)
    remember_many = awaited(ScopedMemory.remember_many)
    correct = awaited(ScopedMemory.correct)
    pin = awaited(ScopedMemory.pin)
    promote = awaited(ScopedMemory.promote)
    contradictions = awaited(ScopedMemory.contradictions)
    settle = awaited(ScopedMemory.settle)
    mine = awaited(ScopedMemory.mine)
    unmine = awaited(ScopedMemory.unmine)
    merge = awaited(ScopedMemory.merge)
    split = awaited(ScopedMemory.split)
    recall = awaited(ScopedMemory.recall)
    get = awaited(ScopedMemory.get)
    list = awaited(ScopedMemory.list)
    conversation = awaited(ScopedMemory.conversation)
    conversations = awaited(ScopedMemory.conversations)
    summaries = awaited(ScopedMemory.summaries)
    timeline = awaited(ScopedMemory.timeline)
    neighbours = awaited(ScopedMemory.neighbours)
    palace = awaited(ScopedMemory.palace)
    drawer = awaited(ScopedMemory.drawer)
    counts = awaited(ScopedMemory.counts)
    sizes = awaited(ScopedMemory.sizes)
    growth = awaited(ScopedMemory.growth)
    add_goal = awaited(ScopedMemory.add_goal)
    goals = awaited(ScopedMemory.goals)
    goal = awaited(ScopedMemory.goal)
    update_goal = awaited(ScopedMemory.update_goal)
    complete_goal = awaited(ScopedMemory.complete_goal)
    end = awaited(ScopedMemory.end)
    procedures = awaited(ScopedMemory.procedures)
    episodes = awaited(ScopedMemory.episodes)
    tools = awaited(ScopedMemory.tools)
    profile = awaited(ScopedMemory.profile)
    update_profile = awaited(ScopedMemory.update_profile)
    settings = awaited(ScopedMemory.settings)
    update_settings = awaited(ScopedMemory.update_settings)
    offered = awaited(ScopedMemory.offered)
    is_on = awaited(ScopedMemory.is_on)
    retention = awaited(ScopedMemory.retention)
    retention_origins = awaited(ScopedMemory.retention_origins)
    set_retention = awaited(ScopedMemory.set_retention)
    forget = awaited(ScopedMemory.forget)
    undo = awaited(ScopedMemory.undo)
    export = streamed(ScopedMemory.export)
    import_ = awaited(ScopedMemory.import_)
    spending = awaited(ScopedMemory.spending)
    audit = awaited(ScopedMemory.audit)
    readers = awaited(ScopedMemory.readers)


class AsyncMemory(Opened):
    """`Memory` for asyncio. Use it with `async with`, or close it."""

    _inner: Memory

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Like `Memory.open`."""
        return cls(await asyncio.to_thread(Memory.open, *args, **kwargs))

    def scope(
        self,
        user: str | None = None,
        channel: str = GLOBAL,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> AsyncScopedMemory:
        """One user's memory, or, without one, yours (RECOLLECT_USER). Nobody else's can be reached through
        it."""
        return AsyncScopedMemory(self._inner.scope(user, channel, agent, conversation), self._threads)

    tend = awaited(Memory.tend)
    tending = streamed(Memory.tending)
    working_state = awaited(Memory.working_state)
    flush = awaited(Memory.flush)
    spent = awaited(Memory.spent)
    metrics = awaited(Memory.metrics)
    stop = awaited(Memory.stop)
    rebuild_projection = awaited(Memory.rebuild_projection)
    rebuild_vectors = awaited(Memory.rebuild_vectors)
    rebuild_text = streamed(Memory.rebuild_text)
