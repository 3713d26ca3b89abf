"""Tools of MCP servers. Calls block, as those of any tool; the connections live in a thread of their own,
because the SDK speaks asyncio. Whatever a server does, it becomes an error of one call and no more."""

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recollect.addresses import shown
from recollect.agent.connecting import client_of, text_of
from recollect.agent.servers import McpServer, servers_of
from recollect.agent.tools import Tool
from recollect.errors import Invalid, RecollectError, SettingsError
from recollect.limits import check_json
from recollect.ports.ending import ENDING
from recollect.settings import Settings

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool as Listed

T = TypeVar("T")
log = logging.getLogger("recollect.agent")

NAME_LIMIT = 64
"""The most characters that models take in the name of a tool."""
WHY_LIMIT = 200
"""The most characters of what somebody else's error says."""
_ADDRESS = re.compile(r"https?://[^\s'\"]+")
_ODD = re.compile(r"[^A-Za-z0-9_-]")
NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server may take of us."""

    seconds: float = 30.0
    """How long a call, or connecting and listing, may take."""
    closing_seconds: float = 10.0
    """How long a server may take to end."""
    answer: int = 1024 * 1024
    """The most characters of an answer."""
    tools: int = 128
    """The most tools of one server; others are left out."""
    schema: int = 32 * 1024
    """The most characters of a tool's schema, as JSON; one with more is left out."""
    description: int = 4 * 1024
    """The most characters of a tool's description; the rest is cut off."""

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            seconds=settings.agent_tool_seconds,
            answer=settings.agent_mcp_limit,
            tools=settings.agent_mcp_tools,
        )


@contextmanager
def mcp_tools(
    servers: str | Iterable[str | McpServer], limits: Limits | None = None
) -> Generator[list[Tool]]:
    """The tools of MCP servers, as long as this is open; a server that cannot be reached at the beginning is
    a `SettingsError`. `servers` are commands, URLs, or files with `mcpServers` in them; the tools of each
    are a group by its name."""
    known = [one for given in _each(servers) for one in _servers(given)]
    limits = limits or Limits()
    if not known:
        yield []
        return
    with _Loop() as loop:
        remotes = [_Remote(server, limits, loop) for server in known]
        try:
            yield distinct(tool for remote in remotes for tool in remote.tools())
        finally:
            closing = loop.start(_closed(remotes))
            try:
                closing.result(limits.closing_seconds)
            except TimeoutError:
                log.warning("MCP servers did not end within %g seconds.", limits.closing_seconds)


def _each(servers: str | Iterable[str | McpServer]) -> Iterable[str | McpServer]:
    return (servers,) if isinstance(servers, str) else servers


def _servers(given: str | McpServer) -> Sequence[McpServer]:
    return (given,) if isinstance(given, McpServer) else servers_of(given)


def distinct(tools: Iterable[Tool]) -> list[Tool]:
    """Tools with names that models take and that no two have."""
    found: dict[str, Tool] = {}
    for tool in tools:
        plain = _ODD.sub("_", tool.name)[:NAME_LIMIT] or "tool"
        name, number = plain, 1
        while name in found:
            number += 1
            name = f"{plain[: NAME_LIMIT - len(str(number)) - 1]}_{number}"
        found[name] = replace(tool, name=name)
    return list(found.values())


async def _closed(remotes: "Sequence[_Remote]") -> None:
    await asyncio.gather(*(remote.close() for remote in remotes))


class _Loop:
    """An event loop in a thread of its own, to which blocking code gives work."""

    def __enter__(self) -> "_Loop":
        # Without a handler the SDK's complaints would be printed, with what a server said in them.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recollect-mcp", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._loop.is_closed():
            work.close()
            raise RecollectError("The connections to MCP servers are closed; so are their tools.")
        return asyncio.run_coroutine_threadsafe(work, self._loop)


class _Connection:
    """One connection: opened and closed by one task, as the SDK wants it. Once retired it ends with the last
    call that is under way on it."""

    def __init__(self, server: McpServer, limits: Limits) -> None:
        import anyio

        self._scope = anyio.CancelScope()  # cancelling the task itself would leave a process behind
        self.opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._calls = 0
        self._retired = False
        self.task = asyncio.create_task(self._hold(server, limits))

    async def _hold(self, server: McpServer, limits: Limits) -> None:
        try:
            with self._scope:
                async with client_of(server, limits.seconds, limits.answer) as client:
                    self.opened.set_result(client)
                    await self._over.wait()
            if not self.opened.done():
                raise RecollectError("It was given up.")
        except BaseException as error:  # noqa: BLE001 - of whoever waits for it, or of nobody
            if not self.opened.done():
                self.opened.set_exception(RecollectError(why(error)))
                self.opened.exception()  # seen, should nobody wait any more

    def __enter__(self) -> None:
        self._calls += 1

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        self._end()

    def retire(self) -> None:
        self._retired = True
        self._end()

    @property
    def alive(self) -> bool:
        return not self._retired and not self.task.done()

    def _end(self) -> None:
        if self._retired and not self._calls:
            self._over.set()
            if not self.opened.done():
                self.cancel()

    def cancel(self) -> None:
        self._scope.cancel()


