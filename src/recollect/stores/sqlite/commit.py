"""Group commit: writers that arrive while another one commits share the next commit.

SQLite has one writer at a time and a durable commit costs a disk flush. Whoever gets the writer's
seat runs everything that waits, each piece in a savepoint of its own, and flushes once for all, if any of it
has to be durable.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")


class _Job(Generic[T]):
    __slots__ = ("done", "durable", "error", "result", "work")

    def __init__(self, work: Callable[[Connection], T], durable: bool) -> None:
        self.work = work
        self.durable = durable
        self.done = False
        self.result: T | None = None
        self.error: BaseException | None = None


class GroupCommit:
    """Runs pieces of work on one connection, durably, sharing commits among threads."""

    def __init__(self, connect: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._connect = connect
        self._seat = threading.Lock()
        self._waiting_lock = threading.Lock()
        self._waiting: list[_Job[Any]] = []

    def run(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """What `work` returns, once it is on disk; unless it is `durable`, the disk is not waited for."""
        job = _Job(work, durable)
        with self._waiting_lock:
            self._waiting.append(job)
        with self._seat:
            if not job.done:
                with self._waiting_lock:
                    batch, self._waiting = self._waiting, []
                self._commit(batch)
        if job.error is not None:
            raise job.error
        return job.result  # pyright: ignore[reportReturnType]

    def alone(self, work: Callable[[], T]) -> T:
        """What `work` returns, run while the others here wait."""
        with self._seat:
            return work()

    def pause(self) -> None:
        """Let nobody write until `resume`."""
        self._seat.acquire()

    def resume(self) -> None:
        self._seat.release()

    def _commit(self, batch: list[_Job[Any]]) -> None:
        try:
            with self._connect() as connection, _flushing(connection, any(job.durable for job in batch)):
                try:
                    execute(connection, "BEGIN IMMEDIATE")
                    if len(batch) == 1:
                        batch[0].result = batch[0].work(connection)
                    else:
                        for job in batch:
                            _run(connection, job)
                    execute(connection, "COMMIT")
                except BaseException:
                    roll_back(connection)
                    raise
        except BaseException as error:
            for job in batch:
                job.error = job.error or error
            if not isinstance(error, Exception):
                raise
        finally:
            for job in batch:
                job.done = True


@contextmanager
def _flushing(connection: Connection, durable: bool) -> Generator[None]:
    """Whether a commit waits for the disk. What does not is on it with the next one that does, in order: only
    a power cut before that undoes it, and never a part of it."""
    if durable:
        yield
        return
    execute(connection, "PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        if not connection.invalidated:
            execute(connection, "PRAGMA synchronous = FULL")


def _run(connection: Connection, job: _Job[Any]) -> None:
    """One piece of work; if it fails it alone is undone, unless SQLite gave up the whole transaction."""
    connection.exec_driver_sql("SAVEPOINT piece")
    try:
        job.result = job.work(connection)
    except Exception as error:
        if not in_transaction(connection):
            raise
        connection.exec_driver_sql("ROLLBACK TO piece")
        job.error = error
    connection.exec_driver_sql("RELEASE piece")


def execute(connection: Connection, statement: str) -> None:
    """Begin or end a transaction; straight to the driver, because everything that is asked does it."""
    raw: Any = connection.connection.dbapi_connection
    raw.execute(statement)


def in_transaction(connection: Connection) -> bool:
    if connection.invalidated:  # Ctrl-C while a statement ran
        return False
    raw: Any = connection.connection.dbapi_connection
    return raw.in_transaction


def roll_back(connection: Connection) -> None:
    """End the transaction, unless SQLite has done so already, as it does when the disk is full."""
    if in_transaction(connection):
        execute(connection, "ROLLBACK")
