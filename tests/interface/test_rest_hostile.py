"""REST: whatever is sent, the answer is one that says what is wrong with it, and never the server's fault."""

import json
from typing import Any

import httpx
import pytest

from recollect.server import http
from tests.interface.serving import Served

V1 = "/api/v1"
PROBES = ("/", "/healthz", "/readyz", "/metrics")
"""What machines ask, which has no shape of ours."""
PROBLEM = "application/problem+json"
DEEP = "[" * 500 + "]" * 500

WRITES = [
    ("POST", "turns", '{"messages": [{"role": "user", "content": %s}]}'),
    ("POST", "facts", '{"content": %s}'),
    ("POST", "memories", '{"items": [%s]}'),
    ("POST", "recall", '{"query": %s}'),
    ("POST", "goals", '{"description": %s}'),
    ("POST", "tool_invocations", '{"tool": %s}'),
    ("PUT", "records/x", '{"content": %s}'),
    ("PATCH", "profile", '{"preferences": {"a": %s}}'),
    ("PATCH", "settings", '{"a": %s}'),
    ("POST", "conversations/c/working/items", '{"type": "turn", "content": %s}'),
    ("PUT", "conversations/c/working/values/k", '{"value": %s}'),
]
VALUES = {
    "surrogate": r'"\ud800"',
    "nul": r'"\u0000"',
    "nan": "NaN",
    "infinity": "-Infinity",
    "huge": "9" * 400,
    "too many digits": "9" * 5000,
    "huge float": "1e999",
    "deep": DEEP,
    "deeper": "[" * 100_000,
    "object": '{"a": 1}',
    "null": "null",
    "flag": "true",
    "long": json.dumps("x" * 2_000_000),
    "cut": '"abc',
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_odd_values_are_taken_or_refused(me: httpx.Client, value: str) -> None:
    for method, path, body in WRITES:
        response = me.request(
            method, f"{V1}/{path}", content=body % value, headers={"content-type": "application/json"}
        )
        assert response.status_code < 500, (path, response.text[:300])
        if response.status_code >= 400:
            told = response.json()
            assert response.headers["content-type"] == PROBLEM
            assert (told["status"], len(told["detail"]) < 3000) == (response.status_code, True)
            assert "xxxx" not in response.text
    assert me.get(f"{V1}/stats").status_code == 200
    for path in ("turns", "facts", "tool_invocations", "profile", "settings", "goals", "export", "entities"):
        assert me.get(f"{V1}/{path}").status_code == 200
    assert me.get(f"{V1}/conversations/c/working").status_code == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'"x"', b"\xff", b"1", b'{"messages": 1}', b"\x00", b"{}" * 2]
)
def test_bodies_that_are_none(me: httpx.Client, body: bytes) -> None:
    for method, path, _ in WRITES:
        if path == "settings" and body.startswith(b'{"m'):  # any name is taken there
            continue
        for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x", ""):
            response = me.request(method, f"{V1}/{path}", content=body, headers={"content-type": kind})
            assert 400 <= response.status_code < 500, (path, kind, response.text)
            assert response.headers["content-type"] == PROBLEM


def test_fields_that_are_not_known_are_named(me: httpx.Client) -> None:
    for method, path, body in WRITES:
        if path == "settings":
            continue
        given = json.loads(body % '"x"')
        response = me.request(method, f"{V1}/{path}", json={**given, "user_id": "bob"})
        assert (response.status_code, "body.user_id" in response.json()["detail"]) == (422, True)
    said = {"role": "user", "content": "x", "odd": 1}
    refused = me.post(f"{V1}/turns", json={"messages": [said]})
    assert "body.messages.0.odd" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("facts", {"limit": 0}),
        ("facts", {"limit": 1001}),
        ("facts", {"limit": "9" * 400}),
        ("facts", {"limit": "NaN"}),
        ("facts", {"after": "\ud800".encode("utf-8", "surrogatepass")}),
        ("facts", {"where": '{"id": "\\ud800"}'}),
        ("facts", {"where": '{"confidence": 1e999}'}),
        ("facts", {"where": '{"confidence": NaN}'}),
        ("facts", {"where": '{"confidence": ' + "9" * 400 + "}"}),
        ("facts", {"where": '{"recorded_at": "0001-01-01T00:00:00+23:59"}'}),
        ("facts", {"where": "[" * 9000}),
        ("facts", {"where": '{"tense": "odd"}'}),
        ("turns", {"where": '{"index": ' + "9" * 15 + "}"}),
        ("records", {"kind": "tombstone"}),
        ("records", {"kind": "odd", "where": "{}"}),
        ("facts", {"channel": ""}),
        ("facts", {"channel": "x" * 300}),
        ("facts", {"channel": "a\x00b"}),
        ("facts", {"agent": "\n"}),
        ("timeline", {"since": "2026-01-01"}),
        ("timeline", {"since": "0001-01-01T00:00:00+23:59"}),
        ("timeline", {"since": "9" * 30}),
        ("timeline", {"entity": "nobody"}),
        ("usage", {"since": "odd"}),
        ("palace", {"room": "1"}),
        ("palace", {"wing": "9" * 30}),
        ("palace", {"wing": "²"}),
        ("palace/drawer", {"pointer": "odd"}),
        ("procedures/search", {"task": "x", "top_k": 0}),
        ("audit", {"after": "odd"}),
        ("conversations", {"after": "odd\x00"}),
        ("conversations/c/working/context", {"tokens": -1}),
        ("records/%00", {}),
        ("records/%ff", {}),
        ("records/%ED%A0%80", {}),
        ("records/" + "x" * 5000, {}),
        ("conversations/%00/turns", {}),
        ("conversations/%0a/working", {}),
        ("goals/" + "%2e%2e%2f" * 5, {}),
        ("nothing", {}),
    ],
)
def test_odd_questions(me: httpx.Client, path: str, params: dict[str, Any]) -> None:
    response = me.get(f"{V1}/{path}", params=params)
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert response.headers["content-type"] == PROBLEM
        assert {"type", "title", "status", "detail"} <= response.json().keys()


