"""A gateway over a real connection, before the scripted upstream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import openai
from fastapi import APIRouter, FastAPI

from recollect import Memory, ScopedMemory
from recollect.model.records import Response, Turn
from recollect.testing.openai_server import OpenAIServer, Request
from tests.interface.serving import Served, served


def echoing() -> OpenAIServer:
    """An upstream that says what it was told."""
    return OpenAIServer(chat=lambda body: f"You said {body['messages'][-1]['content']}")


@dataclass
class Gateway:
    served: Served
    memory: Memory
    upstream: OpenAIServer

    def __post_init__(self) -> None:
        self.http = self.with_key(None)
        """Of whoever is on this machine; with keys, of nobody."""

    @property
    def url(self) -> str:
        return f"{self.served.url}/v1"

    def sdk(self, key: str = "sk-theirs", **more: Any) -> openai.OpenAI:
        """The official SDK with this key, closed with the gateway."""
        return self.served.closing.enter_context(
            openai.OpenAI(base_url=self.url, api_key=key, max_retries=0, **more)
        )

    def sdk_of(self, user: str) -> openai.OpenAI:
        return self.sdk(self.served.issue(owner=user).key)

    def of(self, user: str) -> httpx.Client:
        """The client of a user with a key of their own."""
        return self.with_key(self.served.issue(owner=user).key)

    def service(self, user: str | None = None) -> httpx.Client:
        """The client of a service that acts for a user, or does not say for whom."""
        acting = {"X-Recollect-User": user} if user else {}
        return self.with_key(self.served.issue("service").key, **acting)

    def with_key(self, key: str | None, **headers: str) -> httpx.Client:
        client = self.served.client(key, **headers)
        client.base_url = self.url
        return client

    @property
    def ann(self) -> ScopedMemory:
        return self.memory.scope("local")

    def settle(self) -> None:
        """Wait until what was answered is recorded."""
        state = self.served.app.state
        asyncio.run_coroutine_threadsafe(state.serving.finish(30), state.loop).result(30)

    def turns(self, user: str = "local") -> list[tuple[str, str]]:
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


async def _at_once(seconds: float) -> None:
    """In place of a pause: there is no other process to wait for."""


@contextmanager
def gateway(
    memory: Memory,
    upstream: OpenAIServer,
    *,
    keyed: bool = False,
    pause: Callable[[float], Awaitable[None]] = _at_once,
) -> Iterator[Gateway]:
    """A gateway of somebody's own machine; `keyed`: one that many use, each with a key. `pause` is done where
    it would wait for what another process records."""

    @asynccontextmanager
    async def noting(app: FastAPI) -> AsyncGenerator[None]:
        app.state.loop = asyncio.get_running_loop()
        app.state.afterwards.pause = pause
        yield

    with served(memory, APIRouter(lifespan=noting), keyed=keyed) as server:
        yield Gateway(server, memory, upstream)
