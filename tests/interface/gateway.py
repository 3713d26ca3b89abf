"""A gateway over a real connection, before the scripted upstream."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import openai
import uvicorn

from recollect import Memory, ScopedMemory
from recollect.model.records import Response, Turn
from recollect.server.app import create_app
from recollect.server.identity.caller import Caller
from recollect.testing.openai_server import OpenAIServer, Request

LOCAL = Caller("local", "local")


@dataclass
class Gateway:
    base: str
    memory: Memory
    upstream: OpenAIServer
    app: Any
    http: httpx.Client
    closing: contextlib.ExitStack

    @property
    def url(self) -> str:
        return f"{self.base}/v1"

    def client(self, key: str = "sk-theirs") -> openai.OpenAI:
        """The official SDK, closed with the gateway."""
        return self.closing.enter_context(openai.OpenAI(base_url=self.url, api_key=key, max_retries=0))

    @property
    def ann(self) -> ScopedMemory:
        return self.memory.scope("local")

    def settle(self) -> None:
        """Wait until what was answered is recorded."""
        import asyncio

        loop: asyncio.AbstractEventLoop = self.app.state.loop
        asyncio.run_coroutine_threadsafe(self.app.state.afterwards.settled(), loop).result(30)

    def turns(self, user: str = "local") -> list[tuple[str, str]]:
        self.settle()
        return [(turn.role.value, turn.content) for turn in self.raw_turns(user)]

    def raw_turns(self, user: str = "local") -> list[Turn]:
        self.settle()
        found = [*self.memory.store.user(user).find(Turn)]
        return sorted(found, key=lambda turn: (turn.conversation, turn.index))

    def responses(self, user: str = "local") -> list[Response]:
        self.settle()
        return [*self.memory.store.user(user).find(Response)]

    @property
    def asked(self) -> list[Request]:
        return self.upstream.requests


def known_by(callers: dict[str, Caller]) -> Any:
    """Says who is calling by their Authorization."""

    def wrapped(app: Any) -> Any:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                import asyncio

                scope["app"].state.loop = asyncio.get_running_loop()
            else:
                key = dict(scope["headers"]).get(b"authorization", b"").decode()
                scope.setdefault("state", {})["caller"] = callers.get(key.removeprefix("Bearer "), LOCAL)
            await app(scope, receive, send)

        return call

    return wrapped


@contextlib.contextmanager
def gateway(
    memory: Memory, upstream: OpenAIServer, callers: dict[str, Caller] | None = None
) -> Iterator[Gateway]:
    app = create_app(memory)
    app.add_middleware(known_by(callers or {}))
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", timeout_graceful_shutdown=20)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        base = f"http://127.0.0.1:{port}"
        with contextlib.ExitStack() as closing:
            http = closing.enter_context(httpx.Client(base_url=f"{base}/v1", timeout=30))
            yield Gateway(base, memory, upstream, app, http, closing)
    finally:
        server.should_exit = True
        thread.join()
