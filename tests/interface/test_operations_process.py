"""`recollect serve` as a process: how it starts, how it ends, and what it does not lose."""

import asyncio
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, Request

from recollect import Memory, Turn
from recollect.cli.frame import Here, Options
from recollect.cli.serve import announce
from recollect.ports.keys import KeyRole
from recollect.server.identity.issuing import issue
from recollect.server.serving import serving
from recollect.settings import load
from tests.interface.load import lost, writing
from tests.interface.serving import get, post, serve, started

pytestmark = pytest.mark.slow  # each starts processes

LOCAL = "local"


def stored(db: Path | str) -> list[str]:
    with Memory.open(db, embedder="hashing") as memory:
        turns = memory.scope(LOCAL).list("turn", limit=100_000)
        return [turn.content for turn in turns if isinstance(turn, Turn)]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_it_says_where_it_is_and_what_next(db: Path, tmp_path: Path) -> None:
    with started(tmp_path / "log", "--db", str(db)) as process:
        assert process.told == {
            "address": process.url,
            "db": str(db),
            "page": f"{process.url}/memory",
            "gateway": f"{process.url}/v1",
            "mcp": f"{process.url}/mcp",
            "docs": f"{process.url}/docs",
        }
        assert get(f"{process.url}/healthz").status_code == 200
        process.signal()
        assert process.wait() == 0


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_what_it_says_can_be_done_so(
    db: Path, host: str, locked: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load(db=str(db), host=host)
    announce(Here(Options()), settings, "http://127.0.0.1:7070", locked)
    said = capsys.readouterr().out
    assert ("every other address of this machine (0.0.0.0)" in said) is (host == "0.0.0.0")
    assert ('/api/v1/recall -H "Authorization: Bearer $KEY" -H' in said) is locked
    assert ("api_key=$KEY" in said) is locked
    assert "look      http://127.0.0.1:7070/memory" in said
    announce(Here(Options(quiet=True)), settings, "http://127.0.0.1:7070", locked)
    assert capsys.readouterr().out == ""


def test_an_upstream_without_a_key_is_told_once(db: Path, tmp_path: Path) -> None:
    with Memory.open(db, embedder="none") as memory:
        issue(memory.store, memory.clock, KeyRole.ADMIN)
    for processes in ("1", "2"):
        log = tmp_path / f"log{processes}"
        with started(log, "--processes", processes, "--host", "0.0.0.0", db=db) as process:
            assert get(f"{process.url}/healthz").status_code == 200
            process.signal()
            assert process.wait() == 0
        assert log.read_text().count("RECOLLECT_UPSTREAM_KEY") == 1


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_what_was_accepted_before_it_ends_is_there(db: Path, tmp_path: Path, sig: int) -> None:
    with started(tmp_path / "log", db=db) as process, writing(process.url) as load:
        load.more(20)
        process.signal(sig)
        assert process.wait() == 0
        load.join()
    assert set(load.answers) == {201}
    assert lost(load, stored(db)) == []
    assert "Traceback" not in process.log.read_text()


def test_killed_it_starts_again_with_all_it_accepted(db: Path, tmp_path: Path) -> None:
    with started(tmp_path / "log", db=db) as process, writing(process.url) as load:
        load.more(20)
        process.signal(signal.SIGKILL)
        process.wait()
        load.join()
    with started(tmp_path / "log", db=db) as process, writing(process.url) as again:
        again.more(5)
        process.signal()
        assert process.wait() == 0
    found = stored(db)
    assert all(content in found for content in (*load.accepted, *again.accepted))


def test_several_processes_share_an_address(db: Path, tmp_path: Path) -> None:
    with started(tmp_path / "log", "--processes", "2", db=db) as process, writing(process.url) as load:
        load.more(20)
        process.signal()
        assert process.wait() == 0
        load.join()
    assert set(load.answers) == {201}
    assert lost(load, stored(db)) == []
    assert "working memory of its own" in process.log.read_text()


def test_a_second_signal_ends_it_at_once(db: Path, tmp_path: Path) -> None:
    with started(tmp_path / "log", db=db, shutdown_seconds=600) as process:
        assert get(f"{process.url}/healthz").status_code == 200
        host, port = process.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as unfinished:
            head = b"POST /api/v1/turns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            unfinished.sendall(head + b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")
            assert unfinished.recv(100).startswith(b"HTTP/1.1 100")  # it waits for the body
            process.signal()
            while "Ending" not in process.log.read_text():
                assert process.running
            process.signal()
            assert process.wait() == 1


