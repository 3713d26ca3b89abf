"""The routes of kagent and of Semantic Router, as their clients call them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.interface.serving import Served

KAGENT = "/api/memories"
ROUTER = "/v1/memory"


def kagent(client: httpx.Client, content: str, agent: str = "scout", **more: Any) -> httpx.Response:
    """As kagent's memory service sends it."""
    item = {
        "agent_name": agent,
        "user_id": client.headers["x-recollect-user"],
        "content": content,
        "vector": [0.1] * 768,
    }
    return client.post(f"{KAGENT}/sessions", json={**item, **more})


def test_kagent_keeps_memories_of_an_agent(me: httpx.Client) -> None:
    added = kagent(me, "The cluster runs in eu-west-1", metadata={"session_id": "s", "app_name": "a"})
    assert (added.status_code, [*added.json()]) == (201, ["id"])
    batch = [{"agent_name": "scout", "content": f"Node {n} is full", "vector": [0.1] * 768} for n in range(2)]
    assert me.post(f"{KAGENT}/sessions/batch", json={"items": batch}).json() == {"count": 2}
    kagent(me, "Another agent's cluster", agent="other")
    (found,) = me.post(
        f"{KAGENT}/search",
        json={
            "agent_name": "scout",
            "user_id": me.headers["x-recollect-user"],
            "query": "cluster runs",
            "limit": 1,
        },
    ).json()
    assert (found["id"], found["content"]) == (added.json()["id"], "The cluster runs in eu-west-1")
    assert found["metadata"] == {"session_id": "s", "app_name": "a"}
    assert {"score", "created_at"} <= found.keys()


def test_kagent_ranks_by_use(me: httpx.Client) -> None:
    ids = [kagent(me, text).json()["id"] for text in ("Tea is green", "The sky is blue", "Snow is white")]
    for _ in range(2):
        me.post(f"{KAGENT}/search", json={"agent_name": "scout", "query": "sky blue", "min_score": 0.9})
    listed = me.get(KAGENT, params={"agent_name": "scout", "user_id": me.headers["x-recollect-user"]}).json()
    assert [(one["id"], one["access_count"]) for one in listed] == [(ids[1], 2), (ids[0], 0), (ids[2], 0)]
    lives = [
        datetime.fromisoformat(one["expires_at"]) - datetime.fromisoformat(one["created_at"])
        for one in listed
    ]
    assert all(timedelta(days=14.9) < life < timedelta(days=15.1) for life in lives)


def test_kagent_says_how_long_a_memory_lives(me: httpx.Client) -> None:
    kagent(me, "Short", ttl_days=1)
    (one,) = me.get(KAGENT, params={"agent_name": "scout"}).json()
    life = datetime.fromisoformat(one["expires_at"]) - datetime.fromisoformat(one["created_at"])
    assert timedelta(hours=23) < life < timedelta(hours=25)
    assert kagent(me, "By default", ttl_days=0).status_code == 201


def test_kagent_searches_by_vector(me: httpx.Client, served: Served) -> None:
    id = kagent(me, "The cluster runs in eu-west-1").json()["id"]
    assert served.memory.embedder is not None
    vector = served.memory.embedder.embed_query("The cluster runs in eu-west-1").tolist()
    search = {"agent_name": "scout", "vector": vector, "limit": 5, "min_score": 0.3}
    assert [hit["id"] for hit in me.post(f"{KAGENT}/search", json=search).json()] == [id]
    wrong = me.post(f"{KAGENT}/search", json={**search, "vector": [0.1] * 768})
    assert (wrong.status_code, "384" in wrong.json()["detail"]) == (422, True)
    assert me.post(f"{KAGENT}/search", json={"agent_name": "scout"}).status_code == 422


def test_kagent_clears_an_agent(me: httpx.Client) -> None:
    kagent(me, "One")
    kagent(me, "Two", agent="other")
    assert me.delete(KAGENT, params={"agent_name": "scout"}).json()["status"] == "deleted"
    assert me.get(KAGENT, params={"agent_name": "scout"}).json() == []
    assert len(me.get(KAGENT, params={"agent_name": "other"}).json()) == 1


