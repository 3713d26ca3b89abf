"""REST: conversations of any name, and their working memory."""

from urllib.parse import quote

import httpx
import pytest

V1 = "/api/v1"
NAMES = ["monday", "a/b", "ü", "%2F", "a%2Fb", "a b", "mined", "x/mined", "x/turns", "?&#", "..a", "日本/語"]


def told(client: httpx.Client, conversation: str, content: str = "I live in Porto.") -> None:
    body = {"messages": [{"role": "user", "content": content}], "conversation": conversation}
    assert client.post(f"{V1}/turns", json=body).status_code == 201


def of(conversation: str, *more: str) -> str:
    return "/".join((f"{V1}/conversations", quote(conversation, safe=""), *more))


@pytest.mark.parametrize("name", NAMES)
def test_a_conversation_has_any_name(me: httpx.Client, name: str) -> None:
    told(me, name)
    told(me, "x")
    assert [turn["conversation"] for turn in me.get(of(name, "turns")).json()["turns"]] == [name]
    assert me.get(f"{V1}/records/{quote(name, safe='')}").json()["id"] == name
    me.put(of(name, "working", "values", quote(name, safe="")), json={"value": [name]})
    assert me.get(of(name, "working")).json()["values"] == {name: [name]}
    assert me.get(of("x", "working")).json()["values"] == {}
    assert me.delete(of(name)).json()["counts"]["turn"] == 1
    assert me.get(of(name, "turns")).json() == {"turns": []}
    assert len(me.get(of("x", "turns")).json()["turns"]) == 1


def test_summaries(me: httpx.Client) -> None:
    told(me, "c")
    given = {"query": "Book", "summary": "Called", "result": "Booked"}
    made = me.post(of("c", "summaries"), json=given)
    assert (made.status_code, made.json()["conversation"]) == (201, "c")
    assert me.get(of("c", "summaries")).json() == {"summaries": [made.json()]}
    assert me.get(f"{V1}/summaries").json()["summaries"] == [made.json()]


def test_mining_and_undoing_it(me: httpx.Client) -> None:
    told(me, "c")
    assert me.post(of("c", "mine")).json()["mined"][0]["added"] >= 1
    told(me, "d", "I work at Initech.")
    assert [one["conversation"] for one in me.post(f"{V1}/mine").json()["mined"]] == ["d"]
    assert me.post(f"{V1}/mine", json={"conversation": "d"}).status_code == 200
    facts = me.get(f"{V1}/facts").json()["facts"]
    assert me.delete(of("c", "mined")).json()["counts"]["fact"] >= 1
    assert len(me.get(f"{V1}/facts").json()["facts"]) < len(facts)
    assert me.delete(of("nobody", "mined")).status_code == 404
    assert me.get(f"{V1}/timeline").json()["events"]
    places = me.get(f"{V1}/palace").json()["places"]
    assert places
    rooms = me.get(f"{V1}/palace", params={"wing": places[0]["number"]}).json()["places"]
    assert rooms[0]["level"] == "room"
    assert me.get(f"{V1}/palace", params={"wing": places[0]["place"]}).json()["places"] == rooms


def test_ending(me: httpx.Client) -> None:
    told(me, "c")
    assert "ended_at" in me.post(of("c", "end"), json={"outcome": "Done", "success": True}).json()
    assert "ended_at" in me.post(of("c", "end")).json()
    assert me.post(of("nobody", "end")).status_code == 404


def test_working_memory(me: httpx.Client) -> None:
    here = of("c", "working")
    assert me.get(here).json() == {"items": [], "values": {}, "goal": None, "tokens": 0}
    item = me.post(f"{here}/items", json={"type": "action", "content": "Call", "metadata": {"tool": "phone"}})
    assert (item.status_code, item.json()["metadata"]) == (201, {"tool": "phone"})
    assert me.put(f"{here}/values/city", json={"value": {"name": "Porto"}}).status_code == 200
    assert me.get(f"{here}/values/city").json() == {"value": {"name": "Porto"}}
    assert me.put(f"{here}/goal", json={"goal": "Book"}).json() == {"goal": "Book"}
    held = me.get(here).json()
    assert (held["goal"], held["values"]["city"], len(held["items"])) == ("Book", {"name": "Porto"}, 1)
    assert "Call" in me.get(f"{here}/context", params={"tokens": 100}).json()["context"]
    assert me.post(f"{here}/compress").json() == {"compressed": False}
    assert me.post(f"{here}/end_invocation").status_code == 204
    assert me.get(here).json()["items"] == []
    assert me.delete(f"{here}/values/city").status_code == 204
    assert me.get(f"{here}/values/city").status_code == 404
    assert me.delete(here).status_code == 204
    assert me.get(here).json()["goal"] is None


@pytest.mark.parametrize("name", ["type", "content", "self", "at", "metadata"])
def test_metadata_of_an_item_are_no_arguments(me: httpx.Client, name: str) -> None:
    item = {"type": "turn", "content": "Hi", "metadata": {name: "x"}}
    refused = me.post(of("c", "working", "items"), json=item)
    assert (refused.status_code, name in refused.json()["detail"]) == (422, True)


def test_conversations_are_listed_by_name(me: httpx.Client) -> None:
    for name in ("b", "a", "c"):
        told(me, name)
    page = me.get(f"{V1}/conversations", params={"limit": 2}).json()
    assert ([one["id"] for one in page["conversations"]], page["next"]) == (["a", "b"], "b")
    rest = me.get(f"{V1}/conversations", params={"after": page["next"]}).json()
    assert [one["id"] for one in rest["conversations"]] == ["c"]