def gone(url: str) -> bool:
    try:
        return get(f"{url}/healthz").status_code != 200
    except httpx.TransportError:
        return True


def test_processes_end_with_their_parent(db: Path, tmp_path: Path) -> None:
    with started(tmp_path / "log", "--processes", "2", db=db) as process:
        url = process.url
        assert get(f"{url}/healthz").status_code == 200
        process.signal(signal.SIGKILL)
        process.wait()
    while not gone(url):  # the test's own limit of time is theirs
        pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": "many"}, "RECOLLECT_PORT is 'many', but must be a whole number"),
        ({"log_format": "xml"}, "must be one of text, json"),
        ({"host": "no.such.host.invalid"}, "RECOLLECT_HOST"),
        ({"db": "oracle://x/y"}, "There is no store for oracle"),
        ({"retention": "ttl_days=soon"}, "RECOLLECT_RETENTION"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with started(tmp_path / "log", **settings) as process:
        assert process.wait() == 1
    (line,) = process.log.read_text().splitlines()
    assert message in json.loads(line)["error"]["message"]


def test_a_port_that_is_taken_is_named(db: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started(tmp_path / "log", "--port", port, db=db) as process:
            assert process.wait() == 1
    message = json.loads(process.log.read_text())["error"]["message"]
    assert f"127.0.0.1:{port}" in message
    assert "--port" in message
    assert not db.exists()


# What is to be done after an answer


@pytest.fixture
def memory(db: Path) -> Iterator[Memory]:
    with Memory.open(db, embedder="none", shutdown_seconds=0.5) as memory:
        yield memory


router = APIRouter()


@router.post("/later")
async def later(request: Request) -> None:
    here = serving(request)

    async def work() -> None:
        for number in range(50):
            await here.run(lambda n=number: here.memory.scope(LOCAL).record("user", f"later {n}"))
        here.later(last())

    async def last() -> None:
        await here.run(lambda: here.memory.scope(LOCAL).record("user", "last"))

    here.later(work())


@router.post("/never")
async def never(request: Request) -> None:
    serving(request).later(asyncio.Event().wait())


@router.post("/wrong")
async def wrong(request: Request) -> None:
    async def work() -> None:
        raise ValueError("a secret")

    serving(request).later(work())


def test_it_ends_after_what_it_put_off(db: Path) -> None:
    with Memory.open(db, embedder="none", shutdown_seconds=60) as memory:
        with serve(memory, router) as url:
            assert post(f"{url}/later").status_code == 200
        assert len(memory.scope(LOCAL).list("turn", limit=100)) == 51


def test_but_waits_no_longer_than_it_may(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    with serve(memory, router) as url:
        post(f"{url}/never")
        post(f"{url}/wrong")
        assert get(f"{url}/healthz").status_code == 200
    assert "given up" in caplog.text
    assert any(record.exc_info and record.exc_info[0] is ValueError for record in caplog.records)


def test_the_same_setting_is_for_requests_that_hang(memory: Memory) -> None:
    hanging = APIRouter()

    @hanging.get("/hang")
    async def hang() -> None:
        await asyncio.Event().wait()

    with serve(memory, hanging) as url, httpx.Client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.get(f"{url}/hang", timeout=0.2)
        address = url.removeprefix("http://").split(":")
        open_connection = socket.create_connection((address[0], int(address[1])))
        open_connection.sendall(b"GET /hang HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    open_connection.close()