def test_kagent_refuses_what_it_cannot_take(me: httpx.Client) -> None:
    item = {"agent_name": "scout", "content": "x"}
    for body in ({"items": []}, {"items": [item] * 51}, {"items": [item, {**item, "agent_name": "b"}]}, {}):
        assert me.post(f"{KAGENT}/sessions/batch", json=body).status_code == 422
    assert me.post(f"{KAGENT}/sessions", json={"content": "x"}).status_code == 422
    assert me.get(KAGENT).status_code == 422


def test_a_forged_user_is_nobody(me: httpx.Client, somebody: Callable[..., httpx.Client]) -> None:
    other = somebody()
    theirs = {"user_id": other.headers["x-recollect-user"]}
    assert kagent(me, "x", **theirs).status_code == 404
    batch = {"items": [{"agent_name": "scout", "content": "x", **theirs}]}
    assert me.post(f"{KAGENT}/sessions/batch", json=batch).status_code == 404
    search = {"agent_name": "scout", "query": "x", **theirs}
    assert me.post(f"{KAGENT}/search", json=search).status_code == 404
    for method in ("GET", "DELETE"):
        assert me.request(method, KAGENT, params={"agent_name": "scout", **theirs}).status_code == 404
        assert me.request(method, ROUTER, params=theirs).status_code == 404
    assert other.get("/api/v1/stats").json()["counts"] == {}


def test_router_lists_by_type(me: httpx.Client) -> None:
    kinds = {
        "semantic": "facts",
        "procedural": "procedures",
        "episodic": "episodes",
        "reflective": "reflections",
    }
    for type, path in kinds.items():
        for number in range(2):
            me.post(f"/api/v1/{path}", params={"channel": "trip"}, json={"content": f"A {type} {number}"})
    every: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = me.get(ROUTER, params={"limit": 3, **after}).json()
        every += page["memories"]
        if "next" not in page:
            break
        after = {"after": page["next"]}
    assert [one["type"] for one in every] == [type for type in kinds for _ in range(2)]
    for type in kinds:
        some = me.get(ROUTER, params={"type": type}).json()["memories"]
        assert [one["content"] for one in some] == [f"A {type} 1", f"A {type} 0"]
    assert me.get(ROUTER, params={"project_id": "trip", "limit": 100}).json()["memories"] == every
    assert me.get(ROUTER, params={"project_id": "other"}).json() == {"memories": []}
    assert me.get(ROUTER, params={"type": "odd"}).status_code == 422


def test_router_corrects_and_forgets_one(me: httpx.Client) -> None:
    old = me.post("/api/v1/facts", json={"content": "Budget is $10,000"}).json()["id"]
    new = me.put(f"{ROUTER}/{old}", json={"content": "Budget is $12,000"}).json()
    assert (new["content"], new["id"] != old) == ("Budget is $12,000", True)
    assert me.get(f"{ROUTER}/{new['id']}").json() == new
    assert [one["id"] for one in me.get(ROUTER).json()["memories"]] == [new["id"]]
    assert me.delete(f"{ROUTER}/{new['id']}").json()["counts"]["fact"] == 1
    assert me.get(f"{ROUTER}/{new['id']}").status_code == 404
    turn = {"messages": [{"role": "user", "content": "Hi"}], "conversation": "c"}
    id = me.post("/api/v1/turns", json=turn).json()["turns"][0]["id"]
    for method in ("GET", "DELETE"):
        assert me.request(method, f"{ROUTER}/{id}").status_code == 404


def test_router_forgets_by_scope(me: httpx.Client) -> None:
    me.post("/api/v1/facts", params={"channel": "trip"}, json={"content": "Budget is $10,000"})
    me.post("/api/v1/facts", json={"content": "Lives in Porto"})
    assert me.delete(ROUTER).status_code == 422
    assert me.delete(ROUTER, params={"project_id": "trip"}).json()["counts"]["fact"] == 1
    assert len(me.get(ROUTER).json()["memories"]) == 1
    assert me.delete(ROUTER, params={"user_id": me.headers["x-recollect-user"]}).json()["counts"]["fact"] == 1
    assert me.get(ROUTER).json() == {"memories": []}


@pytest.mark.parametrize("path", [f"{KAGENT}?agent_name=a", ROUTER])
def test_admins_see_nothing(served: Served, path: str) -> None:
    assert served.admin().get(path).status_code == 404
