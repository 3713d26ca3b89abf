"""REST: a write that is sent again under its Idempotency-Key is done once, and answered each time."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import AsyncClient, Memory
from recollect.model.space import Space
from recollect.models.hashing import HashingEmbedder
from recollect.ports.embedder import Vectors
from recollect.testing.store_samples import ManualClock
from tests.interface.serving import served

V1 = "/api/v1"


class Held:
    """An embedder that waits to be let go, and says when it was asked."""

    def __init__(self) -> None:
        self._hashing = HashingEmbedder(384)
        self.asked, self.go = threading.Semaphore(0), threading.Event()

    @property
    def space(self) -> Space:
        return self._hashing.space

    def embed_passages(self, texts: Any) -> Vectors:
        self.asked.release()
        assert self.go.wait(20)
        return self._hashing.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._hashing.embed_query(text)


def keyed(key: str = "k") -> dict[str, str]:
    return {"Idempotency-Key": key}


FACT = {"content": "Lives in Porto"}


@pytest.fixture
def goal(me: httpx.Client) -> str:
    return me.post(f"{V1}/goals", json={"description": "Move"}).json()["id"]


@pytest.fixture
def fact(me: httpx.Client) -> str:
    return me.post(f"{V1}/facts", params={"channel": "work"}, json={"content": "Has a bike"}).json()["id"]


def test_taking_back_and_settling_are_done_once(me: httpx.Client, fact: str) -> None:
    token = me.delete(f"{V1}/records/{fact}", params={"undo": True}).json()["undo"]
    for _ in range(2):
        back = me.post(f"{V1}/undo", json={"undo": token}, headers=keyed("undo"))
        assert (back.status_code, back.json()) == (200, {"fact": 1, "turn": 1})
    refused = me.post(f"{V1}/undo", json={"undo": token})
    assert (refused.status_code, refused.json()["error"]) == (409, "Conflict")
    assert me.post(f"{V1}/undo", json={"undo": f"{token}x"}).status_code == 422
    for keep in ("new", "old", "both", "neither"):
        asked = me.post(f"{V1}/contradictions/{fact}", json={"keep": keep}, headers=keyed(keep))
        assert asked.status_code == (422 if keep == "neither" else 404)


def test_every_write_is_done_once(me: httpx.Client, goal: str, fact: str) -> None:
    said = {"messages": [{"role": "user", "content": "I live in Porto."}], "conversation": "c"}
    writes: list[tuple[str, str, Any]] = [
        ("POST", f"{V1}/turns", said),
        ("POST", f"{V1}/memories", {"items": ["One", {"content": "Two", "kind": "episode"}]}),
        ("POST", f"{V1}/facts", FACT),
        ("POST", f"{V1}/procedures", FACT),
        ("POST", f"{V1}/goals", {"description": "Rest", "parent": goal}),
        ("PATCH", f"{V1}/goals/{goal}", {"priority": 2}),
        ("POST", f"{V1}/goals/{goal}/complete", {"result": "Done"}),
        ("POST", f"{V1}/tool_invocations", {"tool": "phone", "input": 1}),
        ("POST", f"{V1}/conversations/c/summaries", {"query": "q", "summary": "s", "result": "r"}),
        ("POST", f"{V1}/conversations/c/end", {"outcome": "Done"}),
        ("PATCH", f"{V1}/profile", {"preferences": {"tea": "green"}}),
        ("PATCH", f"{V1}/settings", {"top_k": 3}),
        ("PATCH", f"{V1}/records/{fact}", {"promoted": True, "pinned": True}),
        ("PUT", f"{V1}/records/{fact}", {"content": "Has a car"}),
        ("POST", "/api/memories/sessions", {"agent_name": "scout", "content": "Runs"}),
        ("POST", "/api/memories/sessions/batch", {"items": [{"agent_name": "scout", "content": "Runs"}]}),
        ("DELETE", f"{V1}/records/{fact}", None),
        ("DELETE", "/api/memories?agent_name=scout", None),
        ("DELETE", f"{V1}/conversations/c", None),
    ]
    for number, (method, path, body) in enumerate(writes):
        first = me.request(method, path, json=body, headers=keyed(str(number)))
        assert first.status_code < 300, (path, first.text)
        before = me.get(f"{V1}/stats").json()
        again = me.request(method, path, json=body, headers=keyed(str(number)))
        assert (again.status_code, _steady(again)) == (first.status_code, _steady(first)), path
        assert me.get(f"{V1}/stats").json() == before, path


def _steady(response: httpx.Response) -> Any:
    """What an update is stamped with moves on when it is made again."""
    return {name: value for name, value in response.json().items() if name != "updated_at"}


def test_merging_and_splitting_once(me: httpx.Client) -> None:
    for name in ("Bob", "Robert"):
        me.post(f"{V1}/facts", json={"content": f"{name} lives here", "about": [name]})
    for path, body in (
        ("merge", {"entity": "Bob", "into": "Robert"}),
        ("split", {"entity": "Robert", "alias": "Bob"}),
    ):
        first, again = (me.post(f"{V1}/entities/{path}", json=body, headers=keyed(path)) for _ in range(2))
        assert (first.status_code, again.json()) == (200, first.json())


def test_a_key_is_for_one_request(me: httpx.Client) -> None:
    assert me.post(f"{V1}/facts", json=FACT, headers=keyed()).status_code == 201
    for refused in (
        me.post(f"{V1}/facts", json={"content": "Lives in Lisbon"}, headers=keyed()),
        me.post(f"{V1}/episodes", json=FACT, headers=keyed()),
        me.post(f"{V1}/facts?channel=work", json=FACT, headers=keyed()),
    ):
        assert (refused.status_code, "another request" in refused.json()["detail"]) == (422, True)
    assert len(me.get(f"{V1}/facts").json()["facts"]) == 1


def test_a_key_is_one_users(me: httpx.Client, somebody: Callable[..., httpx.Client]) -> None:
    other = somebody()
    mine, theirs = (who.post(f"{V1}/facts", json=FACT, headers=keyed()).json()["id"] for who in (me, other))
    assert mine != theirs


def test_what_is_refused_may_be_sent_again(me: httpx.Client) -> None:
    assert me.put(f"{V1}/records/none", json=FACT, headers=keyed()).status_code == 404
    assert me.post(f"{V1}/facts", json={"content": " "}, headers=keyed()).status_code == 422
    assert me.post(f"{V1}/facts", json=FACT, headers=keyed()).status_code == 201


def test_odd_keys_are_refused(me: httpx.Client) -> None:
    for key in ("", "k" * 256):
        assert me.post(f"{V1}/facts", json=FACT, headers=keyed(key)).status_code == 422


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Memory, Held, httpx.Client]]:
    embedder = Held()
    with (
        Memory.open(tmp_path / "memory.db", embedder=embedder) as memory,
        served(memory) as server,
    ):
        me = server.of("derek")
        yield memory, embedder, me
        embedder.go.set()


def test_while_it_is_under_way_it_is_said_so(held: tuple[Memory, Held, httpx.Client]) -> None:
    _, embedder, me = held
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(me.post, f"{V1}/facts", json=FACT, headers=keyed())
        assert embedder.asked.acquire(timeout=20)
        early = me.post(f"{V1}/facts", json=FACT, headers=keyed())
        assert (early.status_code, early.headers["retry-after"]) == (409, "1")
        embedder.go.set()
        assert first.result().status_code == 201
    late = me.post(f"{V1}/facts", json=FACT, headers=keyed())
    assert late.json() == first.result().json()


def test_two_servers_do_it_once(held: tuple[Memory, Held, httpx.Client]) -> None:
    memory, embedder, me = held
    with served(memory) as server, ThreadPoolExecutor(2) as threads:
        there = server.of("derek")
        sent = [threads.submit(c.post, f"{V1}/facts", json=FACT, headers=keyed()) for c in (me, there)]
        assert all(embedder.asked.acquire(timeout=20) for _ in sent)  # both are about to write
        embedder.go.set()
        one, other = (done.result() for done in sent)
    assert (one.status_code, one.json()) == (201, other.json())
    assert memory.scope("derek").counts()["fact"] == 1


def test_after_a_day_a_key_is_free_again(tmp_path: Path) -> None:
    clock = ManualClock()
    with (
        Memory.open(tmp_path / "memory.db", embedder="none", clock=clock) as memory,
        served(memory) as server,
    ):
        me = server.of("derek")
        ids = [me.post(f"{V1}/facts", json=FACT, headers=keyed()).json()["id"] for _ in range(2)]
        clock.advance(hours=memory.settings.answer_hours, seconds=1)
        late = me.post(f"{V1}/facts", json=FACT, headers=keyed()).json()["id"]
        assert (len({*ids}), late in ids) == (1, False)


def test_what_is_kept_says_nothing_of_what_was_sent(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "memory.db", embedder="none") as memory,
        served(memory) as server,
    ):
        me = server.of("derek")
        me.post(f"{V1}/facts", json=FACT, headers=keyed("a-key"))
    with sqlite3.connect(tmp_path / "memory.db") as database:
        (row,) = database.execute("SELECT * FROM answers").fetchall()
    database.close()
    assert not any(word in str(row) for word in ("Porto", "a-key"))


def test_a_contradiction_is_settled_once(tmp_path: Path) -> None:
    async def settled(url: str, key: str) -> tuple[int, dict[str, int], int]:
        async with AsyncClient(url, key) as client:
            mine = client.scope()
            (pair,) = await mine.contradictions()
            gone = await mine.forget(pair.old.id, undo=True)
            back = await mine.undo(gone.undo or "")
            headers = {**keyed(), "Authorization": f"Bearer {key}"}
            sent: dict[str, Any] = {"json": {"keep": "old"}, "headers": headers, "timeout": 60}
            path = f"{url}{V1}/contradictions/{pair.id}"
            codes = {httpx.post(path, **sent).status_code for _ in range(2)}
            return codes.pop(), back, len(await mine.contradictions())

    with (
        Memory.open(tmp_path / "m.db", embedder="none", contradictions="flag_review") as memory,
        served(memory) as server,
    ):
        mine = memory.scope("kim")
        for town in ("Lyon", "Porto"):
            mine.record("user", f"I live in {town}.", conversation=town)
            mine.mine()
        assert asyncio.run(settled(server.url, server.issue(owner="kim").key)) == (204, {"fact": 1}, 0)
