"""What was revoked or erased a moment ago, and is trusted for some seconds, leaves nothing behind; nor do
many sessions and keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.server.http import keys
from recollect.server.identity import gate
from recollect.server.serving import Serving
from tests.interface.guarded import guarded, problem
from tests.interface.serving import Served
from tests.interface.test_session import SESSION, entered, signed, visiting


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with guarded(tmp_path, rate_limit=0) as server:
        yield server


def test_after_it_went_another_user_signs_in(server: Served) -> None:
    page = entered(server, "eve")
    assert page.get("/api/v1/whoami").status_code == 200
    assert page.delete("/api/v1/everything", params={"confirm": "eve"}).status_code == 200
    assert page.post(SESSION, json={"key": server.issue(owner="ben").key}).json()["user"] == "ben"


@pytest.mark.parametrize("role", ["user", "admin"])
@pytest.mark.parametrize("way", ["key", "session of a key", "session"])
def test_what_was_just_revoked_leaves_no_key_behind(server: Served, role: str, way: str) -> None:
    """For some seconds it still opens what it did."""
    issued = server.issue(role, owner="ana" if role == "user" else None)
    page = visiting(server, signed(server, issued.key)[1])
    client = server.client(issued.key) if way == "key" else page
    assert client.get("/api/v1/whoami").status_code == 200
    (current,) = [one["id"] for one in page.get("/api/v1/sessions").json()["sessions"] if one["current"]]
    ended = current if way == "session" else issued.kept.id
    assert server.admin().delete(f"/api/v1/keys/{ended}").status_code == 200
    problem(client.post("/api/v1/keys", json={"role": role}), 401)


def test_a_user_makes_so_many_keys_and_no_more(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "OWN_KEYS", 3)
    page = entered(server, "many")
    assert [page.post("/api/v1/keys", json={}).status_code for _ in range(3)] == [201, 201, 403]
    assert server.issue(owner="many").kept.owner == "many"


def test_what_is_known_of_their_use_does_not_grow_with_them(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "REMEMBERED", 3)
    for _ in range(5):
        assert entered(server).get("/api/v1/whoami").status_code == 200
    serving: Serving = server.app.state.serving
    assert len(serving.gate._noted) <= 3
