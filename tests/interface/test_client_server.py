"""The client and a real server: together with asyncio, threads, forks, and lines that are cut."""

import asyncio
import http.client
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from recollect import AsyncClient, Client, Conflict, Invalid, Memory, NotFound, StoreUnavailable
from recollect.models.hashing import HashingEmbedder
from recollect.testing.store_samples import ManualClock
from tests.interface.serving import serve


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=HashingEmbedder(384)) as opened:
        yield opened


@pytest.fixture
def url(memory: Memory) -> Iterator[str]:
    with serve(memory) as address:
        yield address


@contextmanager
def losing(url: str, methods: tuple[str, ...], times: int) -> Iterator[tuple[str, list[str]]]:
    """A way to the server that loses the first answers to such requests; and what it has passed on."""
    passed: list[str] = []
    left = [times]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server = http.client.HTTPConnection(urlsplit(url).netloc)
            server.request(self.command, self.path, body, dict(self.headers.items()))
            answer = server.getresponse()
            content = answer.read()
            server.close()
            passed.append(self.command)
            if self.command in methods and left[0]:
                left[0] -= 1
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get_content_type())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}", passed
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


def test_a_write_whose_answer_is_lost_is_done_once(url: str) -> None:
    with (
        losing(url, ("POST", "PUT", "PATCH", "DELETE"), 100) as (way, passed),
        Client(way, sleep=lambda _: None, attempts=2) as client,
        Client(url) as straight,
    ):
        with pytest.raises(StoreUnavailable, match="broke off"):
            client.scope().record("user", "tea", conversation="c")
        assert passed == ["POST", "POST"]
        assert [turn.content for turn in straight.scope().conversation("c")] == ["tea"]


def test_what_comes_of_it_is_told_the_second_time(url: str) -> None:
    for times, write in enumerate(
        (
            lambda mine: mine.record("user", "tea", conversation="c"),
            lambda mine: mine.remember("Likes tea", about=["Ann"]),
            lambda mine: mine.remember_many(["One", "Two"]),
            lambda mine: mine.correct(mine.list("fact")[0].id, "Three"),
            lambda mine: mine.pin(mine.list("fact")[0].id),
            lambda mine: mine.add_goal("Rest"),
            lambda mine: mine.record_tool("kettle", {"on": True}),
            lambda mine: mine.update_profile(expertise=["tea"]),
            lambda mine: mine.end("c"),
            lambda mine: mine.forget(mine.list("fact")[0].id),
            lambda mine: mine.forget(conversation="c"),
        )
    ):
        with (
            losing(url, ("POST", "PUT", "PATCH", "DELETE"), 1) as (way, passed),
            Client(way, sleep=lambda _: None) as client,
        ):
            made: Any = write(client.scope())
            assert made, times
            assert len([method for method in passed if method != "GET"]) == 2, times
    with Client(url) as straight:
        counts = straight.scope().counts()
        assert (counts["goal"], counts["tool_invocation"]) == (1, 1)
        assert "turn" in counts  # the notes of what was remembered


def test_what_was_thought_is_not_sent_twice(url: str) -> None:
    with losing(url, ("POST",), 1) as (way, passed), Client(way, sleep=lambda _: None) as client:
        desk = client.scope(conversation="c").working
        with pytest.raises(StoreUnavailable):
            desk.add("thought", "tea")
        assert passed == ["POST"]
        assert len(desk.items()) == 1


def test_asyncio(url: str) -> None:
    async def within() -> None:
        async with AsyncClient(url) as memory:
            assert (await memory.whoami()).role == "local"
            derek = memory.scope(conversation="c")
            turns = await asyncio.gather(*(derek.record("user", f"tea {i}") for i in range(50)))
            assert sorted(turn.index for turn in turns) == list(range(50))
            found = await asyncio.gather(*(derek.recall(f"tea {i}", top_k=1) for i in range(50)))
            assert [one.hits[0].content for one in found] == [f"tea {i}" for i in range(50)]
            lines = [line async for line in derek.export()]
            assert (await derek.import_(lines)).unchanged == len(lines) - 1
            await derek.working.set_goal("tea")
            assert (derek.scope.conversation, await derek.working.goal) == ("c", "tea")
            with pytest.raises(Conflict):
                await derek.record("user", "else", index=0)
        with pytest.raises(StoreUnavailable, match="closed"):
            await derek.recall("tea")

    asyncio.run(within())


