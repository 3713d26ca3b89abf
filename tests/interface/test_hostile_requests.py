"""Requests that no client would send: two callers in one, two ends in one, ways around the gate."""

import http.client
import json
from collections.abc import Iterator

import pytest

from tests.interface.guarded import WAIT, guarded, raw
from tests.interface.serving import Served


@pytest.fixture(scope="module", params=["httptools", "h11"])
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Served]:
    with guarded(tmp_path_factory.mktemp("hostile"), http=request.param, rate_limit=0) as server:
        yield server


@pytest.fixture(scope="module")
def ana(server: Served) -> bytes:
    return server.issue(owner="ana").key.encode()


@pytest.fixture(scope="module")
def ben(server: Served) -> bytes:
    return server.issue(owner="ben").key.encode()


@pytest.fixture(scope="module")
def service(server: Served) -> bytes:
    return server.issue("service").key.encode()


def whoami(server: Served, *lines: bytes, path: bytes = b"/api/v1/whoami") -> tuple[int, dict[str, str]]:
    """The status, and who the caller is taken for."""
    head = b"\r\n".join((b"GET " + path + b" HTTP/1.1", b"Host: localhost", *lines, b"", b""))
    status, headers, body = raw(server, head)
    is_json = "json" in headers.get("content-type", "")
    return status, json.loads(body) if is_json else {}


# Two callers in one


def test_two_keys_are_none(server: Served, ana: bytes, ben: bytes) -> None:
    first, second = b"Authorization: Bearer " + ana, b"Authorization: Bearer " + ben
    for lines in ((first, second), (second, first), (first, first), (first, b"authorization: Basic YTpi")):
        status, told = whoami(server, *lines)
        assert status == 400
        assert "twice" in told["detail"]
    assert whoami(server, b"X-Api-Key: " + ana, b"X-API-KEY: " + ben)[0] == 400
    assert whoami(server, first, b"X-Api-Key: " + ben)[0] == 400
    assert whoami(server, b"Authorization: Bearer " + ana + b", Bearer " + ben)[0] == 401
    assert whoami(server, b"Authorization: Bearer " + ana + b" " + ben)[0] == 401


def test_two_users_are_none(server: Served, service: bytes) -> None:
    key = b"Authorization: Bearer " + service
    assert whoami(server, key, b"X-Recollect-User: ana")[1]["user"] == "ana"
    for lines in (
        (b"X-Recollect-User: ana", b"X-Recollect-User: ben"),
        (b"X-Recollect-User: ana", b"x-recollect-user: ana"),
        (b"X-Recollect-User: ana\nX-Recollect-User: ben",),
        (b"X-Recollect-User: ana\rX-Recollect-User: ben",),
        (b"X-Recollect-User : ben",),
        (b"X-Recollect-User: ana\x00ben",),
        (b"X-Recollect-User: ana\x07",),
    ):
        status, _ = whoami(server, key, *lines)
        assert status == 400, lines


def test_what_is_nearly_the_header_is_not(server: Served, service: bytes, ana: bytes) -> None:
    key = b"Authorization: Bearer " + service
    for line in (b"X_Recollect_User: ben", b"X-Recollect_User: ben", b"X-Recollect-Users: ben", b"User: ben"):
        assert whoami(server, key, line) == (200, {"user": None, "role": "service"})
        assert whoami(server, key, b"X-Recollect-User: ana", line)[1].get("user") == "ana"
        assert whoami(server, b"Authorization: Bearer " + ana, line)[1]["user"] == "ana"


def test_a_folded_header_names_no_second_user(server: Served, service: bytes) -> None:
    status, told = whoami(server, b"Authorization: Bearer " + service, b"X-Recollect-User: ana\r\n ben")
    assert status == 400 or told["user"] == "ana ben"


