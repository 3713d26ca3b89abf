"""Keys: whose memory each opens, from when until when."""

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from queue import Queue

import pytest
from starlette.types import Message, Receive, Scope, Send

from recollect.server import problems
from recollect.server.identity.entry import Entry
from recollect.server.identity.gate import Gate
from recollect.server.limiting import Rate
from recollect.testing.store_samples import ManualClock
from tests.interface.guarded import WAIT, guarded, problem, remembered
from tests.interface.serving import Served


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(tmp_path: Path, clock: ManualClock) -> Iterator[Served]:
    with guarded(tmp_path, clock) as server:
        yield server


def test_a_key_opens_the_memory_of_its_user(server: Served) -> None:
    ana = server.of("ana")
    assert ana.get("/api/v1/whoami").json() == {"user": "ana", "role": "user"}
    id = remembered(ana, "I am allergic to peanuts")
    assert ana.get(f"/api/v1/records/{id}").json()["content"] == "I am allergic to peanuts"


def test_it_may_be_sent_as_x_api_key(server: Served) -> None:
    key = server.issue(owner="ana").key
    assert server.client(**{"x-api-key": key}).get("/api/v1/whoami").json()["user"] == "ana"
    assert server.client(key, **{"x-api-key": key}).get("/api/v1/whoami").json()["user"] == "ana"
    both = server.client(key, **{"x-api-key": server.issue(owner="ben").key}).get("/api/v1/whoami")
    assert "two different keys" in problem(both, 400)


@pytest.mark.parametrize(
    "authorization",
    [
        *("", "Bearer", "Basic YTpi", "Bearer nonsense", "Bearer rk_u_short", "rk_u_" + 43 * "a"),
        *("Bearer rk_u_" + 43 * "a", "Bearer rk_x_" + 43 * "a", "Bearer rk_u_" + 44 * "a", "Bearer eyJ.e30."),
    ],
)
def test_nobody_else_comes_in(server: Served, authorization: str) -> None:
    refused = server.client(Authorization=authorization).get("/api/v1/whoami")
    assert "key" in problem(refused, 401)
    assert refused.headers["www-authenticate"].startswith("Bearer")


def test_a_service_acts_for_the_user_it_names(server: Served) -> None:
    service = server.client(server.issue("service").key)
    assert "X-Recollect-User" in problem(service.get("/api/v1/stats"), 400)
    assert service.get("/api/v1/whoami").json() == {"user": None, "role": "service"}
    for user in ("ana", "ben", "Zoë 東京"):
        client = server.client(service.headers["authorization"][7:], **{"X-Recollect-User": user.encode()})
        assert client.get("/api/v1/whoami").json() == {"user": user, "role": "service"}


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/chat/completions", 200), ("/v1/models", 200), ("/v1/memory", 400), ("/api/memories", 400)],
)
def test_the_gateway_also_serves_a_service_without_a_user(server: Served, path: str, status: int) -> None:
    """Without memory, which has nobody to be of."""
    key = server.issue("service").key
    scope = {"type": "http", "path": path, "client": ("10.0.0.1", 1), "method": "GET"}
    scope["headers"] = [(b"authorization", f"Bearer {key}".encode())]
    sent: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["state"]["caller"].user is None
        sent.append(200)

    async def send(message: Message) -> None:
        sent.append(message.get("status", 0))

    gate = Gate(server.memory.store, server.memory.settings, server.memory.clock)
    entry = Entry(app, gate, Rate(0))
    asyncio.run(entry(scope, send, send))  # type: ignore[arg-type]
    assert sent[0] == status


@pytest.mark.parametrize("name", [b"", b"\xff", b"a" * 257])
def test_the_user_it_names_must_be_a_name(server: Served, name: bytes) -> None:
    client = server.client(server.issue("service").key, **{"X-Recollect-User": name})
    assert "x-recollect-user" in problem(client.get("/api/v1/whoami"), 400).lower()


