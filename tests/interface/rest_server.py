"""A server for tests of REST, over real connections. Who calls is said by a header, in place of a key."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import uvicorn
from starlette.requests import HTTPConnection

from recollect import Memory
from recollect.server.app import create_app
from recollect.server.identity.caller import Caller


@dataclass(frozen=True)
class HeaderGate:
    """Everybody is who they say, as the role they say."""

    def caller(self, connection: HTTPConnection) -> Caller:
        role: Any = connection.headers.get("x-role", "user")
        return Caller(role, None if role == "admin" else connection.headers.get("x-user", "derek"))


GATE = HeaderGate()


@contextmanager
def serve(memory: Memory, gate: Any = GATE) -> Iterator[str]:
    """The address of a server for this memory; without a gate of the test's, the server's own is at work."""
    app = create_app(memory)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, name="served")
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.005)
    if gate is not None:
        app.state.serving = replace(app.state.serving, gate=gate)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def client(url: str, user: str = "derek", **headers: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"x-user": user, **headers}, timeout=30)
