"""REST: recording, remembering, recalling, listing, correcting, forgetting."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recollect import Fact, Recollection, Turn
from recollect.wire import from_wire
from tests.interface.serving import Served

V1 = "/api/v1"


def saved(client: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    response = client.post(f"{V1}/facts", json={"content": content, **fields})
    assert response.status_code == 201
    return response.json()


def test_turns_are_recorded_word_for_word(me: httpx.Client) -> None:
    said = [
        {"role": "user", "content": "I live\x00 in Pörto", "at": "2026-01-02T03:04:05+01:00", "index": 0},
        {"role": "assistant", "content": "", "metadata": {"a": [1, None]}, "model": "m", "tokens": 3},
    ]
    response = me.post(f"{V1}/turns", json={"messages": said, "conversation": "c"})
    assert response.status_code == 201
    turns = [from_wire(Turn, turn) for turn in response.json()["turns"]]
    assert [(turn.content, turn.index, turn.conversation) for turn in turns] == [
        ("I live\x00 in Pörto", 0, "c"),
        ("", 1, "c"),
    ]
    assert turns[0].at.isoformat() == "2026-01-02T02:04:05+00:00"
    assert me.get(f"{V1}/conversations/c/turns").json() == response.json()
    assert me.get(f"{V1}/records/{turns[0].id}").json() == response.json()["turns"][0]
    again = me.post(f"{V1}/turns", json={"messages": said[:1], "conversation": "c"})
    assert again.json()["turns"] == response.json()["turns"][:1]
    other = me.post(f"{V1}/turns", json={"messages": [{**said[0], "content": "x"}], "conversation": "c"})
    assert (other.status_code, other.json()["error"]) == (409, "Conflict")


def test_the_scope_is_in_the_query(me: httpx.Client) -> None:
    where = {"channel": "work", "agent": "scout", "conversation": "c"}
    turn = me.post(
        f"{V1}/turns", params=where, json={"messages": [{"role": "user", "content": "Hi"}]}
    ).json()["turns"][0]
    assert {name: turn[name] for name in where} == where


def test_what_is_saved_is_recalled(me: httpx.Client) -> None:
    response = me.post(
        f"{V1}/memories",
        json={
            "items": [
                "Lives in Porto",
                {"content": "Deploy with make", "kind": "procedure", "tools": ["make"]},
            ]
        },
    )
    assert response.status_code == 201
    assert [one["kind"] for one in response.json()["memories"]] == ["fact", "procedure"]
    found = me.post(f"{V1}/recall", json={"query": "Where do I live? In Porto?", "explain": True})
    recollection = from_wire(Recollection, found.json())
    assert recollection.hits[0].content == "Lives in Porto"
    assert "<memory_context" in recollection.context
    assert me.get(f"{V1}/procedures/search", params={"task": "Deploy with make"}).json()["procedures"]
    assert "vector" not in found.text


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("facts", {}),
        ("procedures", {"context": "releases", "tools": ["make"], "successes": 2}),
        ("episodes", {"goal": "Move", "steps": ["Pack"], "success": True}),
        ("reflections", {"pinned": True}),
    ],
)
def test_memories_of_each_kind(me: httpx.Client, path: str, more: dict[str, Any]) -> None:
    made = me.post(f"{V1}/{path}", json={"content": "Something", "about": ["Derek"], **more})
    assert made.status_code == 201
    for name, value in more.items():
        assert made.json()[name] == value
    assert me.get(f"{V1}/{path}").json()[path] == [made.json()]
    assert [one["name"] for one in me.get(f"{V1}/entities").json()["entities"]] == ["Derek"]


def test_pages_go_on_where_the_last_one_ended(me: httpx.Client) -> None:
    ids = [saved(me, f"Fact {number}")["id"] for number in range(5)]
    seen: list[str] = []
    after: dict[str, Any] = {}
    while True:
        page = me.get(f"{V1}/facts", params={"limit": 2, **after}).json()
        seen += [fact["id"] for fact in page["facts"]]
        if "next" not in page:
            break
        after = {"after": page["next"]}
    assert seen == ids[::-1]
    oldest = me.get(f"{V1}/records", params={"kind": "fact", "oldest_first": True, "limit": 1}).json()
    assert [fact["id"] for fact in oldest["records"]] == ids[:1]


def test_lists_are_narrowed_by_fields(me: httpx.Client) -> None:
    first, second = saved(me, "One"), saved(me, "Two", pinned=True)
    me.put(f"{V1}/records/{first['id']}", json={"content": "Three"})
    for where, expected in (
        ({"superseded_by": None}, {"Two", "Three"}),
        ({"pinned": True}, {"Two"}),
        ({"id": [first["id"], second["id"]]}, {"One", "Two"}),
        ({"recorded_at": second["recorded_at"]}, {"Two"}),
        ({"channel": "elsewhere"}, set()),
    ):
        found = me.get(f"{V1}/facts", params={"where": json.dumps(where), "history": True})
        assert {fact["content"] for fact in found.json()["facts"]} == expected
    for where in ("[]", "{", '{"limit": 1}', '{"metadata": {}}', '{"recorded_at": "x"}', '{"id": {}}'):
        refused = me.get(f"{V1}/facts", params={"where": where})
        assert (refused.status_code, "where" in refused.text or "listed by" in refused.text) == (422, True)


def test_correcting_pinning_and_promoting(me: httpx.Client) -> None:
    old = saved(me, "Lives in Porto")
    new = me.put(f"{V1}/records/{old['id']}", json={"content": "Lives in Lisbon"}).json()
    assert (new["content"], new["supersedes"]) == ("Lives in Lisbon", old["id"])
    assert me.get(f"{V1}/records/{old['id']}").json()["superseded_by"] == new["id"]
    assert me.patch(f"{V1}/records/{new['id']}", json={"pinned": True}).json()["pinned"] is True
    assert me.patch(f"{V1}/records/{new['id']}", json={"pinned": False}).json()["pinned"] is False
    local = me.post(f"{V1}/facts", params={"channel": "work"}, json={"content": "Uses Rust"}).json()
    both = me.patch(f"{V1}/records/{local['id']}", json={"promoted": True, "pinned": True}).json()
    assert (both["channel"], both["promoted_from"], both["pinned"]) == ("_global", "work", True)
    assert me.patch(f"{V1}/records/{local['id']}", json={}).status_code == 422


def test_forgetting_tells_what_went(me: httpx.Client) -> None:
    fact = saved(me, "Lives in Porto")
    dry = me.delete(f"{V1}/records/{fact['id']}", params={"dry_run": True}).json()
    assert dry == {"counts": {"fact": 1, "turn": 1}, "ids": [fact["id"], *fact["sources"]]}
    gone = me.delete(f"{V1}/records/{fact['id']}").json()
    assert (gone["counts"], "receipt" in gone) == (dry["counts"], True)
    assert me.get(f"{V1}/records/{fact['id']}").status_code == 404
    assert me.delete(f"{V1}/records/{fact['id']}").status_code == 404


def test_anothers_id_is_nobodys(me: httpx.Client, somebody: Callable[..., httpx.Client]) -> None:
    fact = saved(me, "Lives in Porto")
    goal = me.post(f"{V1}/goals", json={"description": "Move"}).json()
    me.post(f"{V1}/turns", json={"messages": [{"role": "user", "content": "Hi"}], "conversation": "c"})
    other = somebody()
    tries = [
        ("GET", f"{V1}/records/{{}}", None),
        ("PUT", f"{V1}/records/{{}}", {"content": "x"}),
        ("PATCH", f"{V1}/records/{{}}", {"pinned": True}),
        ("DELETE", f"{V1}/records/{{}}", None),
        ("GET", "/v1/memory/{}", None),
        ("PUT", "/v1/memory/{}", {"content": "x"}),
        ("DELETE", "/v1/memory/{}", None),
    ]
    for method, path, body in tries:
        theirs = other.request(method, path.format(fact["id"]), json=body)
        missing = other.request(method, path.format("0" * 36), json=body)
        assert theirs.status_code == missing.status_code == 404
        assert theirs.text.replace(fact["id"], "") == missing.text.replace("0" * 36, "")
    assert other.get(f"{V1}/goals/{goal['id']}").status_code == 404
    assert other.get(f"{V1}/conversations/c/turns").json() == {"turns": []}
    assert other.post(f"{V1}/recall", json={"query": "Where do I live in Porto"}).json()["hits"] == []
    assert other.get(f"{V1}/stats").json()["counts"] == {}
    assert me.get(f"{V1}/records/{fact['id']}").status_code == 200


def test_an_admin_reads_nobodys_memory(served: Served, me: httpx.Client) -> None:
    fact = saved(me, "Lives in Porto")
    admin = served.admin()
    for path in (f"/records/{fact['id']}", "/facts", "/export", "/profile", "/stats", "/audit", "/growth"):
        assert admin.get(f"{V1}{path}").status_code == 404
    assert admin.post(f"{V1}/recall", json={"query": "x"}).status_code == 404
    assert admin.get(f"{V1}/whoami").json() == {"user": None, "role": "admin"}
    assert "jobs" in admin.get(f"{V1}/jobs").json()
    assert {one["job"] for one in admin.post(f"{V1}/jobs/run").json()["outcomes"]}
    assert admin.get(f"{V1}/receipts").status_code == 200
    assert me.get(f"{V1}/jobs").status_code == me.get(f"{V1}/figures").status_code == 403


def test_a_fact_comes_back_as_it_is_in_process(me: httpx.Client, served: Served) -> None:
    fact = from_wire(Fact, saved(me, "Lives in Porto", about=["Derek"], metadata={"a": 1}))
    assert served.memory.scope(me.headers["x-recollect-user"]).get(fact.id) == fact


def contents(me: httpx.Client, plural: str, **query: Any) -> list[str]:
    answer = me.get(f"{V1}/{plural}", params=query)
    assert answer.status_code == 200, answer.text
    return [one["content"] for one in answer.json()[plural]]


def test_lists_are_narrowed_by_where_memory_is_seen_from(me: httpx.Client) -> None:
    saved(me, "For all")
    for channel in ("work", "home"):
        query = {"channel": channel, "agent": f"{channel}er"}
        me.post(f"{V1}/facts", params=query, json={"content": f"At {channel}"})
        messages = [{"role": "user", "content": f"Said at {channel}"}]
        me.post(f"{V1}/turns", params=query, json={"conversation": channel, "messages": messages})
    assert contents(me, "facts") == ["At home", "At work", "For all"]
    assert contents(me, "facts", channel="work") == ["At work", "For all"]
    assert contents(me, "facts", channel="_global") == ["For all"]
    assert contents(me, "facts", agent="homeer") == ["At home"]
    assert contents(me, "facts", channel="work", where='{"channel": "home"}') == ["At home"]
    assert contents(me, "turns", conversation="home") == ["Said at home"]
    assert contents(me, "turns", conversation="nope") == []
    assert "Said at home" not in contents(me, "records", kind="turn", channel="work")
    assert contents(me, "records", channel="work", everywhere=True) == ["At home", "At work", "For all"]
    named = me.get(f"{V1}/conversations", params={"channel": "home"}).json()["conversations"]
    assert [one["id"] for one in named] == ["_notes", "home"]
    refused = me.get(f"{V1}/facts", params={"conversation": "home"})
    assert (refused.status_code, "has no conversation" in refused.json()["detail"]) == (422, True)
    me.patch(f"{V1}/retention", params={"channel": "work"}, json={"isolated": True})
    assert contents(me, "facts", channel="work") == ["At work"]


def test_corrected_memories_are_listed_to_those_who_ask(me: httpx.Client) -> None:
    old = saved(me, "Lives in Porto")
    me.put(f"{V1}/records/{old['id']}", json={"content": "Lives in Lisbon"})
    assert contents(me, "facts") == ["Lives in Lisbon"]
    assert contents(me, "facts", history=True) == ["Lives in Lisbon", "Lives in Porto"]
    assert contents(me, "facts", where='{"superseded_by": null}') == ["Lives in Lisbon"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "facts"), ("POST", "recall"), ("GET", "stats"), ("DELETE", "everything"), ("GET", "whoami")],
)
def test_what_a_query_has_no_use_for_is_named(me: httpx.Client, method: str, path: str) -> None:
    query = {"chanel": "work", "x" * 1000: "1", "confirm": "nobody"}
    answer = me.request(method, f"{V1}/{path}", params=query, json={"query": "tea"})
    assert answer.status_code == 422
    assert "'chanel'" in answer.json()["detail"]
    assert "conversation" in answer.json()["detail"]
    assert len(answer.text) < 1000
    assert me.get(f"{V1}/whoami", params={"channel": "work"}).status_code == 200
