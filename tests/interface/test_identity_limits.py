"""How often, how many at once, how large and how slow a request may be; and the headers of every answer."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Request

from recollect.server.limiting import COUNTED, Rate, Taken
from recollect.server.receiving import is_hurried
from tests.interface.guarded import WAIT, guarded, problem, raw, remembered
from tests.interface.serving import Served

MiB = 1024 * 1024


# How often


def take(rate: Rate, who: str) -> Taken | None:
    return asyncio.run(rate.take(who))


def test_a_minutes_requests_may_come_at_once_or_evenly() -> None:
    now = 0.0
    rate = Rate(60, now=lambda: now)
    for left in range(59, -1, -1):
        taken = take(rate, "a")
        assert taken
        assert (taken.left, taken.wait) == (left, 0)
    late = take(rate, "a")
    assert late
    assert (late.left, late.wait, late.reset) == (0, 1, 60)
    other = take(rate, "b")
    assert other
    assert other.left == 59
    for _ in range(100):
        now += 1
        taken = take(rate, "a")
        assert taken
        assert taken.wait == 0


def test_no_more_are_counted_than_there_is_room_for() -> None:
    rate = Rate(1, now=lambda: 0.0)

    async def many() -> None:
        for n in range(COUNTED + 10):
            await rate.take(str(n))

    asyncio.run(many())
    assert len(rate._used) == COUNTED
    assert take(Rate(0), "a") is None


def test_one_key_is_held_to_its_rate(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=3) as server:
        ana, ben = server.of("ana"), server.of("ben")
        left = [ana.get("/api/v1/whoami").headers["ratelimit-remaining"] for _ in range(3)]
        assert left == ["2", "1", "0"]
        refused = ana.get("/api/v1/whoami")
        assert "RECOLLECT_RATE_LIMIT" in problem(refused, 429)
        assert 0 < int(refused.headers["retry-after"]) <= 20
        assert refused.headers["ratelimit-limit"] == "3"
        assert ben.get("/api/v1/whoami").status_code == 200
        assert [ana.get("/healthz").status_code for _ in range(9)] == 9 * [200]


def test_those_who_guess_are_held_by_where_they_are(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=3) as server:
        known = server.of("ana")
        statuses = [
            server.client("rk_u_" + str(n) * 43).get("/api/v1/whoami").status_code for n in range(1, 6)
        ]
        assert statuses == [401, 401, 401, 429, 429]
        assert known.get("/api/v1/whoami").status_code == 200  # from the same place, with a key


def test_the_local_user_is_not_held(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=2, keyed=False) as server:
        client = server.client()
        assert [client.get("/api/v1/whoami").status_code for _ in range(5)] == 5 * [200]


# How many at once


def test_one_key_has_so_many_at_once(tmp_path: Path) -> None:
    with guarded(tmp_path, concurrency=2) as server:
        release, entered = threading.Event(), threading.Semaphore(0)

        @server.app.get("/api/v1/slow")
        async def slow(request: Request) -> dict[str, Any]:
            entered.release()
            await asyncio.to_thread(release.wait, WAIT)
            return {}

        key = server.issue(owner="ana").key
        answers: list[int] = []
        waiting = [
            threading.Thread(
                target=lambda: answers.append(server.client(key).get("/api/v1/slow").status_code)
            )
            for _ in range(2)
        ]
        for thread in waiting:
            thread.start()
        for _ in waiting:
            assert entered.acquire(timeout=WAIT)
        refused = server.client(key).get("/api/v1/whoami")
        assert "RECOLLECT_CONCURRENCY" in problem(refused, 429)
        assert refused.headers["retry-after"] == "1"
        assert server.of("ben").get("/api/v1/whoami").status_code == 200
        release.set()
        for thread in waiting:
            thread.join()
        assert answers == [200, 200]
        assert server.client(key).get("/api/v1/whoami").status_code == 200


# How large


@pytest.fixture(params=["httptools", "h11"])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    with guarded(tmp_path, http=request.param, body_mb=1) as server:
        yield server


def test_a_large_body_is_refused_by_what_it_says(server: Served) -> None:
    ana = server.of("ana")
    large = {"items": [{"content": "a" * 2 * MiB}]}
    assert "RECOLLECT_BODY_MB" in problem(ana.post("/api/v1/memories", json=large), 413)
    assert remembered(ana, "small")


def test_and_by_what_it_is(server: Served) -> None:
    key = server.issue(owner="ana").key.encode()
    head = b"POST /api/v1/memories HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key
    head += b"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    part = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    status, headers, body = raw(server, head, *([part] * 33))
    assert (status, headers["connection"]) == (413, "close")
    assert b"RECOLLECT_BODY_MB" in body


def test_an_import_has_any_size(server: Served) -> None:
    ana, ben = server.of("ana"), server.of("ben")
    for n in range(3):
        remembered(ana, f"{n} " + "a long story " * 30_000)
    lines = "\n".join(server.memory.scope("ana").export()).encode()
    assert len(lines) > MiB
    taken = ben.post("/api/v1/import", content=(lines[n : n + 50_000] for n in range(0, len(lines), 50_000)))
    assert taken.status_code == 200, taken.text
    assert server.memory.scope("ben").counts()["fact"] == 3


# How slow


@pytest.fixture(params=["httptools", "h11"])
def hasty(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    with guarded(tmp_path, http=request.param, request_seconds=1.0) as server:
        yield server


def test_a_body_that_does_not_come_is_not_waited_for(hasty: Served) -> None:
    key = hasty.issue(owner="ana").key.encode()
    for path in (b"/api/v1/memories", b"/api/v1/import"):
        head = b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key
        head += b"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        status, headers, body = raw(hasty, head, b'{"items": [')
        assert (status, headers["connection"]) == (408, "close")
        assert b"RECOLLECT_REQUEST_SECONDS" in body


def test_an_answer_that_does_not_come_is_not_waited_for(hasty: Served) -> None:
    @hasty.app.post("/api/v1/slow")
    @hasty.app.get("/api/v1/slow")
    @hasty.app.get("/api/v1/conversations/a/mine")
    async def slow() -> dict[str, Any]:
        await asyncio.sleep(1.5)
        return {}

    ana = hasty.of("ana")
    for answered in (ana.get("/api/v1/slow"), ana.post("/api/v1/slow", json={})):
        assert "try again" in problem(answered, 503)
        assert answered.headers["retry-after"]
    assert ana.get("/api/v1/conversations/a/mine").status_code == 200


@pytest.mark.parametrize(
    ("path", "hurried"),
    [
        ("/api/v1/recall", True),
        ("/v1/memory/x", True),
        ("/api/memories/search", True),
        ("/v1/chat/completions", False),
        ("/v1/responses", False),
        ("/api/v1/export", False),
        ("/api/v1/mine", False),
        ("/api/v1/agent", False),
    ],
)
def test_models_take_their_time(path: str, hurried: bool) -> None:
    assert is_hurried(path) is hurried


# Headers


def test_every_answer_keeps_browsers_quiet(server: Served) -> None:
    ana = server.of("ana")
    for answered in (
        ana.get("/api/v1/whoami"),
        ana.get("/nothing"),
        server.client().get("/api/v1/whoami"),
        server.client().get("/docs"),
    ):
        headers = answered.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
    assert "script-src" not in ana.get("/api/v1/whoami").headers["content-security-policy"]


def preflight(client: httpx.Client, origin: str) -> httpx.Response:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    headers["Access-Control-Request-Headers"] = (
        "authorization, content-type, x-recollect-conversation, x-stainless-os"
    )
    return client.options("/api/v1/recall", headers=headers)


def test_no_page_may_call_unless_it_is_named(tmp_path: Path, server: Served) -> None:
    asked = preflight(server.client(), "https://app.example.org")
    assert asked.status_code == 401
    assert "access-control-allow-origin" not in asked.headers
    (tmp_path / "named").mkdir()
    with guarded(tmp_path / "named", cors="https://app.example.org, http://localhost:3000") as named:
        asked = preflight(named.client(), "https://app.example.org")
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == "https://app.example.org"
        assert "access-control-allow-credentials" not in asked.headers
        called = named.client(named.issue(owner="ana").key, Origin="https://app.example.org").get(
            "/api/v1/whoami"
        )
        assert called.headers["access-control-allow-origin"] == "https://app.example.org"
        refused = named.client(Origin="https://app.example.org").get("/api/v1/whoami")
        assert refused.status_code == 401  # which the page may read
        assert refused.headers["access-control-allow-origin"] == "https://app.example.org"
        for origin in ("https://evil.example", "null", "https://app.example.org.evil.example"):
            assert preflight(named.client(), origin).status_code == 400
            called = named.client(Origin=origin).get("/api/v1/whoami")
            assert "access-control-allow-origin" not in called.headers
