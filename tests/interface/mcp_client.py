"""The SDK's own client, over both transports, for tests that are not asynchronous themselves."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")

ERAS = ("auto", "legacy")
"""How a client begins: as the newest protocol has it, or with the handshake of the ones before."""
WAIT = 60.0
"""Seconds after which a test gives up."""


@asynccontextmanager
async def over_http(
    url: str, key: str | None = None, era: str = "auto", query: str = "", **headers: str
) -> AsyncIterator[Client]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers={**bearer, **sent}, timeout=WAIT) as http:
        transport = streamable_http_client(f"{url}/mcp{query}", http_client=http)
        async with Client(transport, mode=era, read_timeout_seconds=WAIT) as client:
            yield client


@asynccontextmanager
async def over_stdio(
    database: Path | str, *words: str, era: str = "auto", **settings: Any
) -> AsyncIterator[Client]:
    async with Client(command(database, *words, **settings), mode=era, read_timeout_seconds=WAIT) as client:
        yield client


def command(database: Path | str, *words: str, **settings: Any) -> StdioServerParameters:
    given = {f"RECOLLECT_{name.upper()}": str(value) for name, value in settings.items()}
    env = {**os.environ, "RECOLLECT_DB": str(database), "RECOLLECT_EMBEDDER": "hashing", **given}
    return StdioServerParameters(command=sys.executable, args=["-m", "recollect", "mcp", *words], env=env)


def within(opened: Any, work: Callable[[Client], Awaitable[T]]) -> T:
    """What the work gives with a client that is open meanwhile."""

    async def run() -> T:
        async with asyncio.timeout(WAIT * 2), opened as client:
            return await work(client)

    return asyncio.run(run())


async def told(client: Client, tool: str, **given: Any) -> Any:
    """The data of a tool's answer, which its text tells as well."""
    result = await client.call_tool(tool, given)
    assert not result.is_error, result
    assert result.content[0].text  # type: ignore[union-attr]
    return result.structured_content


async def text(client: Client, tool: str, **given: Any) -> str:
    result = await client.call_tool(tool, given)
    assert not result.is_error, result
    return result.content[0].text  # type: ignore[union-attr]


async def refused(client: Client, tool: str, **given: Any) -> str:
    """What the model is told of a call that cannot be done."""
    result = await client.call_tool(tool, given)
    assert result.is_error, result
    return result.content[0].text  # type: ignore[union-attr]
