"""Whether it lives, whether it is ready, what it counts, and where things are."""

import logging
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import create_engine, text

from recollect import EmbedderError, Memory
from recollect.model.space import Space
from tests.interface.serving import WAIT, get, post, serve, served


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    nobody = "http://127.0.0.1:9/v1"  # what is passed on is refused at once, with a network or without
    with Memory.open(tmp_path / "memory.db", embedder="hashing", upstream=nobody) as memory:
        yield memory


def settled(url: str) -> httpx.Response:
    """The answer of /readyz once the embedder is tried."""
    while (found := get(f"{url}/readyz")).json()["embedder"] == "loading":
        assert found.status_code == 503
    return found


def samples(url: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = get(f"{url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    return {(s.name, frozenset(s.labels.items())): s.value for f in families for s in f.samples}


def test_it_lives_is_ready_and_says_where_things_are(memory: Memory) -> None:
    with serve(memory) as url:
        assert get(f"{url}/healthz").json() == {"status": "ok"}
        ready = settled(url)
        assert (ready.status_code, ready.json()) == (200, {"status": "ready", "embedder": "ready"})
        places = get(url).json()
        assert places["name"] == "Recollect"
        for place in ("docs", "openapi", "health", "ready", "metrics"):
            assert get(url + places[place]).status_code == 200
        assert "server" not in get(url).headers


def test_a_browser_is_led_to_the_page_and_a_program_is_told_where_things_are(memory: Memory) -> None:
    with serve(memory) as url:
        asked = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        led = get(url, headers=asked, follow_redirects=True)
        assert (led.url.path, led.status_code) == ("/memory", 200)
        for accept in ("*/*", "application/json"):
            told = get(url, headers={"Accept": accept})
            assert (told.json()["memory"], told.headers["vary"]) == ("/memory", "Accept")
        assert "(memory)" in get(f"{url}/openapi.json").json()["info"]["description"]


def test_another_schema_is_not_ready(memory: Memory, tmp_path: Path) -> None:
    with serve(memory) as url:
        settled(url)
        engine = create_engine(f"sqlite:///{tmp_path / 'memory.db'}")
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        engine.dispose()
        answer = get(f"{url}/readyz")
        assert answer.status_code == 503
        assert "recollect db migrate" in answer.json()["problems"][0]
        assert answer.headers["retry-after"] == "1"
        assert get(f"{url}/healthz").status_code == 200


class Embedder:
    """Waits until it may answer, and fails as long as it is told to."""

    space = Space(model="tried", dimensions=4)

    def __init__(self) -> None:
        self.go, self.fails = threading.Event(), True

    def embed_query(self, text: str) -> Any:
        self.go.wait()
        if self.fails:
            raise EmbedderError("The model is down.")
        return np.ones(4, np.float32)

    def embed_passages(self, texts: Any) -> Any:
        return np.ones((len(texts), 4), np.float32)


def test_an_embedder_is_waited_for_but_not_needed(tmp_path: Path) -> None:
    embedder = Embedder()
    with Memory.open(tmp_path / "memory.db", embedder=embedder) as memory, serve(memory) as url:
        answer = get(f"{url}/readyz")
        assert (answer.status_code, answer.json()["embedder"]) == (503, "loading")
        embedder.go.set()
        answer = settled(url)
        assert (answer.status_code, answer.json()["embedder"]) == (200, "degraded")
        embedder.fails = False  # each who asks has it tried again
        while (answer := get(f"{url}/readyz")).json()["embedder"] == "degraded":
            assert answer.status_code == 200
        assert answer.json()["embedder"] == "ready"


def test_metrics_of_the_memory_and_of_requests(memory: Memory) -> None:
    memory.scope("derek").record("user", "My budget is $10,000")
    with serve(memory) as url:
        for path in ("/healthz", "/healthz", "/a/secret/path", "/another"):
            get(url + path)
        found = samples(url)

    def count(name: str, **labels: str) -> float:
        return found[name, frozenset(labels.items())]

    assert count("recollect_turns_recorded_total") == 1
    assert count("recollect_store_up") == 1
    requests = "recollect_http_requests_total"
    assert count(requests, method="GET", route="/healthz", status="2xx") == 2
    assert count(requests, method="GET", route="(none)", status="4xx") == 2
    took = "recollect_http_request_seconds"
    assert count(f"{took}_bucket", method="GET", route="/healthz", le="+Inf") == 2
    assert count(f"{took}_count", method="GET", route="/healthz") == 2
    assert 0 < count(f"{took}_sum", method="GET", route="/healthz") < 60
    assert count("recollect_http_requests_in_flight") == 1  # this one
    assert not any("secret" in value for _, labels in found for _, value in labels)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/api/v1/recall"])
def test_an_upload_that_breaks_off_is_nobodys_fault(
    memory: Memory, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serve(memory) as url:
        where = urlsplit(url)
        with socket.create_connection((where.hostname, where.port)) as client:
            client.sendall(f"{head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 100")
            client.sendall(b'{"model": ')
        while not (told := [labels for _, labels in samples(url) if ("method", "POST") in labels]):
            pass  # the test's own limit of time is its
    assert {dict(labels)["status"] for labels in told if "status" in dict(labels)} == {"none"}
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_every_route_has_its_name(memory: Memory) -> None:
    named = {
        "/docs": "/docs",
        "/openapi.json": "/openapi.json",
        "/api/v1/conversations/a%2Fb/working": "/api/v1/conversations/{id}/working",
        "/v1/responses/secret": "/v1/responses/{id}",
        "/v1/files/secret": "/v1/{path}",
    }
    with serve(memory) as url:
        for path in named:
            get(url + path)
        post(f"{url}/v1/chat/completions", content=b"{")
        routes = {dict(labels).get("route") for _, labels in samples(url)}
        assert routes - {None} == {*named.values(), "/v1/chat/completions"}
        assert get(f"{url}/api/v1/secret", headers={"Host": "evil.example"}).status_code == 403
        told = get(f"{url}/metrics").text
    assert 'route="(refused)",status="4xx"} 1' in told
    assert "secret" not in told


def test_a_method_nobody_knows_makes_no_new_series(memory: Memory) -> None:
    with serve(memory) as url:
        for method in ("LINK", "MKCOL", "PURGE"):
            assert httpx.request(method, f"{url}/healthz", timeout=WAIT).status_code == 405
        methods = {dict(labels).get("method") for _, labels in samples(url)}
    assert methods == {None, "OTHER"}


def test_the_page_of_the_api_loads_from_this_server_alone(memory: Memory) -> None:
    with served(memory) as server:
        stranger = server.client()
        page = stranger.get("/docs")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "//" not in page.text
        assert "//" not in page.headers["content-security-policy"]
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(loaded) == 4
        for part in loaded:
            found = stranger.get(urljoin("/docs", part))
            assert (found.status_code, found.headers["cache-control"]) == (200, "public, max-age=3600")
            assert len(found.content) > 100
        assert stranger.get("/docs/start.js").text.count("//") == 0
        assert stranger.get("/docs/else.js").status_code == 401
        assert server.of("ana").get("/docs/else.js").status_code == 404
