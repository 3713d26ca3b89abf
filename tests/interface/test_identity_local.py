"""One user of one machine needs no key; everybody else does, whatever they say of themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Memory, SettingsError
from recollect.server.identity.binding import check_bind
from recollect.server.identity.said import host_of, is_loopback
from recollect.settings import load
from recollect.testing.store_samples import ManualClock
from tests.interface.guarded import guarded, problem, raw, remembered
from tests.interface.serving import Served


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(tmp_path: Path, clock: ManualClock) -> Iterator[Served]:
    with guarded(tmp_path, clock, keyed=False, cors="https://app.example.org") as server:
        yield server


def test_the_one_user_needs_no_key(server: Served) -> None:
    client = server.client()
    assert client.get("/api/v1/whoami").json() == {"user": "local", "role": "local"}
    remembered(client, "I live in Lyon")
    for path in ("/api/v1/keys", "/metrics"):
        assert client.get(path).status_code == 200


def test_a_token_for_others_is_none_of_our_business(server: Served) -> None:
    for token in ("sk-somebody-elses", "eyJhbGciOiJub25lIn0.e30."):
        assert server.client(token).get("/api/v1/whoami").json()["user"] == "local"
    two = server.client("sk-one", **{"x-api-key": "sk-two"})
    assert two.get("/api/v1/whoami").status_code == 200
    ours = "rk_u_" + 43 * "a"
    problem(server.client(ours).get("/api/v1/whoami"), 401)
    problem(server.client(**{"x-api-key": ours}).get("/api/v1/whoami"), 401)


def test_there_is_one_local_user(server: Served) -> None:
    assert server.client(**{"X-Recollect-User": "local"}).get("/api/v1/whoami").status_code == 200
    problem(server.client(**{"X-Recollect-User": "ana"}).get("/api/v1/whoami"), 404)


@pytest.mark.parametrize("host", ["localhost", "localhost:7070", "127.0.0.1:7070", "127.9.9.9", "[::1]:7070"])
def test_names_of_this_machine(server: Served, host: str) -> None:
    assert server.client(Host=host).get("/api/v1/whoami").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:7070"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost:7070@evil.example"},
        {"Host": "[::1].evil.example"},
        {"Host": "0.0.0.0"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://evil.example:80@localhost.evil.example"},
        {"Origin": "null"},
        {"Origin": "file://"},
        {"Origin": "http://[::"},
        {"Sec-Fetch-Site": "cross-site"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
    ids=str,
)
def test_a_page_or_a_proxy_is_not_the_user(server: Served, headers: dict[str, str]) -> None:
    """A name of the attacker's that leads to 127.0.0.1 (DNS rebinding), a form on a page, a tunnel."""
    client = server.client(**headers)
    for path in ("/api/v1/whoami", "/api/v1/keys", "/metrics"):
        assert "this machine" in problem(client.get(path), 403)
    problem(client.post("/api/v1/memories", json={"items": [{"content": "I am evil"}]}), 403)


def test_requests_without_a_host_are_not_the_users(server: Served) -> None:
    status, _, _ = raw(server, b"GET /api/v1/whoami HTTP/1.0\r\n\r\n")
    assert status == 403


def test_this_servers_own_page_and_named_ones_are(server: Served) -> None:
    for host in (f"127.0.0.1:{server.port}", "localhost:7070", "[::1]:7070"):
        own = server.client(Host=host, Origin=f"http://{host}")
        assert own.get("/api/v1/whoami").status_code == 200
    assert server.client(Origin="https://app.example.org").get("/api/v1/whoami").status_code == 200


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:1", "http://[::1]:3000"])
def test_another_page_of_this_machine_asks_models_and_changes_no_memory(server: Served, origin: str) -> None:
    """A form, or what a browser sends without asking first: an import may have any type."""
    page = server.client(Origin=origin, **{"Sec-Fetch-Site": "same-site", "Content-Type": "text/plain"})
    for path in ("/api/v1/import", "/api/v1/mine", "/api/v1/jobs/run", "/api/v1/session"):
        assert "RECOLLECT_CORS" in problem(page.post(path, content=b'{"recollect": 1, "user": "x"}'), 403)
    assert page.get("/mcp").status_code != 403


def test_the_first_key_ends_it_for_good(server: Served, clock: ManualClock) -> None:
    client = server.client()
    made = client.post("/api/v1/keys", json={"role": "user", "user": "ana"}).json()
    clock.advance(seconds=5)
    problem(client.get("/api/v1/whoami"), 401)
    assert server.client(made["key"]).get("/api/v1/whoami").json()["user"] == "ana"
    server.memory.store.revoke_key(made["id"], clock.now())
    clock.advance(seconds=5)
    problem(client.get("/api/v1/whoami"), 401)


def test_a_server_for_others_has_no_local_user(tmp_path: Path) -> None:
    with guarded(tmp_path, keyed=False, host="0.0.0.0") as server:
        problem(server.client().get("/api/v1/whoami"), 401)
        assert server.client().get("/healthz").status_code == 200


# Where it may listen


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.4", "example.org", "localhost.example.org"])
def test_without_keys_only_this_machine_is_served(tmp_path: Path, host: str) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        with pytest.raises(SettingsError, match="recollect keys create --admin"):
            check_bind(load(host=host), memory.store)
        check_bind(load({}, host=host, jwt_issuer="https://id", jwt_keys="https://id/keys"), memory.store)


def test_with_a_key_any_machine_is(tmp_path: Path) -> None:
    with guarded(tmp_path) as server:
        check_bind(load({}, host="0.0.0.0"), server.memory.store)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.3.2.1", "::1", "localhost", "LOCALHOST", "::ffff:127.0.0.1"]
)
def test_this_machine_is_known(tmp_path: Path, host: str) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        check_bind(load({}, host=host), memory.store)


@pytest.mark.parametrize(
    "wrong",
    [
        {"jwt_issuer": "https://id"},
        {"jwt_keys": "https://id/keys"},
        {"jwt_issuer": "https://id", "jwt_keys": "https://id/keys", "jwt_audience": ""},
        {"jwt_issuer": "https://id", "jwt_keys": "http://id/keys"},
        {"cors": "*"},
        {"cors": "https://*.example.org"},
        {"cors": "https://a.example, app.example.org"},
        {"cors": "https://a.example/path"},
        {"cors": "ftp://a.example"},
        {"cors": "null"},
    ],
    ids=str,
)
def test_settings_that_let_in_strangers_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    with (
        Memory.open(tmp_path / "memory.db", embedder="none") as memory,
        pytest.raises(SettingsError, match="RECOLLECT_"),
    ):
        check_bind(load({}, **wrong), memory.store)


def test_hosts_are_read_as_browsers_write_them() -> None:
    assert [host_of(host) for host in ("a", "a:1", "[::1]:1", "[::1]", "::1", "a:b@c", "[::1].a")] == [
        *("a", "a", "::1", "::1", "", "", ""),
    ]
    assert not is_loopback("")
