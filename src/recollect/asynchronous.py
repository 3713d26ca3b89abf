"""The same verbs for asyncio, derived from the synchronous ones: each runs in a thread, whether the memory is in
this process or behind a server."""

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


class _Threaded:
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


def _verb(verb: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The verb as a coroutine, of whatever has a verb of that name."""
    name = verb.__name__

    @functools.wraps(verb)
    async def call(self: _Threaded, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(lambda: getattr(self._inner, name)(*args, **kwargs))  # pyright: ignore[reportPrivateUsage]

    return call


def _stream(
    verb: Callable[Concatenate[Any, P], Iterator[T]],
) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """A verb that yields, as an asynchronous iterator."""
    name = verb.__name__

    @functools.wraps(verb)
    async def call(self: _Threaded, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        items = getattr(self._inner, name)(*args, **kwargs)  # pyright: ignore[reportPrivateUsage]
        while page := await self._run(lambda: list(islice(items, PAGE))):  # pyright: ignore[reportPrivateUsage]
            for item in page:
                yield item

    return call


class AsyncWorkingMemory(_Threaded):
    """The working memory of one conversation, for asyncio: `await working.goal`, and the verbs of
    `WorkingMemory`. The goal is set with `set_goal`."""

    @property
    def goal(self) -> Coroutine[Any, Any, str | None]:
        return self._run(lambda: self._inner.goal)

    add = _verb(WorkingMemory.add)
    items = _verb(WorkingMemory.items)
    tokens = _verb(WorkingMemory.tokens)
    set = _verb(WorkingMemory.set)
    get = _verb(WorkingMemory.get)
    values = _verb(WorkingMemory.values)
    set_goal = _verb(WorkingMemory.set_goal)
    compress = _verb(WorkingMemory.compress)
    context = _verb(WorkingMemory.context)
    end_invocation = _verb(WorkingMemory.end_invocation)
    clear = _verb(WorkingMemory.clear)


class AsyncScopedMemory(_Threaded):
    """One user's memory, for asyncio. Every verb of `ScopedMemory` with the same arguments."""

    @property
    def scope(self) -> Scope:
        return self._inner.scope

    @property
    def working(self) -> AsyncWorkingMemory:
        """What an agent has in its head during the scope's conversation."""
        return AsyncWorkingMemory(self._inner.working, self._threads)

    record = _verb(ScopedMemory.record)
    record_many = _verb(ScopedMemory.record_many)
    record_tool = _verb(ScopedMemory.record_tool)
    record_summary = _verb(ScopedMemory.record_summary)
    remember = _verb(ScopedMemory.remember)
    remember_many = _verb(ScopedMemory.remember_many)
    correct = _verb(ScopedMemory.correct)
    pin = _verb(ScopedMemory.pin)
    promote = _verb(ScopedMemory.promote)
    mine = _verb(ScopedMemory.mine)
    unmine = _verb(ScopedMemory.unmine)
    merge = _verb(ScopedMemory.merge)
    split = _verb(ScopedMemory.split)
    recall = _verb(ScopedMemory.recall)
    get = _verb(ScopedMemory.get)
    list = _verb(ScopedMemory.list)
    conversation = _verb(ScopedMemory.conversation)
    conversations = _verb(ScopedMemory.conversations)
    summaries = _verb(ScopedMemory.summaries)
    timeline = _verb(ScopedMemory.timeline)
    neighbours = _verb(ScopedMemory.neighbours)
    palace = _verb(ScopedMemory.palace)
    drawer = _verb(ScopedMemory.drawer)
    counts = _verb(ScopedMemory.counts)
    sizes = _verb(ScopedMemory.sizes)
    add_goal = _verb(ScopedMemory.add_goal)
    goals = _verb(ScopedMemory.goals)
    goal = _verb(ScopedMemory.goal)
    update_goal = _verb(ScopedMemory.update_goal)
    complete_goal = _verb(ScopedMemory.complete_goal)
    end = _verb(ScopedMemory.end)
    procedures = _verb(ScopedMemory.procedures)
    episodes = _verb(ScopedMemory.episodes)
    tools = _verb(ScopedMemory.tools)
    profile = _verb(ScopedMemory.profile)
    update_profile = _verb(ScopedMemory.update_profile)
    settings = _verb(ScopedMemory.settings)
    update_settings = _verb(ScopedMemory.update_settings)
    retention = _verb(ScopedMemory.retention)
    retention_origins = _verb(ScopedMemory.retention_origins)
    set_retention = _verb(ScopedMemory.set_retention)
    forget = _verb(ScopedMemory.forget)
    export = _stream(ScopedMemory.export)
    import_ = _verb(ScopedMemory.import_)
    spending = _verb(ScopedMemory.spending)
    audit = _verb(ScopedMemory.audit)
    readers = _verb(ScopedMemory.readers)


class AsyncMemory(_Threaded):
    """`Memory` for asyncio. Use it with `async with`, or close it."""

    _inner: Memory

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, ThreadPoolExecutor(THREADS, "recollect"))

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Like `Memory.open`."""
        return cls(await asyncio.to_thread(Memory.open, *args, **kwargs))

    def scope(
        self, user: str, channel: str = GLOBAL, agent: str | None = None, conversation: str | None = None
    ) -> AsyncScopedMemory:
        """One user's memory. Nobody else's can be reached through it."""
        return AsyncScopedMemory(self._inner.scope(user, channel, agent, conversation), self._threads)

    tend = _verb(Memory.tend)
    tending = _stream(Memory.tending)
    working_state = _verb(Memory.working_state)
    flush = _verb(Memory.flush)
    metrics = _verb(Memory.metrics)
    stop = _verb(Memory.stop)
    rebuild_vectors = _verb(Memory.rebuild_vectors)
    rebuild_text = _stream(Memory.rebuild_text)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)  # what still runs is finished first
        await asyncio.to_thread(self._inner.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
