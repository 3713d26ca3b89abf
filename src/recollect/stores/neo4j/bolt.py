"""Asking a server over Bolt, and not waiting for one that does not answer.

The driver for threads has no limit to how long it waits for an answer; that for asyncio lets a wait be
ended, with its connection. So questions run in a loop of their own, in a thread of this process.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncGraphDatabase, Query
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from recollect.errors import ProjectionError, SettingsError

T = TypeVar("T")
Row = dict[str, Any]

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
WRITING = 10
"""How many times as long as for an answer is waited for something to be written: nobody waits for that."""


class Run(Protocol):
    def __call__(self, statement: str, **given: Any) -> list[Row]: ...


class Bolt:
    """A server, as its sessions are used here. Connections are made when they are needed."""

    def __init__(self, url: str, user: str, password: str, database: str, timeout: float) -> None:
        self.where, self.routed = _checked(url)
        self._url = url
        self._auth = (user, password) if password else None
        self._database = database or None
        self._timeout = timeout
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._driver: Any = None
        self._bookmarks: Any = None
        self._process = 0
        self._closed = False

    def read(self, statement: str, **given: Any) -> list[Row]:
        return self._once(READ_ACCESS, self._timeout, statement, given)

    def write(self, statement: str, **given: Any) -> list[Row]:
        return self._once(WRITE_ACCESS, WRITING * self._timeout, statement, given)

    def _once(self, access: str, timeout: float, statement: str, given: Row) -> list[Row]:
        async def ask() -> list[Row]:
            async with self._session(access) as session:
                answer = await session.run(_timed(statement, timeout), given)
                return [record.data() async for record in answer]

        return self._answered(ask, timeout)

    def agent(self) -> str:
        """What the server calls itself, and of which version it is."""

        async def ask() -> str:
            return (await self._driver.get_server_info()).agent

        return self._answered(ask, self._timeout)

    @contextmanager
    def transaction(self) -> Generator[Run]:
        """All that is run in here, or nothing."""
        timeout = WRITING * self._timeout
        session = self._answered(self._opened, timeout)

        async def ask(statement: str, given: Row) -> list[Row]:
            answer = await transaction.run(cast(Any, statement), given)
            return [record.data() async for record in answer]

        def run(statement: str, **given: Any) -> list[Row]:
            return self._answered(lambda: ask(statement, given), timeout)

        try:
            transaction = self._answered(lambda: session.begin_transaction(timeout=timeout), timeout)
            yield run
            self._answered(transaction.commit, timeout)
        finally:  # rolls back what was not committed
            with suppress(ProjectionError):
                self._answered(session.close, self._timeout)

    async def _opened(self) -> Any:
        return self._session(WRITE_ACCESS)

    def _session(self, access: str) -> Any:
        return self._driver.session(
            database=self._database, default_access_mode=access, bookmark_manager=self._bookmarks
        )

    def _answered(self, ask: Callable[[], Awaitable[T]], timeout: float) -> T:
        async def within() -> T:
            if self._driver is None:
                self._driver = self._connected()
                # Whichever member of a cluster is asked waits for what this process has written.
                self._bookmarks = cast(Any, AsyncGraphDatabase).bookmark_manager() if self.routed else None
            return await asyncio.wait_for(ask(), timeout)

        try:
            return self._begun(within).result()
        except AuthError:
            raise ProjectionError(
                f"{self.where} does not let us in: set RECOLLECT_NEO4J_USER and RECOLLECT_NEO4J_PASSWORD."
            ) from None
        except Neo4jError as error:  # its message may hold something of a user's
            raise ProjectionError(f"{self.where} refuses: {error.code}.") from None
        except TimeoutError:
            raise ProjectionError(
                f"{self.where} gave no answer within {timeout:g} s (RECOLLECT_NEO4J_TIMEOUT)."
            ) from None
        except (DriverError, OSError) as error:
            raise ProjectionError(
                f"{self.where} cannot be reached ({type(error).__name__}): see that it runs and that "
                "RECOLLECT_NEO4J is right."
            ) from None
        except CancelledError:
            raise self._closing() from None

    def _closing(self) -> ProjectionError:
        return ProjectionError(f"{self.where} is not asked any more: this is closing.")

    def _connected(self) -> Any:
        """A driver, with its own ways of trying again switched off: whoever asks has another way."""
        return cast(Any, AsyncGraphDatabase).driver(
            self._url,
            auth=self._auth,
            connection_timeout=self._timeout,
            connection_acquisition_timeout=2 * self._timeout,
            connection_write_timeout=self._timeout,
            max_transaction_retry_time=0,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

    def _begun(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Under the lock: what is begun before `close` is ended by it, and nothing is begun after."""
        with self._lock:
            if self._closed:
                raise self._closing()
            return asyncio.run_coroutine_threadsafe(ask(), self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        """The loop; another one after a fork, which no thread survives."""
        if self._loop is None or self._process != os.getpid():
            self._process, self._driver = os.getpid(), None
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="recollect-bolt", daemon=True)
            self._thread.start()
        return self._loop

    def close(self) -> None:
        """Whoever still waits for an answer is told that there will be none."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None or self._process != os.getpid():
            return
        asyncio.run_coroutine_threadsafe(self._ended(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()

    async def _ended(self) -> None:
        """A task that the loop leaves unfinished would be waited for without end."""
        asking = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        for task in asking:
            task.cancel()
        if asking:
            await asyncio.wait(asking, timeout=self._timeout)
        driver, self._driver = self._driver, None
        if driver is not None:
            with suppress(DriverError, Neo4jError, OSError, TimeoutError):
                await asyncio.wait_for(driver.close(), self._timeout)
        await asyncio.get_running_loop().shutdown_asyncgens()


def _timed(statement: str, timeout: float) -> Any:
    """The server ends it, too."""
    return Query(cast(Any, statement), timeout=timeout)


def _checked(url: str) -> tuple[str, bool]:
    """Where it is, as it may be shown; and whether that is a cluster's address."""
    try:
        parts = urlsplit(url)
        scheme, host, named = parts.scheme, parts.hostname, "@" in parts.netloc
        place = f"{scheme}://{parts.netloc}"
        _ = parts.port
    except ValueError:
        scheme, host, named, place = "", None, False, ""
    if scheme not in SCHEMES or not host or named:
        raise SettingsError(
            "RECOLLECT_NEO4J cannot be read: give bolt://host:7687, or neo4j://host:7687 for a cluster, with "
            "+s for TLS. The name and the password go into RECOLLECT_NEO4J_USER and RECOLLECT_NEO4J_PASSWORD."
        )
    return f"Neo4j at {place}", scheme.startswith("neo4j")
