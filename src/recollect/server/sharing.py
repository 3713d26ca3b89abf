"""Threads are shared: one user, however much they ask for at once, leaves some to the others."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import Any, Self, TypeVar

T = TypeVar("T")

asking: ContextVar[str | None] = ContextVar("asking", default=None)
"""Who it is that work is done for; None where there is nobody else to leave threads to."""
MOMENT = 0.01
"""Seconds after which it is looked at again whether threads are done."""


class Threads:
    """A pool of which nobody has more than half at once. What is beyond that waits for the same user's."""

    def __init__(self, size: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(size, name)
        self._most = (size + 1) // 2
        self._at_work: dict[str, int] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._begun: set[Future[Any]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def finish(self, seconds: float) -> bool:
        """Begin nothing more, and wait for what is being worked on, but no longer than this; whether all of
        it is done."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                while self._begun:
                    await asyncio.sleep(MOMENT)
        return not self._begun

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns. A thread counts for as long as it works, also for whoever has gone."""
        who = asking.get()
        if who is not None:
            await self._enter(who)
        future = self._pool.submit(copy_context().run, work)  # spans go on in there
        self._begun.add(future)
        future.add_done_callback(self._begun.discard)
        try:
            return await asyncio.wrap_future(future)
        finally:
            if who is not None:
                self._leave_with(future, who)

    async def _enter(self, who: str) -> None:
        if self._at_work.get(who, 0) < self._most:
            self._at_work[who] = self._at_work.get(who, 0) + 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was handed over just now
                self._leave(who)
            raise

    def _leave_with(self, future: "Future[Any]", who: str) -> None:
        if future.done():
            self._leave(who)
            return
        loop = asyncio.get_running_loop()

        def done(_: "Future[Any]") -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._leave, who)

        future.add_done_callback(done)

    def _leave(self, who: str) -> None:
        """Hand the place over to whoever waits longest, or give it up."""
        waiting = self._waiting.get(who)
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._waiting.pop(who, None)
        self._at_work[who] -= 1
        if not self._at_work[who]:
            del self._at_work[who]