def test_threads_share_a_client(url: str) -> None:
    with Client(url) as client, ThreadPoolExecutor(16) as threads:
        derek = client.scope(conversation="c")
        turns = list(threads.map(lambda i: derek.record("user", f"tea {i}"), range(100)))
        assert len({turn.id for turn in turns}) == 100
        assert len(derek.conversation("c")) == 100


def test_a_fork_has_connections_of_its_own(url: str) -> None:
    code = f"""
import os
from recollect import Client
client = Client({url!r})
derek = client.scope(conversation="c")
derek.record("user", "before")
child = os.fork()
for i in range(20):
    derek.record("user", f"{{child == 0}} {{i}}")
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with Client(url) as client:
        assert len(client.scope().conversation("c")) == 41


def test_an_export_can_be_left_early_and_goes_from_server_to_server(url: str, tmp_path: Path) -> None:
    with Client(url) as client, Memory.open(tmp_path / "other.db", embedder="none") as other:
        derek = client.scope()
        derek.record_many([{"role": "user", "content": "x" * 1000} for _ in range(900)], conversation="c")
        assert "recollect" in next(iter(derek.export()))
        with serve(other) as there, Client(there) as second:
            told: list[int] = []
            assert second.scope().import_(derek.export(), told.append).counts == {
                "conversation": 1,
                "turn": 900,
            }
            assert told == sorted(told)
            assert told[-1] == 901
            assert len(told) > 10
            assert second.scope().conversation("c") == derek.conversation("c")


def test_an_import_that_is_refused_in_the_middle(url: str) -> None:
    with Client(url) as client:
        derek = client.scope()
        derek.record("user", "tea")
        header, *_ = derek.export()
        bad = ('{"kind": "galaxy", "filling": "' + "x" * 50_000 + '"}' for _ in range(2000))
        with pytest.raises(Invalid, match="Line 2"):
            derek.import_([header, *bad])


def test_the_server_ends_and_comes_back(memory: Memory) -> None:
    with serve(memory) as url:
        client = Client(url, attempts=1)
        client.scope().record("user", "tea")
    with client, pytest.raises(StoreUnavailable, match="recollect serve"):
        client.scope().record("user", "tea")


def test_operators(url: str) -> None:
    with Client(url) as client:
        assert {outcome.job for outcome in client.tend()} == {job.name for job in client.jobs()}


def test_figures(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "m.db", embedder=HashingEmbedder(384), clock=ManualClock()) as memory,
        serve(memory) as url,
        Client(url) as client,
    ):
        client.scope().record("user", "I like green tea")
        client.scope().recall("Which tea do I like?")
        found = client.figures(days=3)
        assert found["daily"]["recalls"] == found["daily"]["turns recorded"] == [0, 0, 1]
        assert [one["count"] for one in found["recall_by_day"]] == [0, 0, 1]
        assert found["recall_by_day"][-1]["p50_ms"] == found["recall"]["today"]["p50_ms"] > 0
        assert (found["rows"]["turns"], found["tend_seconds"]) == (1, 30)
        quotas = {one["quota"]: (one["most"], one["fullest"], one["near"]) for one in found["quotas"]}
        assert quotas["turn_quota"] == (1_000_000, 1, 0)
        assert quotas["channel_turn_quota"] == (0, 1, 0)
        with pytest.raises(Invalid):
            client.figures(days=0)


def test_another_users_memory_is_not_there(url: str) -> None:
    with Client(url) as client:
        assert client.scope("local").counts() == {}
        with pytest.raises(NotFound):
            client.scope("local").get("nothing")