def test_what_has_halves_of_characters_is_answered_as_json(me: httpx.Client, served: Served) -> None:
    mine = served.memory.scope(me.headers["x-recollect-user"])
    fact = mine.remember("half \ud800 of one", metadata={"a": "\udfff"})
    told = me.get(f"{V1}/records/{fact.id}").json()
    assert (told["content"], told["metadata"]) == ("half \ud800 of one", {"a": "\udfff"})
    assert me.get(f"{V1}/facts").json()["facts"] == [told]


def test_another_method_is_told(me: httpx.Client) -> None:
    refused = me.put(f"{V1}/facts", json={})
    assert (refused.status_code, refused.headers["content-type"]) == (405, PROBLEM)
    assert "allow" in refused.headers
    assert "/docs" in me.get(f"{V1}/nothing").json()["detail"]
    deep = me.post(f"{V1}/facts", content="[" * 100_000, headers={"content-type": "application/json"})
    assert "send JSON" in deep.json()["detail"]


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain"])
def test_a_body_that_is_not_said_to_be_json_is_told(me: httpx.Client, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    refused = me.post(f"{V1}/recall", content=b'{"query": "tea"}', headers=headers)
    assert refused.status_code == 422
    assert "send content-type: application/json" in refused.json()["detail"]
    missing = me.post(f"{V1}/recall", headers={"content-type": "application/json"})
    assert "content-type" not in missing.json()["detail"]


def test_nobody_says_who_they_are_in_the_query(me: httpx.Client) -> None:
    for name in ("user", "user_id", "x-recollect-user"):
        refused = me.get(f"{V1}/facts", params={name: "somebody else"})
        assert (refused.status_code, repr(name) in refused.json()["detail"]) == (422, True)


def test_the_document_is_whole(me: httpx.Client) -> None:
    document = me.get("/openapi.json").json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    ids = [one["operationId"] for one in operations]
    assert len(set(ids)) == len(ids)
    probes = {one["operationId"] for path in PROBES for one in document["paths"][path].values()}
    ours = {tag for router in http.routers() for tag in router.tags}
    for one in (one for one in operations if ours & {*one["tags"]} and one["operationId"] not in probes):
        assert one["summary"]
        assert "4XX" in one["responses"], one["operationId"]
        assert "422" not in one["responses"], "one shape of errors"
    assert document["security"] == [{"bearer": []}, {"key": []}]
    assert {*document["components"]["securitySchemes"]} == {"bearer", "key"}
    assert document["paths"]["/healthz"]["get"]["security"] == []
    assert "/v1/chat/completions" in document["paths"]
    assert document["info"]["description"]
    tags = {tag for one in operations for tag in one["tags"]}
    assert "operations" in tags
    assert "operating" not in tags
    user = {"$ref": "#/components/parameters/user"}
    assert user in document["paths"]["/api/v1/recall"]["post"]["parameters"]
    assert user in document["paths"]["/v1/chat/completions"]["post"]["parameters"]
    assert me.get("/openapi.json").json() == document
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if "__" in name], "two of one name"
    bodies = {
        part["schema"].get("$ref", "").rsplit("/", 1)[-1]
        for one in operations
        for part in one.get("requestBody", {}).get("content", {}).values()
    }
    without = [name for name in bodies & schemas.keys() if "example" not in json.dumps(schemas[name])]
    assert without == []
    asked = schemas["Question"]["properties"]
    assert [name for name, field in asked.items() if "description" not in field] == []
