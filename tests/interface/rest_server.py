"""A server for tests of REST, over real connections. Who calls is said by a header, in place of a key."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from fastapi import Request

from recollect import Memory
from recollect.server import scope
from recollect.server.app import create_app
from recollect.server.identity.caller import Caller


def by_header(request: Request) -> Caller:
    """Everybody is who they say, as the role they say."""
    role: Any = request.headers.get("x-role", "user")
    return Caller(role, None if role == "admin" else request.headers.get("x-user", "derek"))


def local() -> Caller:
    """Everybody is the one user of this machine."""
    return Caller("local", "local")


@contextmanager
def serve(memory: Memory, caller: Callable[..., Caller] = by_header) -> Iterator[str]:
    """The address of a server for this memory."""
    app = create_app(memory)
    app.dependency_overrides[scope.caller] = caller
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, name="served")
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def client(url: str, user: str = "derek", **headers: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"x-user": user, **headers}, timeout=30)
