"""REST: goals, profile, settings, retention, channels, tools, entities, what was done and what it costs."""

from typing import Any

import httpx

V1 = "/api/v1"


def test_goals(me: httpx.Client) -> None:
    part = me.post(
        f"{V1}/goals", json={"description": "Pack", "priority": 2, "deadline": "2030-01-01T00:00:00Z"}
    )
    assert part.status_code == 201
    whole = me.post(f"{V1}/goals", json={"description": "Move", "blocked_by": [part.json()["id"]]}).json()
    assert whole["status"] == "blocked"
    assert [goal["id"] for goal in me.get(f"{V1}/goals").json()["goals"]] == [part.json()["id"]]
    assert len(me.get(f"{V1}/goals", params={"status": "all"}).json()["goals"]) == 2
    state = me.get(f"{V1}/goals/{whole['id']}").json()
    assert [goal["id"] for goal in state["blockers"]] == [part.json()["id"]]
    changed = me.patch(f"{V1}/goals/{part.json()['id']}", json={"priority": 5, "deadline": None}).json()
    assert (changed["priority"], "deadline" in changed, changed["description"]) == (5, False, "Pack")
    done = me.post(f"{V1}/goals/{part.json()['id']}/complete", json={"result": "Packed"}).json()
    assert (done["status"], done["result"]) == ("completed", "Packed")
    assert me.get(f"{V1}/goals/{whole['id']}").json()["goal"]["status"] == "active"
    assert me.post(f"{V1}/goals/{whole['id']}/complete").json()["status"] == "completed"
    assert me.get(f"{V1}/goals", params={"status": "odd"}).status_code == 422


def test_profile_and_settings(me: httpx.Client) -> None:
    given: dict[str, Any] = {"preferences": {"tea": "green"}, "expertise": ["Python"]}
    assert me.patch(f"{V1}/profile", json=given).json()["preferences"] == {"tea": "green"}
    profile = me.patch(f"{V1}/profile", json={"preferences": {"tea": None}}).json()
    assert (profile["preferences"], profile["expertise"]) == ({}, ["Python"])
    assert me.get(f"{V1}/profile").json() == profile
    chosen = {"top_k": 8, "rerank": False}
    assert me.patch(f"{V1}/settings", json=chosen).json()["values"] == chosen
    assert me.patch(f"{V1}/settings", json={"no_such": 1}).status_code == 422
    assert me.patch(f"{V1}/settings", json=dict.fromkeys(chosen)).status_code == 200
    assert me.get(f"{V1}/settings").json()["values"] == {}
    assert me.patch(f"{V1}/settings", json={"self": 1}).status_code == 422


def test_retention(me: httpx.Client) -> None:
    assert me.patch(f"{V1}/retention", json={"expire": True, "ttl_days": 30}).json()["ttl_days"] == 30
    there = me.patch(f"{V1}/retention", params={"channel": "work"}, json={"ttl_days": 5}).json()
    assert (there["expire"], there["ttl_days"]) == (True, 5)
    assert me.get(f"{V1}/retention").json()["ttl_days"] == 30
    assert me.get(f"{V1}/retention", params={"channel": "work"}).json()["ttl_days"] == 5
    origins = me.get(f"{V1}/retention/origins", params={"channel": "work"}).json()
    assert (origins["ttl_days"], origins["expire"], origins["decay"]) == ("channel", "user", "default")
    assert me.patch(f"{V1}/retention", json={"no_such": 1}).status_code == 422


def test_channels_and_agents(me: httpx.Client) -> None:
    for where in ({"channel": "work"}, {"agent": "scout"}):
        me.post(f"{V1}/facts", params=where, json={"content": f"Said in {where}"})
    channels = me.get(f"{V1}/channels").json()["channels"]
    assert {name: one["memories"] for name, one in channels.items()} == {"": 2, "_global": 1, "work": 1}
    assert me.delete(f"{V1}/channels/work", params={"dry_run": True}).json()["counts"]["fact"] == 1
    assert me.delete(f"{V1}/channels/work").json()["counts"]["fact"] == 1
    assert me.delete(f"{V1}/agents/scout").json()["counts"]["fact"] == 1
    assert me.get(f"{V1}/facts").json() == {"facts": []}