def test_a_connection_remembers_nobody(server: Served, ana: bytes, ben: bytes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    seen: list[object] = []
    for key in (ana, None, ben, None):
        headers = {"Authorization": f"Bearer {key.decode()}"} if key else {}
        connection.request("GET", "/api/v1/whoami", headers=headers)
        answered = connection.getresponse()
        seen.append((answered.status, json.loads(answered.read()).get("user")))
    connection.close()
    assert seen == [(200, "ana"), (401, None), (200, "ben"), (401, None)]


# Two ends in one


@pytest.mark.parametrize(
    "lines",
    [
        (b"Content-Length: 5", b"Transfer-Encoding: chunked"),
        (b"Transfer-Encoding: chunked", b"Content-Length: 5"),
        (b"Content-Length: 5", b"Content-Length: 6"),
        (b"Content-Length: +5",),
        (b"Content-Length: -5",),
        (b"Content-Length: 5, 6",),
        (b"Content-Length: 0x5",),
        (b"Transfer-Encoding: xchunked",),
        (b"Transfer-Encoding: chunked, identity",),
        (b"Transfer-Encoding : chunked",),
    ],
    ids=str,
)
def test_a_request_ends_in_one_place(server: Served, ana: bytes, lines: tuple[bytes, ...]) -> None:
    """What a proxy takes for the body of one request must not be another request here."""
    smuggled = (
        b"0\r\n\r\nGET /api/v1/whoami HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + ana + b"\r\n\r\n"
    )
    head = b"POST /api/v1/recall HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + ana + b"\r\n"
    status, _, body = raw(server, head + b"\r\n".join(lines) + b"\r\n\r\n" + smuggled)
    assert status in (400, 501), body
    assert b'"user"' not in body


# Ways around the gate


@pytest.mark.parametrize(
    "path",
    [
        *(b"/docs/../api/v1/whoami", b"/healthz/../api/v1/whoami", b"//api/v1/whoami", b"/api/v1//whoami"),
        *(b"/api/v1/whoami/", b"/api/v1/whoami?/docs", b"/api/v1/whoami#/docs", b"/api/v1/whoami%00"),
        *(b"/healthz%2f..%2fapi%2fv1%2fwhoami", b"/%2e%2e/api/v1/whoami", b"/docs;/api/v1/whoami"),
        *(b"/API/v1/whoami", b"http://localhost/api/v1/whoami", b"http://evil.example/docs", b"/docs/"),
        *(
            b"/metrics",
            b"/metrics/",
            b"/api/v1/keys",
            b"/openapi.json/../api/v1/keys",
            b"/docs/oauth2-redirect",
        ),
    ],
)
def test_no_path_leads_around_the_gate(server: Served, path: bytes) -> None:
    status, told = whoami(server, path=path)
    assert "user" not in told
    assert "keys" not in told
    assert status in (307, 400, 401, 404) or path == b"http://evil.example/docs"


@pytest.mark.parametrize("method", [b"GET", b"OPTIONS", b"POST", b"TRACE", b"PROPFIND", b"CONNECT"])
def test_no_method_does(server: Served, method: bytes) -> None:
    head = method + b" /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: GET\r\n\r\n"
    status, _, body = raw(server, head)
    assert status in (400, 401)
    assert b'"user"' not in body


def test_no_upgrade_does(server: Served) -> None:
    for protocol in (b"websocket", b"h2c"):
        lines = (b"Connection: Upgrade", b"Upgrade: " + protocol, b"Sec-WebSocket-Key: YQ==")
        assert whoami(server, *lines, b"Sec-WebSocket-Version: 13")[0] in (400, 401, 403)


def test_what_proxies_add_changes_no_caller(server: Served, ana: bytes) -> None:
    lines = (
        b"X-Forwarded-For: 127.0.0.1",
        b"X-Forwarded-User: ben",
        b"X-Real-IP: 127.0.0.1",
        b"Forwarded: for=_x",
    )
    assert whoami(server, *lines)[0] == 401
    assert whoami(server, b"Authorization: Bearer " + ana, *lines)[1]["user"] == "ana"


@pytest.mark.parametrize("size", [9_000, 40_000, 200_000])
def test_a_huge_key_is_none(server: Served, size: int) -> None:
    for line in (b"Authorization: Bearer ", b"Authorization: Bearer rk_u_", b"X-Api-Key: "):
        assert whoami(server, line + b"a" * size)[0] in (400, 401, 431)