class _Remote:
    """A server and the connection to it, which is made again after it failed."""

    def __init__(self, server: McpServer, limits: Limits, loop: _Loop) -> None:
        self._server = server
        self._limits = limits
        self._loop = loop
        self._connection: _Connection | None = None
        self._all: set[_Connection] = set()

    def tools(self) -> list[Tool]:
        try:
            listed = self._wait(self._listed)
        except RecollectError as error:
            raise SettingsError(f"{error} Check that it runs by itself, and what it was given.") from None
        if len(listed) > self._limits.tools:
            log.warning("An MCP server has more than %d tools; the others are left out.", self._limits.tools)
        return [tool for one in listed[: self._limits.tools] if (tool := self._tool(one)) is not None]

    def _tool(self, listed: "Listed") -> Tool | None:
        name, parameters = listed.name, listed.input_schema or NO_ARGUMENTS
        try:
            check_json("schema of a tool", parameters, self._limits.schema, "the limit of MCP tools")
        except Invalid as error:
            log.warning("A tool of an MCP server is left out: %s", error)
            return None
        description = (listed.description or "")[: self._limits.description]

        def call(given: Mapping[str, Any]) -> str:
            return self._wait(lambda: self._call(name, given))

        return Tool(name, description, parameters, call, groups=(self._server.name,))

    def _wait(self, work: Callable[[], Awaitable[T]]) -> T:
        limits = self._limits
        future = self._loop.start(self._in_time(work))
        if ending := ENDING.get():  # a question that is cancelled does not leave its calls to the server
            ending.then(future.cancel)
        try:  # the loop keeps the time; should it be held up itself, nobody waits for that either
            return future.result(limits.seconds + limits.closing_seconds)
        except TimeoutError:
            raise self._failed("does not answer") from None
        finally:
            future.cancel()

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await work()
        except TimeoutError:
            raise self._failed(f"did not answer within {self._limits.seconds:g} seconds") from None

    async def _listed(self) -> "list[Listed]":
        """Its tools, page by page, up to one more than are wanted."""
        connection = self._connected()
        client = await self._client(connection)
        found: list[Listed] = []
        cursor: str | None = None
        with connection, self._told(connection):
            while len(found) <= self._limits.tools:
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                found += page.tools
                cursor = page.next_cursor
                if cursor is None or not page.tools:
                    break
        return found

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        connection = self._connected()
        client = await self._client(connection)
        with connection, self._told(connection):
            result = await client.call_tool(name, dict(arguments))
        text = text_of(result)
        if len(text) > self._limits.answer:
            raise self._failed(
                f"answered with {len(text):,} characters, more than the {self._limits.answer:,} it may"
            )
        if result.is_error:
            raise RecollectError(text or "The tool failed and does not say why.")
        return text

    def _connected(self) -> _Connection:
        if self._connection is None or not self._connection.alive:
            self._connection = _Connection(self._server, self._limits)
            self._all = {one for one in self._all if not one.task.done()} | {self._connection}
        return self._connection

    async def _client(self, connection: _Connection) -> "Client":
        try:
            return await asyncio.shield(connection.opened)
        except RecollectError as error:
            raise self._failed(f"cannot be reached: {error}") from None
        except asyncio.CancelledError:
            connection.retire()
            raise

    @contextmanager
    def _told(self, connection: _Connection) -> Generator[None]:
        """What goes wrong on the way, in our words; the next call gets a new connection."""
        try:
            yield
        except asyncio.CancelledError:
            connection.retire()
            raise
        except Exception as error:
            connection.retire()
            raise self._failed(f"gave no answer: {why(error)}") from error

    def _failed(self, what: str) -> RecollectError:
        return RecollectError(f"The MCP server {self._server.name!r} {what.rstrip('.')}.")

    async def close(self) -> None:
        for connection in self._all:
            connection.retire()
        tasks = [connection.task for connection in self._all]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._limits.closing_seconds / 2)
            for connection in self._all:
                connection.cancel()
            if late:
                await asyncio.wait(late, timeout=self._limits.closing_seconds / 4)


def why(error: BaseException) -> str:
    """What happened, short; several errors at once, as task groups have them, are told by the first."""
    if isinstance(error, RecollectError):
        return str(error)
    if isinstance(error, BaseExceptionGroup):
        return why(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    # The SDK's errors quote the address they failed at, in which people put passwords and keys.
    text = _ADDRESS.sub(lambda found: shown(found[0]), " ".join(str(error).split()))[:WHY_LIMIT]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