def test_a_user_acts_for_nobody_else(server: Served) -> None:
    key = server.issue(owner="ana").key
    assert server.client(key, **{"X-Recollect-User": "ana"}).get("/api/v1/whoami").status_code == 200
    problem(server.client(key, **{"X-Recollect-User": "ben"}).get("/api/v1/whoami"), 404)


def test_an_admin_reads_nobodys_memory(server: Served) -> None:
    id = remembered(server.of("ana"), "a secret")
    key = server.issue("admin").key
    for headers in ({}, {"X-Recollect-User": "ana"}):
        admin = server.client(key, **headers)
        problem(admin.get(f"/api/v1/records/{id}"), 404)
        problem(admin.post("/api/v1/recall", json={"query": "secret"}), 404)
        problem(admin.post("/api/v1/memories", json={"items": [{"content": "x"}]}), 404)


def test_a_revoked_key_opens_nothing_within_seconds(server: Served, clock: ManualClock) -> None:
    issued = server.issue(owner="ana")
    client = server.client(issued.key)
    assert client.get("/api/v1/whoami").status_code == 200
    server.memory.store.revoke_key(issued.kept.id, clock.now())
    clock.advance(seconds=5)
    assert "revoked" in problem(client.get("/api/v1/whoami"), 401)


def test_an_expired_key_opens_nothing_at_once(server: Served, clock: ManualClock) -> None:
    client = server.client(server.issue(owner="ana", expires_at=clock.now() + timedelta(seconds=2)).key)
    assert client.get("/api/v1/whoami").status_code == 200
    clock.advance(seconds=2)
    problem(client.get("/api/v1/whoami"), 401)


def test_when_a_key_was_used_is_known_to_the_minute(
    server: Served, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = Queue[datetime]()
    note = server.memory.store.note_key_used

    def noting(id: str, at: datetime) -> None:
        note(id, at)
        noted.put(at)

    monkeypatch.setattr(server.memory.store, "note_key_used", noting)
    client, first = server.of("ana"), clock.now()
    for _ in range(3):
        assert client.get("/api/v1/whoami").status_code == 200
        clock.advance(seconds=30)
    times = sorted(noted.get(timeout=WAIT) for _ in range(2))
    assert times == [first, first + timedelta(minutes=1)]
    assert noted.empty()
    (used,) = [key.used_at for key in server.memory.store.keys(9) if key.owner == "ana"]
    assert used == times[1]


def test_a_database_that_is_gone_for_a_while_sends_nobody_away(
    server: Served, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.errors import StoreUnavailable

    def down(*_: object) -> None:
        raise StoreUnavailable

    client = server.of("ana")
    assert client.get("/api/v1/whoami").status_code == 200
    monkeypatch.setattr(server.memory.store, "key_by_digest", down)
    clock.advance(minutes=4)
    assert client.get("/api/v1/whoami").status_code == 200
    problem(server.of("ben").get("/api/v1/whoami"), 503)
    clock.advance(minutes=1)
    problem(client.get("/api/v1/whoami"), 503)


# Keys by way of the server


def test_an_admin_makes_lists_and_revokes_keys(server: Served, clock: ManualClock) -> None:
    clock.advance(seconds=1)
    admin = server.client(server.issue("admin").key)
    clock.advance(seconds=1)
    made = admin.post("/api/v1/keys", json={"role": "user", "user": "ana", "name": "laptop"})
    assert made.status_code == 201
    assert server.client(made.json()["key"]).get("/api/v1/whoami").json()["user"] == "ana"
    first, *others = admin.get("/api/v1/keys").json()["keys"]
    assert {name: first[name] for name in ("name", "role", "user")} == {
        "name": "laptop", "role": "user", "user": "ana",
    }  # fmt: skip
    assert len(others) == 2
    assert not {"key", "digest"} & set(first)
    page = admin.get("/api/v1/keys", params={"limit": 1}).json()
    assert admin.get("/api/v1/keys", params={"after": page["next"]}).json()["keys"] == others
    assert admin.delete(f"/api/v1/keys/{first['id']}").json()["revoked_at"]
    problem(admin.delete("/api/v1/keys/nothing"), 404)
    clock.advance(seconds=5)
    problem(server.client(made.json()["key"]).get("/api/v1/whoami"), 401)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"role": "user"}, {"role": "admin", "user": "ana"}, {"role": "root"}, {"role": "user", "user": ""}),
        *({"role": "user", "user": "a\nb"}, {"role": "service", "expires_at": "2001-01-01T00:00:00Z"}),
        *({"role": "service", "expires_at": "2999-01-01T00:00:00"}, {"role": "service", "name": 999 * "a"}),
        {"role": "service", "digest": "mine"},
    ],
)
def test_wrong_keys_are_not_made(server: Served, wrong: dict[str, str]) -> None:
    admin = server.client(server.issue("admin").key)
    problem(admin.post("/api/v1/keys", json=wrong), 422)
    assert len(server.memory.store.keys()) == 2


