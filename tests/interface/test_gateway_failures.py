"""Memory never fails a request: each way in which it can fail (G4), over a real connection."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory, StoreUnavailable
from recollect.testing.openai_server import Drop, Hang, OpenAIServer, Truncate
from tests.contract import postgres
from tests.interface.gateway import Gateway, gateway

MODEL = "any-model"
TEA = "I drink green tea with Derek every morning."
ASK = "What do I drink with Derek in the morning?"
SAID = [("user", ASK), ("assistant", "I have nothing to say.")]


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def other() -> Iterator[OpenAIServer]:
    """The embedder's server, or that of memory's own model."""
    with OpenAIServer() as server:
        yield server


def ask(gate: Gateway, path: str = "/chat/completions", **more: Any) -> httpx.Response:
    said = {"messages": [{"role": "user", "content": ASK}]} if path.startswith("/chat") else {"input": ASK}
    return gate.http.post(path, json={"model": MODEL, **said, **more})


def assert_answered(answer: httpx.Response) -> None:
    assert answer.status_code == 200, answer.text
    assert "I have nothing to say." in answer.text


def unaided(gate: Gateway) -> int:
    lines = gate.memory.metrics().splitlines()
    (line,) = [line for line in lines if line.startswith("recollect_gateway_unaided_total")]
    return int(float(line.split()[-1]))


def test_the_store_is_down(tmp_path: Path, upstream: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url)
    with gateway(memory, upstream) as gate:
        memory.store.close()
        for path in ("/chat/completions", "/responses"):
            answer = ask(gate, path)
            assert_answered(answer)
            assert "x-recollect-problem" in answer.headers
        gate.settle()
        refused = ask(gate, "/responses", previous_response_id="resp_1")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "memory_unavailable")
        assert gate.http.get("/responses/resp_1").status_code == 503
    told = [record.getMessage() for record in caplog.records if record.name == "recollect.gateway"]
    assert len([line for line in told if "goes on" in line]) == 2
    assert len([line for line in told if "could not record" in line]) == 2
    assert not any(ASK in line for line in told)


@pytest.mark.engine
def test_the_database_is_gone_and_comes_back(upstream: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"upstream": upstream.base_url, "inject_seconds": 30}
    with (
        postgres.own_server() as server,
        postgres.new_database(server.address, "recollect_gateway") as url,
        Memory.open(url, embedder="hashing", **settings) as memory,
        gateway(memory, upstream) as gate,
    ):
        gate.ann.record("user", TEA)
        assert ask(gate).headers["x-recollect-injected"]
        gate.settle()
        server.stop()
        with monkeypatch.context() as impatient:
            impatient.setattr("recollect.stores.postgres.session.PATIENCE", 0.5)
            answer = ask(gate)
            assert_answered(answer)
            assert "x-recollect-problem" in answer.headers
            gate.settle()
        server.start()
        assert ask(gate).headers["x-recollect-injected"]
        assert len(gate.turns()) == 5


def test_the_embedder_is_down(tmp_path: Path, upstream: OpenAIServer, other: OpenAIServer) -> None:
    settings: dict[str, Any] = {
        "embedder": other.base_url,
        "embedder_dimensions": 16,
        "inject_seconds": 30,
    }
    with (
        Memory.open(tmp_path / "m.db", upstream=upstream.base_url, **settings) as memory,
        gateway(memory, upstream) as gate,
    ):
        gate.ann.record("user", TEA)
        other.script(*[Drop()] * 50)
        answer = ask(gate)
        assert_answered(answer)
        assert answer.headers["x-recollect-injected"], "it is found by its words"
        assert "x-recollect-problem" in answer.headers
        assert unaided(gate) == 1
        assert gate.turns()[1:] == SAID


def test_the_language_model_is_down(tmp_path: Path, upstream: OpenAIServer, other: OpenAIServer) -> None:
    settings: dict[str, Any] = {
        "model": other.base_url,
        "model_name": "m",
        "model_timeout": 0.2,
        "reranker": "model",
    }
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url, **settings) as memory,
        gateway(memory, upstream) as gate,
    ):
        for n in range(5):
            gate.ann.record("user", f"{TEA} {n}")
        other.script(*[Drop()] * 50)
        answer = ask(gate)
        assert_answered(answer)
        assert answer.headers["x-recollect-injected"]
        assert "x-recollect-problem" in answer.headers


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_upstream_answers_with_bad_json(
    tmp_path: Path, upstream: OpenAIServer, path: str, *, stream: bool
) -> None:
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as gate,
    ):
        upstream.script(Truncate())
        upstream.say("one two three four five six")
        answer = ask(gate, path, stream=stream)
        assert answer.status_code == 200
        assert answer.content
        turns = gate.turns()
        assert turns == [] if not stream else turns[0] == ("user", ASK)
        assert gate.responses() == []
        assert_answered(ask(gate, path))


def test_memory_takes_too_long(tmp_path: Path, upstream: OpenAIServer, other: OpenAIServer) -> None:
    settings: dict[str, Any] = {"embedder": other.base_url, "embedder_dimensions": 16, "inject_seconds": 0.2}
    let = threading.Event()
    with (
        Memory.open(tmp_path / "m.db", upstream=upstream.base_url, **settings) as memory,
        gateway(memory, upstream) as gate,
    ):
        gate.ann.record("user", TEA)
        while gate.http.get(f"{gate.served.url}/readyz").json()["embedder"] == "loading":
            pass
        other.script(Hang(let))
        answer = ask(gate)
        assert_answered(answer)
        assert "INJECT_SECONDS" in answer.headers["x-recollect-problem"]
        assert "x-recollect-injected" not in answer.headers
        let.set()
        assert gate.turns()[1:] == SAID, "it is recorded all the same"


def test_memory_that_is_off_stays_off_when_it_fails(
    tmp_path: Path, upstream: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("The database is away.")

    monkeypatch.setattr("recollect.server.gateway.exchanges.helped", away)
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as gate,
    ):
        for enabled, said in ((False, []), (True, SAID)):
            gate.ann.update_settings(enabled=enabled)
            answer = ask(gate)
            assert_answered(answer)
            assert "The database is away." in answer.headers["x-recollect-problem"]
            assert gate.turns() == said


def test_there_is_no_user(tmp_path: Path, upstream: OpenAIServer) -> None:
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream, keyed=True) as gate,
    ):
        gate.http = gate.service()
        for path in ("/chat/completions", "/responses"):
            answer = ask(gate, path)
            assert_answered(answer)
            assert "no user" in answer.headers["x-recollect-problem"]
        assert ask(gate, "/responses", previous_response_id="resp_1").status_code == 404
        assert gate.http.get("/responses/resp_1").status_code == 404
        gate.settle()
        assert [*memory.store.users()] == []


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {},
        {"messages": None},
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": [{"role": "user"}, "odd", 1, None, {"role": None}, {"role": ["user"], "content": 2}]},
        {"messages": [{"role": "user", "content": [{"type": "text"}, {"type": 3}, "odd"]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": "odd"}, 1]}]},
        {"messages": "odd"},
    ],
)
def test_there_is_no_history(tmp_path: Path, upstream: OpenAIServer, body: dict[str, Any]) -> None:
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as gate,
    ):
        gate.upstream.script(*[Truncate()] * 2)
        raw = {"model": MODEL, **body}
        assert gate.http.post("/chat/completions", json=raw).status_code in (200, 502)
        assert gate.asked[-1].body == raw
        given = {"model": MODEL, "input": body.get("messages")}
        assert gate.http.post("/responses", json=given).status_code in (200, 502)
        gate.settle()


def test_the_dimensions_do_not_match_at_start(
    tmp_path: Path, upstream: OpenAIServer, other: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing") as memory:
        memory.scope("local").record("user", TEA)
    caplog.set_level(logging.WARNING)
    settings: dict[str, Any] = {"embedder": other.base_url, "embedder_dimensions": 16}
    with (
        Memory.open(tmp_path / "m.db", upstream=upstream.base_url, **settings) as memory,
        gateway(memory, upstream) as gate,
    ):
        assert "Recall goes by words only" in caplog.text
        answer = ask(gate)
        assert_answered(answer)
        assert answer.headers["x-recollect-injected"]
        assert gate.turns()[1:] == SAID


def test_what_cannot_be_understood_of_memory_config_is_said(tmp_path: Path, upstream: OpenAIServer) -> None:
    with (
        Memory.open(tmp_path / "m.db", embedder="hashing", upstream=upstream.base_url) as memory,
        gateway(memory, upstream) as gate,
    ):
        for config in ({"retrieval_limit": "3"}, {"memory_types": ["odd"]}, {"auto_store": 1}, [], 3):
            answer = ask(gate, memory_config=config)
            assert_answered(answer)
            assert "memory_config" in answer.headers["x-recollect-problem"]
            assert "memory_config" not in gate.asked[-1].body
        for name in ("X-Recollect-Channel", "X-Recollect-Agent", "X-Recollect-Conversation"):
            answer = gate.http.post(
                "/chat/completions",
                json={"model": MODEL, "messages": [{"role": "user", "content": ASK}]},
                headers={name: "a%0d%0aX-Evil: 1"},
            )
            assert_answered(answer)
            assert "control characters" in answer.headers["x-recollect-problem"]
            assert "x-evil" not in answer.headers
        assert gate.turns() == []
