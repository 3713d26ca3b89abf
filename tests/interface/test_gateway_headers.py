"""Headers and paths on their way through the gateway: what they say stays, what is of the connection goes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.testing.openai_server import Feed, OpenAIServer
from tests.interface.gateway import Gateway, gateway

ASKED: dict[str, dict[str, Any]] = {
    "/chat/completions": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    "/responses": {"model": "m", "input": "Hi"},
    "/embeddings": {"model": "m", "input": "Hi"},
}
TITLE = "Müller, 北京".encode()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gateway]:
    with (
        OpenAIServer() as upstream,
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as found,
    ):
        yield found


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("title", [TITLE, "Müller".encode("latin-1")])
def test_a_header_may_have_any_characters(gate: Gateway, path: str, title: bytes) -> None:
    given = {b"X-Title": title, b"Authorization": b"Bearer sk-\xc3\xbc"}
    answer = gate.http.post(path, json=ASKED[path], headers=given)
    assert answer.status_code == 200, answer.text
    sent = gate.asked[-1].headers
    assert sent["x-title"].encode("latin-1") == title
    assert sent["authorization"].encode("latin-1") == b"Bearer sk-\xc3\xbc"


def test_what_the_upstream_says_of_its_own_address_stays_there(gate: Gateway) -> None:
    its = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Credentials": "true",
        "Strict-Transport-Security": "max-age=1",
        "Alt-Svc": 'h3=":443"',
        "Clear-Site-Data": '"*"',
        "Content-Security-Policy": "default-src *",
    }
    said = {"Content-Type": "application/json", "X-Model-Version": "7"}
    gate.upstream.script(Feed([b"{}"], headers={**its, **said}))
    answer = gate.http.get("/models")
    assert {name: answer.headers[name] for name in said} == said
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert not {name.lower() for name in its} & {*answer.headers} - {"content-security-policy"}


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [
        ("gzip;q=0", "gzip;q=0"),
        ("br, gzip;q=0.5, deflate;q=1, zstd", "gzip;q=0.5, deflate;q=1"),
        ("GZIP, *", "GZIP"),
        ("br", "identity"),
    ],
)
def test_the_upstream_is_told_which_encodings_are_refused(gate: Gateway, accepted: str, sent: str) -> None:
    path = "/chat/completions"
    gate.http.post(path, json=ASKED[path], headers={"Accept-Encoding": accepted})
    assert gate.asked[-1].headers["accept-encoding"] == sent
    gate.http.get("/models", headers={"Accept-Encoding": accepted})
    assert gate.asked[-1].headers["accept-encoding"] == accepted, "it is not read here"


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("models/meta%2Fllama-3", "models/meta%2Fllama-3"),
        ("models/meta/llama-3", "models/meta/llama-3"),
        ("models/ft:small@1%20%C3%BC", "models/ft:small@1%20%C3%BC"),
        ("models/a%252Fb", "models/a%252Fb"),
    ],
)
def test_a_name_in_a_path_stays_one_name(gate: Gateway, path: str, sent: str) -> None:
    gate.http.get(f"/{path}")
    assert gate.asked[-1].path == f"/v1/{sent}"


@pytest.mark.parametrize("path", ["/v1/models/..%2F..%2Fx", "/v1/a%2F%2e%2e%2Fb", "/v1%2F..%2Fx"])
def test_an_encoded_slash_leads_nowhere_else(gate: Gateway, path: str) -> None:
    answer = gate.http.get(f"{gate.served.url}{path}")
    assert (answer.status_code, gate.asked) == (404, [])
    assert json.loads(answer.content)["error"]["code"] == "not_found"
