"""Those who keep others waiting: slow senders, key sets that never end, addresses that are a little off."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

import httpx
import pytest

from recollect import Memory
from recollect.server.identity import tokens
from recollect.testing.store_samples import ManualClock
from tests.interface.guarded import WAIT, guarded, raw, remembered
from tests.interface.serving import Served, serve
from tests.interface.test_identity_tokens import AUDIENCE, ISSUER, PUBLIC, token

STUCK = 40
"""More than a machine of any size has threads that everybody shares."""


def stuck_import(server: Served | str, key: str = "") -> socket.socket:
    """An import of which the beginning has come, and no more does."""
    port = server.port if isinstance(server, Served) else int(server.rpartition(":")[2])
    connection = socket.create_connection(("127.0.0.1", port), 10)
    bearer = f"Authorization: Bearer {key}\r\n" if key else ""
    head = f"POST /api/v1/import HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}Transfer-Encoding: chunked\r\n\r\n"
    connection.sendall(f"{head}1\r\n \r\n".encode())
    return connection


def test_whoever_imports_slowly_keeps_nobody_out(tmp_path: Path) -> None:
    with guarded(tmp_path) as server:
        key = server.issue(owner="ana").key
        stuck = [stuck_import(server, key) for _ in range(STUCK)]
        ben = server.of("ben")  # whose key nobody has looked up yet
        record = remembered(ben, "tea")
        assert ben.get(f"/api/v1/records/{record}").json()["content"] == "tea"
        for connection in stuck:
            connection.close()


def test_a_server_ends_though_an_import_does_not(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="hashing", shutdown_seconds=0.2) as memory:
        with serve(memory) as url:
            connection = stuck_import(url)
            assert httpx.get(f"{url}/api/v1/whoami", timeout=WAIT).status_code == 200
            began = monotonic()
        assert monotonic() - began < memory.settings.request_seconds / 3
        connection.close()


def test_a_path_with_a_slash_too_many_leads_nowhere(tmp_path: Path) -> None:
    """A redirection would be to the host that the client names, and from TLS to none behind a proxy."""
    with guarded(tmp_path) as server:
        key = server.issue(owner="ana").key
        ask = f"POST /api/v1/facts/ HTTP/1.1\r\nHost: evil\r\nAuthorization: Bearer {key}\r\n"
        status, headers, _ = raw(server, f"{ask}Content-Length: 0\r\n\r\n".encode())
        assert status == 404
        assert "location" not in headers


class Issuer:
    """An issuer's key set, which on demand trickles without end."""

    def __init__(self) -> None:
        self.endless = False
        self.asked = threading.Event()
        self.stopped = threading.Event()
        self.url = ""

    def write(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        if not self.endless:
            handler.wfile.write(json.dumps({"keys": PUBLIC}).encode())
            return
        self.asked.set()
        while not self.stopped.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()


@contextmanager
def issuer() -> Iterator[Issuer]:
    keys = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                keys.write(self)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        keys.url = f"http://127.0.0.1:{web.server_port}/keys"
        try:
            yield keys
        finally:
            keys.stopped.set()
            web.shutdown()
            thread.join()


def test_a_key_set_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FETCH_SECONDS", 0.3)
    with issuer() as keys:
        keys.endless = True
        with pytest.raises(TimeoutError):
            asyncio.run(tokens.fetch(keys.url))


def test_a_key_that_nobody_has_keeps_those_with_good_tokens_waiting_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "FETCH_SECONDS", WAIT)
    clock = ManualClock()
    given = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "keyed": False}
    with issuer() as keys, guarded(tmp_path, clock, jwt_keys=keys.url, **given) as server:
        assert server.client(token()).get("/api/v1/whoami").status_code == 200
        keys.endless = True
        clock.advance(seconds=2 * tokens.UNKNOWN.seconds)
        refused: list[int] = []
        stranger = server.client(token(kid="unheard-of"))
        waiting = threading.Thread(target=lambda: refused.append(stranger.get("/api/v1/whoami").status_code))
        waiting.start()
        assert keys.asked.wait(10)
        assert server.client(token(sub="ben")).get("/api/v1/whoami").json()["user"] == "ben"
        assert not refused  # still waiting
        keys.stopped.set()
        waiting.join()
        assert refused == [401]
