"""What every request works with, and how it gets at it."""

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import Request

from recollect import Memory
from recollect.server.identity.gate import Gate
from recollect.server.measured import HttpMeasures
from recollect.server.sharing import MOMENT, Threads
from recollect.settings import Settings

if TYPE_CHECKING:
    import httpx

    from recollect.server.operations import Readiness

T = TypeVar("T")
log = logging.getLogger("recollect.server")


@dataclass(frozen=True, slots=True)
class Serving:
    """One server process: the memory it serves, who may come in, and the threads in which memory works."""

    memory: Memory
    gate: Gate
    upstream: "httpx.AsyncClient"
    threads: Threads = field(repr=False)
    waiting: Threads = field(repr=False)
    readiness: "Readiness" = field(repr=False)
    asking: asyncio.Semaphore = field(repr=False)
    measures: HttpMeasures = field(default_factory=HttpMeasures, repr=False)
    _tasks: "set[asyncio.Task[Any]]" = field(default_factory=set[Any], repr=False)

    @property
    def settings(self) -> Settings:
        return self.memory.settings

    async def run(self, work: Callable[[], T]) -> T:
        """Do what takes a while, such as any verb of a memory, in a thread."""
        return await self.threads.run(work)

    async def run_waiting(self, work: Callable[[], T]) -> T:
        """Do what waits for its caller in between, in a thread that nobody else waits for: whoever sends
        slowly, or not at all, keeps none from others."""
        return await self.waiting.run(work)

    async def ask(self, question: Callable[[], T]) -> T:
        """Recall something, in a thread, when it is its turn."""
        async with self.asking:
            return await self.run(question)

    def later(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Do something after the answer, whoever has gone by then; the server does not end before it is done.
        What it raises is told to the log alone."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if task.cancelled():
            log.error("What was to be done after an answer was given up: the server ended first.")
        elif (error := task.exception()) is not None:
            log.error("What was to be done after an answer failed: %s", type(error).__name__, exc_info=error)

    async def end(self, at: float) -> None:
        """Finish what was begun, until this moment of the event loop; the rest is given up."""
        now = asyncio.get_running_loop().time
        while self.measures.in_flight and now() < at:  # one that was broken off may leave something to record
            await asyncio.sleep(MOMENT)
        await self.finish(max(0.0, at - now()))
        if not all([await threads.finish(at - now()) for threads in (self.threads, self.waiting)]):
            log.warning("Ending, though some work goes on: it took longer than RECOLLECT_SHUTDOWN_SECONDS.")

    async def finish(self, seconds: float) -> None:
        """Wait for what is to be done later, and for what that asks for in turn, but no longer than this."""
        try:
            async with asyncio.timeout(seconds):
                while self._tasks:
                    await asyncio.wait(set(self._tasks))
        except TimeoutError:
            for task in set(self._tasks):
                task.cancel()
            await asyncio.wait(set(self._tasks))


def at_once(memory: Memory) -> int:
    """How many questions are worked on at once. Where that is work for processors alone, more of them than
    there are processors only get in one another's way: each takes longer, and all together."""
    settings = memory.settings
    elsewhere = settings.db.startswith("postgresql") or settings.embedder.startswith("http")
    if elsewhere or memory.model is not None or memory.reranker is not None:
        return settings.server_threads
    return min(settings.server_threads, os.cpu_count() or 1)


def serving(request: Request) -> Serving:
    """The process a request came to."""
    return request.app.state.serving
