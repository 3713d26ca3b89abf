"""An agent's events for asyncio: the same generator, gone through in a thread."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from recollect.agent.waiting import Workers

T = TypeVar("T")


async def threaded(start: Callable[[Workers], Iterator[T]], grace: float) -> AsyncIterator[T]:
    """What `start` tells, as it comes. When nobody listens any more, or the task is cancelled, it is stopped;
    so many seconds are left to it to put down what it has."""
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    workers, ended = Workers(loop), asyncio.Event()

    def tell(kind: str, value: Any = None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody is there to be told
            loop.call_soon_threadsafe(told.put_nowait, (kind, value))

    def work() -> None:
        try:
            for item in start(workers):
                tell("item", item)
            tell("end")
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            tell("error", error)
        finally:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=work, name="recollect-agent", daemon=True).start()
    try:
        while True:
            kind, value = await told.get()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
    finally:
        workers.cancel()
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), grace)