@pytest.mark.parametrize("role", ["user", "service"])
def test_others_see_nothing_of_the_servers_affairs(server: Served, role: str) -> None:
    key = server.issue(role, "ana" if role == "user" else None).key
    client = server.client(key, **{"X-Recollect-User": "ana"})
    for path in ("/api/v1/jobs", "/metrics"):
        assert "admin key" in problem(client.get(path), 403)
    problem(client.post("/api/v1/keys", json={"role": "admin"}), 403)
    problem(client.delete("/api/v1/keys/any"), 404 if role == "user" else 403)
    assert server.client(server.issue("admin").key).get("/metrics").status_code == 200


def test_users_see_make_and_revoke_their_own(server: Served, clock: ManualClock) -> None:
    bens = server.issue(owner="ben").kept.id
    ana = server.of("ana")
    (held,) = ana.get("/api/v1/keys").json()["keys"]
    assert (held["user"], held["current"]) == ("ana", True)
    clock.advance(seconds=1)
    made = ana.post("/api/v1/keys", json={"name": "phone"}).json()
    assert (made["role"], made["user"], made["name"], made["current"]) == ("user", "ana", "phone", False)
    assert server.client(made["key"]).get("/api/v1/whoami").json()["user"] == "ana"
    assert [key["id"] for key in ana.get("/api/v1/keys").json()["keys"]] == [made["id"], held["id"]]
    problem(ana.delete(f"/api/v1/keys/{bens}"), 404)
    for others in ({"user": "ben"}, {"role": "service"}, {"role": "admin"}):
        assert "of your own" in problem(ana.post("/api/v1/keys", json=others), 403)
    assert ana.delete(f"/api/v1/keys/{made['id']}").json()["revoked_at"]
    clock.advance(seconds=5)
    problem(server.client(made["key"]).get("/api/v1/whoami"), 401)
    assert server.memory.store.keys(owner="ben")[0].revoked_at is None


def test_a_key_that_ends_makes_none_that_goes_on(server: Served, clock: ManualClock) -> None:
    until = clock.now() + timedelta(days=1)
    ana = server.client(server.issue(owner="ana", expires_at=until).key)
    made = ana.post("/api/v1/keys", json={}).json()
    assert datetime.fromisoformat(made["expires_at"]) == until
    later = (until + timedelta(seconds=1)).isoformat()
    assert "cannot be good for longer" in problem(ana.post("/api/v1/keys", json={"expires_at": later}), 422)
    sooner = (until - timedelta(seconds=1)).isoformat()
    assert ana.post("/api/v1/keys", json={"expires_at": sooner}).json()["expires_at"] == sooner


def test_what_is_said_of_keys_can_be_read_and_done(server: Served) -> None:
    refused = server.client().get("/api/v1/whoami")
    assert refused.status_code == 401
    assert "Bearer rk_…".encode() in refused.content
    assert "`recollect keys create --user NAME`" in refused.json()["detail"]


def test_half_a_character_is_told_as_an_escape() -> None:
    told = problems.problem(422, "a\ud800…")
    assert "\\ud800…".encode() in bytes(told.body)
    assert json.loads(bytes(told.body))["detail"] == "a\ud800…"
