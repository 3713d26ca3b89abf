"""What goes through the gateway goes through as it is: bytes, errors, ends; and whose key goes where."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from recollect import Memory
from recollect.testing.openai_answers import events
from recollect.testing.openai_server import Drop, Feed, Hang, OpenAIServer, Status
from tests.interface.gateway import Gateway, gateway

MODEL = "any-model"
ODD = [b": a comment\n", b'data: {"x":\xf0\x9f', b"\x8d\xb5}\r\n\r\n", b"\x00\xff", b"data: [DONE]\n\n"]


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    with opened(tmp_path, upstream) as found:
        yield found


@pytest.fixture
def keyed(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    with opened(tmp_path, upstream, keyed=True, upstream_key="sk-upstream") as found:
        yield found


@contextmanager
def opened(
    folder: Path, upstream: OpenAIServer, *, keyed: bool = False, **settings: Any
) -> Iterator[Gateway]:
    with (
        Memory.open(folder / "m.db", embedder="hashing", upstream=upstream.base_url, **settings) as memory,
        gateway(memory, upstream, keyed=keyed) as found,
    ):
        yield found


CALLERS: dict[str, Callable[[Gateway], httpx.Client]] = {
    "ann": lambda gate: gate.of("ann"),
    "service": lambda gate: gate.service(),
    "service for bob": lambda gate: gate.service("bob"),
}


def asking(text: str = "Hi", **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}


def test_bytes_are_passed_back_as_they_came(gate: Gateway) -> None:
    gate.upstream.script(Feed(ODD, headers={"Content-Type": "text/event-stream", "X-Odd": "1"}))
    with gate.http.stream("POST", "/chat/completions", json=asking(stream=True)) as answer:
        got = b"".join(answer.iter_raw())
    assert got == b"".join(ODD)
    assert answer.headers["x-odd"] == "1"
    assert (len(answer.headers.get_list("date")), "server" in answer.headers) == (1, False)


def test_each_chunk_comes_before_the_next_is_sent(gate: Gateway) -> None:
    gates = [threading.Event() for _ in range(5)]
    pieces = [f'data: {{"n": {n}}}\n\n'.encode() for n in range(5)]
    gate.upstream.script(Feed(pieces, gates))
    with gate.http.stream("POST", "/chat/completions", json=asking(stream=True)) as answer:
        raw = answer.iter_raw()
        for piece, let in zip(pieces, gates, strict=True):
            let.set()
            assert next(raw) == piece


@pytest.mark.parametrize("accepted", ["gzip, deflate", "br", "identity"])
def test_packed_bytes_stay_packed_and_are_read(gate: Gateway, accepted: str) -> None:
    packed = gzip.compress(json.dumps(gate_answer("Tea.")).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    if accepted != "gzip, deflate":
        packed, headers = gzip.decompress(packed), {"Content-Type": "application/json"}
    gate.upstream.script(Feed([packed[:10], packed[10:]], headers=headers))
    ask = gate.http.stream("POST", "/chat/completions", json=asking(), headers={"Accept-Encoding": accepted})
    with ask as answer:
        got = b"".join(answer.iter_raw())
    assert got == packed
    assert answer.headers.get("content-encoding") == headers.get("Content-Encoding")
    assert gate.asked[-1].headers["accept-encoding"] == (accepted if accepted[0] == "g" else "identity")
    assert gate.turns() == [("user", "Hi"), ("assistant", "Tea.")]


def gate_answer(text: str) -> dict[str, Any]:
    return {"model": MODEL, "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}


@pytest.mark.parametrize("code", [400, 401, 404, 418, 429, 500, 503])
def test_errors_of_the_upstream_are_passed_back_and_nothing_is_recorded(gate: Gateway, code: int) -> None:
    body = b'{"error": {"message": "no",  "odd": 1.50}}'
    headers = {"Content-Type": "application/json", "Retry-After": "7", "x-request-id": "r1"}
    gate.upstream.script(Feed([body], headers=headers, status=code))
    answer = gate.http.post("/chat/completions", json=asking())
    assert (answer.status_code, answer.content) == (code, body)
    assert {name: answer.headers[name] for name in headers} == headers
    assert gate.turns() == []


@pytest.mark.parametrize(("step", "code"), [(Drop(), 502), (Hang(), 504)])
def test_an_upstream_that_does_not_answer(
    tmp_path: Path, upstream: OpenAIServer, step: Any, code: int
) -> None:
    with opened(tmp_path, upstream, upstream_timeout=0.2 if code == 504 else 60) as gate:
        gate.upstream.script(step)
        answer = gate.http.post("/chat/completions", json=asking())
        assert (answer.status_code, answer.json()["error"]["type"]) == (code, "upstream_error")
        assert gate.turns() == []


def test_an_upstream_that_breaks_off(gate: Gateway) -> None:
    whole = events(asking(), "one two three four")
    gate.upstream.script(Feed([whole[: whole.index(b" three")]], end="broken"))
    with pytest.raises(httpx.RemoteProtocolError):
        gate.http.post("/chat/completions", json=asking(stream=True))
    assert gate.turns() == [("user", "Hi"), ("assistant", "one two")]
    assert gate.raw_turns()[1].metadata == {"partial": True}


def test_a_client_that_goes_away(gate: Gateway) -> None:
    whole = events(asking(), "one two three four")
    step = Feed([whole[: whole.index(b" three")]], end="open")
    gate.upstream.script(step)
    with gate.http.stream("POST", "/chat/completions", json=asking(stream=True)) as answer:
        next(answer.iter_raw())
    assert step.gone.wait(60), "the upstream's work is cancelled"
    assert gate.turns() == [("user", "Hi"), ("assistant", "one two")]
    assert gate.raw_turns()[1].metadata == {"partial": True}
    gate.upstream.say("Yes.")
    gate.http.post("/chat/completions", json=asking("Again"))
    assert len(gate.turns()) == 4


def test_a_client_that_goes_away_before_anything_came(gate: Gateway) -> None:
    step = Feed([], end="open")
    gate.upstream.script(step)
    body = json.dumps(asking()).encode()
    with socket.create_connection(("127.0.0.1", gate.served.port)) as client:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        client.recv(1)
    assert step.gone.wait(60)
    assert gate.turns() == []


def test_stopping_waits_for_what_was_answered(tmp_path: Path, upstream: OpenAIServer) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory:
        with gateway(memory, upstream) as gate:
            gate.http.post("/chat/completions", json=asking())
        assert memory.store.user("local").seq()
        assert len(memory.scope("local").list("turn")) == 2


def test_the_clients_key_is_passed_on_without_keys_of_our_own(gate: Gateway) -> None:
    gate.http.post("/chat/completions", json=asking(), headers={"Authorization": "Bearer sk-theirs"})
    assert gate.asked[-1].headers["authorization"] == "Bearer sk-theirs"


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("configured", ["", "sk-upstream"])
def test_our_keys_never_leave(tmp_path: Path, upstream: OpenAIServer, who: str, configured: str) -> None:
    with opened(tmp_path, upstream, keyed=True, upstream_key=configured) as gate:
        client = CALLERS[who](gate)
        key = client.headers["Authorization"].removeprefix("Bearer ")
        ours = {"X-Api-Key": key, "api-key": key, "Cookie": key}
        for path in ("/chat/completions", "/embeddings", "/responses"):
            answer = client.post(path, json={**asking(), "input": "x"}, headers=ours)
            assert answer.status_code == 200, answer.text
            sent = gate.asked[-1].headers
            assert key not in str(sent)
            assert sent.get("authorization") == (f"Bearer {configured}" if configured else None)


def test_headers_of_ours_and_of_connections_do_not_go_upstream(gate: Gateway) -> None:
    headers = {"X-Recollect-Agent": "helper", "Connection": "keep-alive, X-Hop", "X-Hop": "1", "X-Far": "2"}
    gate.upstream.script(
        Feed([b"{}"], headers={"X-Recollect-Injected": "forged", "Set-Cookie": "a=b", "Content-Type": "a/b"})
    )
    answer = gate.http.post("/chat/completions", json=asking(), headers=headers)
    sent = gate.asked[-1].headers
    assert sent["x-far"] == "2"
    assert not {"x-hop", "x-recollect-agent"} & sent.keys()
    assert not {"x-recollect-injected", "set-cookie"} & {*answer.headers}


@pytest.mark.parametrize(
    ("who", "named", "whose"),
    [
        ("ann", None, "ann"),
        ("ann", "ann", "ann"),
        ("ann", "bob", None),
        ("service", "bob", "bob"),
        ("service for bob", "bob", "bob"),
        ("service for bob", "ann", None),
    ],
)
def test_whose_memory_it_is(keyed: Gateway, who: str, named: str | None, whose: str | None) -> None:
    context = {} if named is None else {"memory_context": {"user_id": named, "project_id": "work"}}
    answer = CALLERS[who](keyed).post("/chat/completions", json={**asking(), **context})
    assert answer.status_code == (200 if whose else 404), answer.text
    for user in ("ann", "bob", "local"):
        assert len(keyed.turns(user)) == (2 if user == whose else 0)
    if whose:
        assert "memory_context" not in keyed.asked[-1].body
        assert {turn.channel for turn in keyed.raw_turns(whose)} == {"work" if named else "_global"}
    else:
        assert answer.json()["error"]["code"] == "user_not_found"


def test_one_users_messages_lead_to_no_conversation_of_another(keyed: Gateway) -> None:
    """Digests are keyed for each user: sending what somebody else said finds nothing."""
    keyed.upstream.say("Hello!", "Well.")
    told = [*asking()["messages"], {"role": "assistant", "content": "Hello!"}, *asking("More")["messages"]]
    keyed.of("ann").post("/chat/completions", json=asking())
    keyed.settle()
    keyed.service("bob").post("/chat/completions", json={"model": MODEL, "messages": told})
    assert len(keyed.turns("ann")) == 2
    assert [text for _, text in keyed.turns("bob")] == ["Hi", "Hello!", "More", "Well."]


@pytest.mark.parametrize(
    ("path", "passed"),
    [
        ("tokenize", True),
        ("moderations", True),
        ("files", False),
        ("chat/completions/id", False),
        ("conversations/x", False),
        ("responses/x/cancel", False),
        ("modelsx", False),
    ],
)
def test_only_what_leaves_nothing_upstream_is_passed_on_for_many(
    tmp_path: Path, upstream: OpenAIServer, path: str, *, passed: bool
) -> None:
    for many, goes in ((False, True), (True, passed)):
        upstream.requests.clear()
        with opened(tmp_path, upstream, keyed=many) as gate:
            client = gate.of("ann") if many else gate.http
            answer = client.post(f"/{path}", content=b"\x00raw")
        assert answer.status_code == 404, "the scripted upstream has none of them"
        assert [(one.path, one.raw) for one in upstream.requests] == [(f"/v1/{path}", b"\x00raw")] * goes


def test_nobody_deletes_a_model_by_the_key_that_all_share(keyed: Gateway) -> None:
    for method, goes in (("GET", True), ("DELETE", False), ("PUT", False), ("POST", False)):
        keyed.upstream.requests.clear()
        assert keyed.of("ann").request(method, "/models/ft:small").status_code == 404
        assert [one.path for one in keyed.upstream.requests] == ["/v1/models/ft:small"] * goes, method


@pytest.mark.parametrize(
    "path", ["%2e%2e/admin", "models/%2e%2e/%2e%2e/x", "..%5cx", "models/..", "a%0d%0ab"]
)
def test_no_path_leads_out_of_the_upstreams(gate: Gateway, path: str) -> None:
    with socket.create_connection(("127.0.0.1", gate.served.port)) as client:
        client.sendall(f"GET /v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 404")
    assert gate.asked == []


def test_the_query_is_passed_on(gate: Gateway) -> None:
    gate.http.get("/models?limit=2&after=%C3%BC")
    assert gate.asked[-1].path == "/v1/models?limit=2&after=%C3%BC"
    assert gate.asked[-1].method == "GET"


def test_a_status_without_a_body(gate: Gateway) -> None:
    gate.upstream.script(Status(429, retry_after="3"))
    answer = gate.http.post("/embeddings", json={"model": MODEL, "input": "x"})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")


def test_an_admin_is_nobodys_agent(keyed: Gateway) -> None:
    admin = keyed.with_key(keyed.served.issue("admin").key)
    for answer in (admin.post("/chat/completions", json=asking()), admin.get("/models")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    with pytest.raises(openai.AuthenticationError, match="opens nothing") as refused:
        keyed.sdk("rk_u_" + "x" * 43).models.list()
    assert refused.value.code == "invalid_api_key"
    assert keyed.asked == []


def test_an_upstream_takes_its_time(tmp_path: Path, upstream: OpenAIServer) -> None:
    """How long a request may take to arrive, and memory to answer, is no limit for the upstream."""
    moment, late = 0.5, [threading.Event(), threading.Event()]
    with opened(tmp_path, upstream, request_seconds=moment) as gate:
        upstream.script(Feed([b"data: 1\n\n", b"data: 2\n\n"], late))
        for place, event in enumerate(late):
            threading.Timer(moment * 1.5 * (place + 1), event.set).start()
        with gate.http.stream("POST", "/chat/completions", json=asking(stream=True)) as answer:
            assert b"".join(answer.iter_raw()) == b"data: 1\n\ndata: 2\n\n"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"conversation": "conv_1"}, "conversation"),
        ({"conversation": {"id": "conv_1"}}, "conversation"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "item_reference"),
        ({"input": [{"id": "msg_1"}]}, "item_reference"),
        ({"tools": [{"type": "code_interpreter", "container": "cntr_1"}]}, "container"),
        ({"tools": [{"type": "shell", "environment": {"container_id": "cntr_1"}}]}, "container"),
    ],
)
def test_what_the_upstream_keeps_of_others_cannot_be_named(
    tmp_path: Path, upstream: OpenAIServer, more: dict[str, Any], code: str
) -> None:
    body = {"model": MODEL, "input": "Hi", **more}
    with opened(tmp_path, upstream) as gate:
        assert gate.http.post("/responses", json=body).status_code == 200, "on a machine of one's own it can"
        assert gate.asked[-1].body == body
    upstream.requests.clear()
    with opened(tmp_path, upstream, keyed=True) as gate:
        for path in ("/responses", "/responses/input_tokens"):
            answer = gate.of("ann").post(path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
        assert gate.asked == []


def test_a_name_that_comes_twice_is_passed_on_once(keyed: Gateway) -> None:
    """Who reads the first of two and who reads the last would see two different requests."""
    ann = keyed.of("ann")
    twice = b'{"model": "m", "conversation": "conv_1", "input": "Hi", "conversation": null}'
    assert ann.post("/responses", content=twice).status_code == 200
    assert b"conv_1" not in keyed.asked[-1].raw
    assert ann.post("/responses", content=b'["conversation"]').status_code == 400
    counted = {"model": MODEL, "input": "Hi", "previous_response_id": "resp_1"}
    assert ann.post("/responses/input_tokens", json=counted).status_code == 400
    del counted["previous_response_id"]
    ann.post("/responses/input_tokens", json=counted)
    assert (keyed.asked[-1].path, keyed.asked[-1].body) == ("/v1/responses/input_tokens", counted)
    auto = [{"type": "code_interpreter", "container": {"type": "auto"}}, {"type": "file_search", "x": 1}]
    assert ann.post("/responses", json={"model": MODEL, "input": "Hi", "tools": auto}).status_code == 200
    assert keyed.asked[-1].body["tools"] == auto
