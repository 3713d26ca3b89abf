"""MCP over standard input and output: one client, for as long as it keeps its end open."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from recollect.server.mcp.protocol import Seat, server
from recollect.server.mcp.toolkit import Seen

STANDARD_INPUT = 0
READ = 64 * 1024
"""Bytes that are passed on at a time."""


def run(seen: Seen) -> None:
    """Speak the protocol until the client closes its end, or a signal comes; what was begun by then is
    finished. Whatever else is printed meanwhile goes to standard error."""
    with _input() as received:
        anyio.run(_speak, server(Seat(seen, _in_thread)), received)


async def _speak(made: Any, received: int) -> None:
    with open(received, encoding="utf-8", errors="replace") as lines:
        async with stdio_server(stdin=anyio.wrap_file(lines)) as (read, write):
            await made.run(read, write, made.create_initialization_options())


async def _in_thread(work: Any, asks: bool) -> Any:
    return await anyio.to_thread.run_sync(work)


@contextmanager
def _input() -> Generator[int]:
    """Where standard input comes out. Nobody can be woken who waits for it, so it goes through a pipe, which
    a signal closes as the client would."""
    received, sent = os.pipe()
    closed = threading.Event()

    def close() -> None:
        if not closed.is_set():
            closed.set()
            os.close(sent)

    def pass_on() -> None:
        with suppress(OSError):  # closed by a signal meanwhile
            while chunk := os.read(STANDARD_INPUT, READ):
                os.write(sent, chunk)
        close()

    with ExitStack() as stack:
        for sig in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, sig, signal.signal(sig, lambda sig, frame: close()))
        threading.Thread(target=pass_on, name="recollect-input", daemon=True).start()
        yield received
