"""MCP over standard input and output: one client, for as long as it keeps its end open."""

from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from recollect.server.mcp.protocol import Seat, server
from recollect.server.mcp.toolkit import Seen


def run(seen: Seen) -> None:
    """Speak the protocol until the client closes its end; what was begun by then is finished. Whatever else
    is printed meanwhile goes to standard error."""
    anyio.run(_speak, server(Seat(seen, _in_thread)))


async def _in_thread(work: Any, asks: bool) -> Any:
    return await anyio.to_thread.run_sync(work)


async def _speak(made: Any) -> None:
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())
