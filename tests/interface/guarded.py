"""A server on a port of its own, with keys for everybody, for tests of who may do what."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import APIRouter, Body, FastAPI, Request

from recollect import Memory
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.keys import KeyRole
from recollect.server.answers import answer
from recollect.server.app import create_app
from recollect.server.identity.entry import Operator
from recollect.server.identity.issuing import Issued, issue
from recollect.server.scope import Scoped
from recollect.server.serving import serving

WAIT = 10.0
"""Seconds after which a test gives up."""


@dataclass
class Guarded:
    memory: Memory
    app: FastAPI
    port: int
    clients: list[httpx.Client] = field(default_factory=list[httpx.Client])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def issue(self, role: str = "user", owner: str | None = None, **more: Any) -> Issued:
        return issue(self.memory.store, self.memory.clock, KeyRole(role), owner=owner, **more)

    def client(self, key: str | None = None, **headers: Any) -> httpx.Client:
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        client = httpx.Client(base_url=self.url, headers={**bearer, **headers}, timeout=WAIT)
        self.clients.append(client)
        return client

    def of(self, user: str) -> httpx.Client:
        """The client of a user with a key of their own."""
        return self.client(self.issue(owner=user).key)

    def raw(self, *parts: bytes) -> tuple[int, dict[str, str], bytes]:
        """What comes back for bytes that no client would send: status, headers, body."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as connection:
            for part in parts:
                connection.sendall(part)
            received = b""
            while chunk := _received(connection):
                received += chunk
                head, end, body = received.partition(b"\r\n\r\n")
                if end and len(body) >= _length(head):
                    break
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, body


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""


def _length(head: bytes) -> float:
    lines = head.lower().split(b"\r\n")
    return next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), float("inf"))


@contextmanager
def guarded(
    folder: Path, clock: Clock | None = None, http: str = "httptools", **settings: Any
) -> Iterator[Guarded]:
    """A server on a database in this folder; with `keys`, it has one, so that keys are asked for."""
    keyed = settings.pop("keyed", True)
    database = folder / "memory.db"
    with Memory.open(database, embedder="hashing", clock=clock or SystemClock(), **settings) as memory:
        if keyed:
            issue(memory.store, memory.clock, KeyRole.ADMIN, name="first")
        app = create_app(memory)
        stand_in(app)
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", http=http, proxy_headers=False, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        served = Guarded(memory, app, listening.getsockname()[1])
        try:
            yield served
        finally:
            for client in served.clients:
                client.close()
            server.should_exit = True
            thread.join()


router = APIRouter()


@router.get("/api/v1/whoami")
async def whoami(request: Request) -> Any:
    return answer({"user": request.state.caller.user, "role": request.state.caller.role})


@router.post("/api/v1/memories")
async def remember(request: Request, scoped: Scoped, given: dict[str, Any] = Body()) -> Any:  # noqa: B008
    return answer({"memories": await serving(request).run(lambda: scoped.remember_many(given["items"]))}, 201)


@router.get("/api/v1/records/{id}")
async def get(request: Request, scoped: Scoped, id: str) -> Any:
    return answer(await serving(request).run(lambda: scoped.get(id)))


@router.post("/api/v1/recall")
async def recall(request: Request, scoped: Scoped, given: dict[str, Any] = Body()) -> Any:  # noqa: B008
    return answer(await serving(request).run(lambda: scoped.recall(given["query"])))


@router.post("/api/v1/import")
async def take_in(request: Request, scoped: Scoped) -> Any:
    body = b"".join([part async for part in request.stream()])
    lines = body.decode().splitlines()
    return answer(await serving(request).run(lambda: scoped.import_(lines)))


@router.get("/metrics")
async def metrics(request: Request, _: Operator) -> Any:
    return answer(await serving(request).run(serving(request).memory.metrics))


@router.get("/healthz")
async def healthz() -> Any:
    return answer({})


def stand_in(app: FastAPI) -> None:
    """Routes that this server does not have."""
    known = {(path, method) for path, methods in _paths(app) for method in methods}
    for route in router.routes:
        path, methods = route.path, route.methods  # type: ignore[attr-defined]
        if not {(path, method) for method in methods} & known:
            app.router.routes.append(route)


def _paths(app: FastAPI) -> list[tuple[str, list[str]]]:
    return [(path, [m.upper() for m in found]) for path, found in app.openapi()["paths"].items()]


def remembered(client: httpx.Client, content: str, **params: Any) -> str:
    """The id of a memory that is now stored."""
    answered = client.post("/api/v1/memories", json={"items": [{"content": content}]}, params=params)
    assert answered.status_code == 201, answered.text
    return answered.json()["memories"][0]["id"]


def problem(answered: httpx.Response, status: int) -> str:
    """What a refusal says; every one has the same shape."""
    assert answered.status_code == status, answered.text
    assert answered.headers["content-type"] == "application/problem+json"
    told = json.loads(answered.text)
    assert told["status"] == status
    assert told["title"]
    return told["detail"]
