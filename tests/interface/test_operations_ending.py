"""A server that is to end has one time for all that it finishes; what takes longer is given up."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, Request

from recollect import Memory, Turn
from recollect.server import running
from recollect.server.serving import Serving, serving
from recollect.testing.openai_answers import events
from recollect.testing.openai_server import Feed, Hang, OpenAIServer
from tests.interface.gateway import gateway
from tests.interface.serving import post, serve, started

LONG = 60.0
"""Seconds after which what would go on for ever is let go, so that a test fails rather than hangs."""


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    timer = threading.Timer(LONG, event.set)
    timer.start()
    yield event
    timer.cancel()
    event.set()


@pytest.mark.parametrize("keyed", [True, False])
def test_a_thread_that_does_not_end_keeps_no_server(
    tmp_path: Path, released: threading.Event, keyed: bool
) -> None:
    begun, router = threading.Event(), APIRouter()

    def work() -> None:
        begun.set()
        released.wait()

    @router.post("/work")
    async def working(request: Request) -> None:
        await serving(request).run(work)

    with (
        Memory.open(tmp_path / "m.db", embedder="none", shutdown_seconds=0.5) as memory,
        ThreadPoolExecutor(1) as client,
    ):
        with serve(memory, router) as url:
            headers = {"Idempotency-Key": "one"} if keyed else {}
            answer = client.submit(post, f"{url}/work", headers=headers)
            begun.wait()
        assert not released.is_set(), "the server did not wait for it"
        told = answer.result()
        released.set()
    assert (told.status_code, told.headers.get("retry-after")) == (503, "1" if keyed else None)
    assert ("try again" if keyed else "may have been done") in told.json()["detail"]


def test_requests_and_what_comes_after_them_share_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []
    finish, router = Serving.finish, APIRouter()

    async def noted(self: Serving, seconds: float) -> None:
        left.append(seconds)
        await finish(self, seconds)

    @router.post("/hang")
    async def hang() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Serving, "finish", noted)
    seconds = 1.0
    with (
        Memory.open(tmp_path / "m.db", embedder="none", shutdown_seconds=seconds) as memory,
        serve(memory, router) as url,
        pytest.raises(httpx.ReadTimeout),
    ):
        httpx.post(f"{url}/hang", timeout=0.2)
    assert left[0] < seconds / 2


def test_an_answer_that_the_end_breaks_off_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "REQUESTS", 0.01)
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    whole = events(body, "one two three four")
    with (
        OpenAIServer() as upstream,
        Memory.open(
            tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url, shutdown_seconds=LONG
        ) as memory,
        httpx.Client(timeout=LONG) as client,
    ):
        upstream.script(Feed([whole[: whole.index(b" three")]], end="open"))
        with gateway(memory, upstream) as gate:
            request = client.build_request("POST", f"{gate.url}/chat/completions", json=body)
            coming = client.send(request, stream=True).iter_raw()
            next(coming)
        with pytest.raises(httpx.RemoteProtocolError):
            next(coming)
        found = sorted(memory.store.user("local").find(Turn), key=lambda turn: turn.index)
        assert [turn.content for turn in found] == ["Hi", "one two"]


@pytest.mark.slow
def test_a_process_ends_in_time_whatever_it_waits_for(tmp_path: Path, released: threading.Event) -> None:
    with OpenAIServer() as models, ThreadPoolExecutor(1) as client:
        models.script(*(Hang(released) for _ in range(100)))
        given = {"embedder": models.base_url, "embedder_model": "m", "embedder_timeout": 600}
        with started(tmp_path / "log", db=tmp_path / "m.db", shutdown_seconds=0.5, **given) as process:
            body = {"messages": [{"role": "user", "content": "I drink tea."}]}
            answer = client.submit(post, f"{process.url}/api/v1/turns", json=body)
            while len(models.requests) < 2:  # that of the server which starts, and ours
                assert not released.wait(0.01)
            process.signal(signal.SIGTERM)
            assert process.wait() == 0
        assert not released.is_set()
        assert answer.result().status_code == 503
