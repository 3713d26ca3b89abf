"""The log: a line for each request and each failure, with nothing in it that anybody said."""

import io
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import APIRouter
from starlette.middleware import Middleware
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect import Memory, StoreUnavailable
from recollect.server import logs
from recollect.server.app import create_app
from recollect.settings import load
from tests.interface.serving import get, serve

router = APIRouter()
SECRET = "my budget is $10,000"


@router.get("/things/{id:path}")
async def thing(id: str) -> dict[str, str]:
    return {"id": id}


@router.get("/broken")
async def broken() -> None:
    raise ValueError(SECRET)


@router.get("/down")
async def down() -> None:
    raise StoreUnavailable("The database is gone.")


@router.get("/torn")
async def torn() -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        yield b"half"
        raise ValueError(SECRET)

    return StreamingResponse(parts())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        yield memory


@pytest.fixture
def logged() -> Iterator[Callable[..., io.StringIO]]:
    """Logs as the server does from when it is called; afterwards all is as before."""
    names = ["", "recollect", *logs.LOUD]
    before = {name: (list((one := logging.getLogger(name)).handlers), one.level) for name in names}

    def install(**settings: str) -> io.StringIO:
        stream = io.StringIO()
        logs.install(load({}, **settings), stream)
        return stream

    yield install
    for name, (handlers, level) in before.items():
        logging.getLogger(name).handlers[:] = handlers
        logging.getLogger(name).setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_request_is_a_line(memory: Memory, logged: Callable[..., io.StringIO]) -> None:
    stream = logged(log_format="json")
    with serve(memory, router) as url:
        answer = get(f"{url}/things/{SECRET}?q={SECRET}", headers={"X-Request-Id": "abc-1.2"})
        assert answer.status_code == 200
    assert answer.headers["x-request-id"] == "abc-1.2"
    (line,) = [line for line in lines(stream) if line["logger"] == "recollect.access"]
    assert line.pop("ms") >= 0
    assert line.pop("at").endswith("+00:00")
    assert line.pop("key") in {"-", "local"}  # nobody, where nobody has to say who they are
    assert line == {
        "level": "info",
        "logger": "recollect.access",
        "message": "request",
        "method": "GET",
        "route": "/things/{id}",
        "status": 200,
        "request": "abc-1.2",
    }
    assert "10,000" not in stream.getvalue()


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore.http11", "httpcore2.http11", "mcp.client"])
def test_clients_of_ours_tell_no_address(logged: Callable[..., io.StringIO], name: str) -> None:
    stream = logged(log_level="debug")
    logging.getLogger(name).info("HTTP Request: POST https://me:%s@model.test/v1", SECRET)
    assert stream.getvalue() == ""


def test_the_route_is_known_whatever_was_made_of_the_request(memory: Memory) -> None:
    class Copying:
        def __init__(self, app: ASGIApp) -> None:
            self._app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await self._app({**scope}, receive, send)

    app = create_app(memory)
    app.include_router(router)
    app.user_middleware.insert(1, Middleware(Copying))
    with TestClient(app, "http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        client.get("/things/1")
        assert 'route="/things/{id}"' in client.get("/metrics").text


@pytest.mark.parametrize("given", ["a b", "x" * 129, "ü", "a\tb", ""])
def test_a_request_id_that_is_none_is_replaced(memory: Memory, given: str) -> None:
    with serve(memory) as url:
        answer = get(f"{url}/healthz", headers={b"X-Request-Id": given.encode()})
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.headers["x-request-id"] != given


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_fails_is_told_without_what_it_was_about(
    memory: Memory, logged: Callable[..., io.StringIO], log_format: str
) -> None:
    stream = logged(log_format=log_format)
    with serve(memory, router) as url:
        answer = get(f"{url}/broken")
        assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
        assert "x-request-id" in answer.headers
        down = get(f"{url}/down")
        assert (down.status_code, down.json()["error"]) == (503, "StoreUnavailable")
        assert "gone" not in down.text  # that is for whoever runs the server
        with pytest.raises(httpx.RemoteProtocolError):
            get(f"{url}/torn")
    told = stream.getvalue()
    assert "The database is gone." in told
    assert SECRET not in told
    assert "ValueError" in told
    assert "test_operations_logs.py" in told
    assert SECRET not in answer.text


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_nobody_writes_a_line_of_their_own(logged: Callable[..., io.StringIO], log_format: str) -> None:
    stream = logged(log_format=log_format)
    evil = "x\r\n2026-01-01 INFO forged\x1b[2J\u2028\u202e\x85\x00"
    log = logging.getLogger("recollect.server")
    log.warning("A name: %s", evil)
    try:
        raise StoreUnavailable(evil)
    except StoreUnavailable:
        log.exception("%s", evil, extra={logs.FIELDS: {"key": evil}})
    written = stream.getvalue()
    assert len(written.splitlines()) == 2
    assert not set(evil) & set(written.replace("\n", "")) - set(map(chr, range(32, 127)))
    if log_format == "json":
        assert lines(stream)[0]["message"] == f"A name: {evil}"


def test_probes_are_not_told_unless_asked_for(memory: Memory, logged: Callable[..., io.StringIO]) -> None:
    with serve(memory) as url:
        quiet = logged(log_format="json")
        get(f"{url}/healthz")
        loud = logged(log_format="json", log_level="debug")
        get(f"{url}/healthz")
    assert "healthz" not in quiet.getvalue()
    assert "healthz" in loud.getvalue()


def raw(url: str, sent: bytes) -> bytes:
    """What comes back for these bytes until the other side closes."""
    with socket.create_connection((urlsplit(url).hostname or "", urlsplit(url).port or 0)) as connection:
        connection.settimeout(60)
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has had enough already
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
        return answer


def test_hostile_bytes_reach_neither_log_nor_answer(
    memory: Memory, logged: Callable[..., io.StringIO]
) -> None:
    stream = logged(log_format="text")
    with serve(memory, router) as url:
        raw(url, b"GET /things/%0d%0aforged%1b[2J HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        raw(url, b"\x16\x03\x01 GET \x1b[2J\r\n\r\n")
        raw(url, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: a\x1b[2J\r\nConnection: close\r\n\r\n")
        assert get(f"{url}/healthz").status_code == 200
    assert "forged" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_a_head_without_end_is_refused(memory: Memory) -> None:
    with serve(memory) as url:
        answer = raw(url, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"a" * 2_000_000)
        assert answer == b"" or b" 431 " in answer.splitlines()[0]
        many = b"".join(b"X-%d: 1\r\n" % number for number in range(100_000))
        answer = raw(url, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + many)
        assert b" 200 " not in answer
        assert get(f"{url}/healthz").status_code == 200
