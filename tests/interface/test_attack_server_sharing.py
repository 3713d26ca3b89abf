"""One user, or one client, who takes all there is: the others are served."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from recollect import Memory
from recollect.ports.keys import KeyRole
from recollect.server import protocol
from recollect.server.answers import answer
from recollect.server.identity.issuing import issue
from recollect.server.serving import serving
from tests.interface.serving import serve

THREADS = 4
PATIENCE = 60


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    given = {"server_threads": THREADS, "shutdown_seconds": 0.5}
    with Memory.open(tmp_path / "memory.db", embedder="hashing", **given) as memory:
        yield memory


def key_of(memory: Memory, user: str) -> dict[str, str]:
    issued = issue(memory.store, memory.clock, KeyRole.USER, owner=user)
    return {"Authorization": f"Bearer {issued.key}"}


class Blocking:
    """A route whose work ends when the test says so."""

    def __init__(self) -> None:
        self.router = APIRouter()
        self.end = threading.Event()
        self.began = threading.Semaphore(0)
        self.router.add_api_route("/api/v1/blocking", self.work)

    async def work(self, request: Request) -> Response:
        def blocked() -> None:
            self.began.release()
            self.end.wait(PATIENCE)

        await serving(request).run(blocked)
        return answer({})


def test_one_user_leaves_threads_to_others(memory: Memory) -> None:
    ana, ben, route = key_of(memory, "ana"), key_of(memory, "ben"), Blocking()
    answered: list[int] = []
    with serve(memory, route.router) as url:

        def ask() -> None:
            found = httpx.get(f"{url}/api/v1/blocking", headers=ana, timeout=2 * PATIENCE)
            answered.append(found.status_code)

        asking = [threading.Thread(target=ask) for _ in range(3 * THREADS)]
        for thread in asking:
            thread.start()
        for _ in range(THREADS // 2):
            assert route.began.acquire(timeout=PATIENCE)
        assert httpx.get(f"{url}/api/v1/facts", headers=ben, timeout=PATIENCE / 2).status_code == 200
        route.end.set()
        for thread in asking:
            thread.join()
    assert answered == [200] * len(asking)


def test_who_is_gone_has_the_thread_that_still_works(tmp_path: Path) -> None:
    """Else whoever breaks off again and again would have them all."""
    given = {"server_threads": THREADS, "shutdown_seconds": 0.5, "request_seconds": 0.3}
    with Memory.open(tmp_path / "memory.db", embedder="hashing", **given) as memory:
        ana, ben, route = key_of(memory, "ana"), key_of(memory, "ben"), Blocking()
        with serve(memory, route.router) as url:
            for _ in range(2 * THREADS):
                given_up = httpx.get(f"{url}/api/v1/blocking", headers=ana, timeout=PATIENCE)
                assert given_up.status_code == 503

            def finds(who: dict[str, str]) -> bool:
                return httpx.get(f"{url}/api/v1/facts", headers=who, timeout=PATIENCE).status_code == 200

            assert any(finds(ben) for _ in range(20))  # one may be slower than a request may be
            route.end.set()
            while not finds(ana):
                pass


def test_an_answer_that_nobody_reads_is_given_up(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "READ_SECONDS", 0.3)
    router, ended = APIRouter(), threading.Event()

    @router.get("/api/v1/endless")
    async def endless() -> Response:
        async def parts() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield bytes(65536)
                    await asyncio.sleep(0)
            finally:
                ended.set()

        return StreamingResponse(parts())

    with serve(memory, router) as url, socket.socket() as connection:
        connection.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        connection.sendall(b"GET /api/v1/endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert ended.wait(PATIENCE)


def test_a_server_with_too_many_connections_lives(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "memory.db", embedder="hashing", connections=5) as memory,
        serve(memory) as url,
        ExitStack() as stack,
    ):
        port = int(url.rpartition(":")[2])
        for _ in range(8):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
        assert httpx.get(f"{url}/api/v1/whoami", timeout=PATIENCE).status_code == 503
        assert httpx.get(f"{url}/healthz", timeout=PATIENCE).status_code == 200
