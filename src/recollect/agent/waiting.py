"""Waiting for what may never end: each in a thread of its own, which is left behind when its time is over and
told so (`ports.ending`)."""

import contextvars
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from recollect.ports.ending import ENDING, Ending

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Late(Exception):
    """It did not come to its end in time."""


class Cancelled(Exception):
    """Whoever asked does not want the answer any more."""


class Job(Generic[T]):
    """Something under way, and what it has told so far."""

    def __init__(self) -> None:
        self.told: deque[tuple[str, Any]] = deque()
        self.ending = Ending()


class Workers:
    """Begins jobs and waits for them. One thread waits; any may cancel. `loop` is that of whoever asked, if
    there is one."""

    def __init__(self, loop: "asyncio.AbstractEventLoop | None" = None) -> None:
        self.loop = loop
        self._inbox: queue.SimpleQueue[tuple[Job[Any] | None, str, Any]] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._jobs: set[Job[Any]] = set()

    def cancel(self) -> None:
        """Have whoever waits, and whoever will, get `Cancelled`; what is under way is ended."""
        with self._lock:
            self._cancelled.set()
            jobs = [*self._jobs]
        self._inbox.put((None, "cancelled", None))
        for job in jobs:
            job.ending.end()

    def begin(self, items: Callable[[], Iterator[T]], name: str) -> Job[T]:
        """Go through the items in a thread of its own."""
        job: Job[T] = Job()
        with self._lock:
            self._jobs.add(job)
            if self._cancelled.is_set():
                job.ending.end()
        here = contextvars.copy_context()  # spans of what it does belong to whoever asked
        # A daemon: what hangs for ever must not keep the process from ending.
        thread = threading.Thread(
            target=here.run, args=(self._run, job, items), name=f"recollect-{name}", daemon=True
        )
        thread.start()
        return job

    def _run(self, job: Job[T], items: Callable[[], Iterator[T]]) -> None:
        ENDING.set(job.ending)
        try:
            iterator = items()
            try:
                for item in iterator:
                    self._inbox.put((job, "item", item))
                    if job.ending.over:
                        return
            finally:
                if (close := getattr(iterator, "close", None)) is not None:
                    close()
            self._inbox.put((job, "end", None))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._inbox.put((job, "error", error))
        finally:
            with self._lock:
                self._jobs.discard(job)

    def items(self, job: Job[T], until: float) -> Iterator[T]:
        """What the job tells, in order; what it raises is raised here. `Late` when it takes longer than
        `until` on the monotonic clock."""
        try:
            while True:
                kind, value = self._next(job, until)
                if kind == "error":
                    raise value
                if kind == "end":
                    return
                yield value
        finally:
            job.ending.end()

    def _next(self, job: Job[Any], until: float) -> tuple[str, Any]:
        while self._cancelled.is_set() or not job.told:
            if self._cancelled.is_set():
                raise Cancelled
            try:
                whose, kind, value = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise Late from None
            if whose is not None:
                whose.told.append((kind, value))
        return job.told.popleft()

    def one(self, job: Job[T], until: float) -> T:
        """The only thing the job tells."""
        (value,) = self.items(job, until)
        return value


def once(work: Callable[[], T]) -> Callable[[], Iterator[T]]:
    """Something that tells one thing, when it is done."""

    def items() -> Iterator[T]:
        yield work()

    return items