def test_stats_audit_and_usage(me: httpx.Client) -> None:
    fact = me.post(f"{V1}/facts", json={"content": "Lives in Porto"}).json()
    assert me.get(f"{V1}/stats").json()["counts"]["fact"] == 1
    told = {"messages": [{"role": "user", "content": "Hi"}], "conversation": "c"}
    me.post(f"{V1}/turns", json=told)
    entries = me.get(f"{V1}/audit").json()["audit"]
    assert [entry["operation"] for entry in entries] == ["record", "remember"]
    first = me.get(f"{V1}/audit", params={"limit": 1}).json()
    behind = me.get(f"{V1}/audit", params={"after": first["next"]}).json()["audit"]
    assert first["audit"] + behind == entries
    assert len(me.get(f"{V1}/audit", params={"conversation": "c"}).json()["audit"]) == 1
    assert me.get(f"{V1}/records/{fact['id']}/readers").json() == {"readers": []}
    (spent,) = me.get(f"{V1}/usage").json()["usage"]
    assert (spent["source"], spent["calls"]) == ("memory_embed", 2)
    assert me.get(f"{V1}/usage", params={"since": "2999-01-01"}).json() == {"usage": []}


def test_tools(me: httpx.Client) -> None:
    called = {"tool": "weather", "input": {"city": "Porto"}, "output": [18], "latency_ms": 12.5}
    made = me.post(f"{V1}/tool_invocations", json=called)
    assert (made.status_code, made.json()["input"]) == (201, {"city": "Porto"})
    me.post(f"{V1}/tool_invocations", json={"tool": "weather", "error": "TimeoutError: slow"})
    (stats,) = me.get(f"{V1}/tools").json()["tools"]
    assert (stats["calls"], stats["successes"], stats["last_error"]) == (2, 1, "TimeoutError")
    assert me.get(f"{V1}/tools", params={"tool": "other"}).json() == {"tools": []}
    assert len(me.get(f"{V1}/tool_invocations").json()["tool_invocations"]) == 2


def test_entities_are_merged_and_split(me: httpx.Client) -> None:
    for name in ("Bob", "Robert"):
        me.post(f"{V1}/facts", json={"content": f"{name} lives here", "about": [name]})
    merged = me.post(f"{V1}/entities/merge", json={"entity": "Bob", "into": "Robert"}).json()
    assert (merged["name"], merged["aliases"]) == ("Robert", ["Bob"])
    assert [one["name"] for one in me.get(f"{V1}/graph", params={"entity": "Bob"}).json()["entities"]] == [
        "Robert"
    ]
    assert me.post(f"{V1}/entities/split", json={"entity": "Robert", "alias": "Bob"}).json()["name"] == "Bob"
    assert me.get(f"{V1}/graph", params={"entity": "Nobody"}).status_code == 404
    assert me.get(f"{V1}/graph", params={"entity": "Bob", "hops": 4}).status_code == 422


def test_everything_goes_when_it_is_confirmed(me: httpx.Client) -> None:
    me.post(f"{V1}/facts", json={"content": "Lives in Porto"})
    assert me.delete(f"{V1}/everything").status_code == 422
    assert me.delete(f"{V1}/everything", params={"confirm": "somebody else"}).status_code == 422
    mine = {"confirm": me.headers["x-recollect-user"]}
    assert me.delete(f"{V1}/everything", params={**mine, "dry_run": True}).json()["counts"]["fact"] == 1
    assert me.delete(f"{V1}/everything", params=mine).json()["counts"]["fact"] == 1
    assert me.get(f"{V1}/stats").json() == {"counts": {}, "sizes": {}}
