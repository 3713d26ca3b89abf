"""What a chain of responses goes on from: what is kept, by whom, and how much of it is sent along."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.testing.openai_answers import response_events, scatter
from recollect.testing.openai_server import Alter, Feed, OpenAIServer
from tests.interface.gateway import Gateway, gateway

MODEL = "any-model"
UNAIDED: dict[str, Any] = {"memory_config": {"retrieval_limit": 0}}
UNSTORED: dict[str, Any] = {"memory_config": {"auto_store": False}}


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@contextmanager
def opened(
    folder: Path, upstream: OpenAIServer, *, embedder: Any = "hashing", **more: Any
) -> Iterator[Gateway]:
    settings: dict[str, Any] = {"upstream": upstream.base_url, "embedder": embedder}
    if embedder != "hashing":
        settings |= {"embedder_model": "embed", "embedder_dimensions": 16}
    settings["inject_seconds"] = more.pop("inject_seconds", 60)
    settings["upstream_responses"] = more.pop("responses", "auto")
    with Memory.open(folder / "m.db", **settings) as memory, gateway(memory, upstream, **more) as found:
        yield found


class Pauses:
    """What is done in place of pauses, and how long they would be."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.seconds: list[float] = []
        self._then = then

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.to_thread(self._then)


@pytest.fixture
def gate(tmp_path: Path, upstream: OpenAIServer) -> Iterator[Gateway]:
    with opened(tmp_path, upstream) as found:
        yield found


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def shared(tmp_path: Path, upstream: OpenAIServer, pauses: Pauses) -> Iterator[Gateway]:
    with opened(tmp_path, upstream, keyed=True, pause=pauses) as found:
        yield found


def ask(gate: Gateway, text: str, previous: str | None = None, **more: Any) -> str:
    """The id of what is answered."""
    body = {"model": MODEL, "input": text, **({"previous_response_id": previous} if previous else {}), **more}
    answer = gate.http.post("/responses", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def test_a_chain_goes_on_in_another_process_as_soon_as_it_is_recorded(
    tmp_path: Path, upstream: OpenAIServer
) -> None:
    let = threading.Event()

    def embed(text: str) -> list[float]:
        let.wait(60)
        return scatter(text, 16)

    def recorded() -> None:
        let.set()
        one.settle()

    pauses = Pauses(recorded)
    with (
        OpenAIServer(embed=embed) as model,
        opened(tmp_path, upstream, embedder=model.base_url, keyed=True) as one,
        opened(tmp_path, upstream, embedder=model.base_url, keyed=True, pause=pauses) as two,
    ):
        key = one.served.issue(owner="ann").key
        asked: dict[str, Any] = {"model": MODEL, "input": "Hi", **UNAIDED}
        first = one.with_key(key).post("/responses", json=asked).json()["id"]
        asked |= {"input": "So?", "previous_response_id": first}
        assert two.with_key(key).post("/responses", json=asked).status_code == 200
        assert len(pauses.seconds) <= 1, "it is there after the first"
        said = [item["role"] for item in upstream.requests[-1].body["input"]]
        assert said == ["user", "assistant", "user"]
        assert len({turn.conversation for turn in two.raw_turns("ann")}) == 1


def test_what_was_never_kept_is_not_waited_for_longer_than_memory_may_take(
    shared: Gateway, pauses: Pauses
) -> None:
    ann = shared.of("ann")
    assert ann.get("/responses/resp_odd").status_code == 404
    assert 0 < sum(pauses.seconds) <= shared.memory.settings.inject_seconds
    kept = ann.post("/responses", json={"model": MODEL, "input": "Hi"}).json()["id"]
    assert ann.delete(f"/responses/{kept}").status_code == 200
    pauses.seconds.clear()
    assert ann.get(f"/responses/{kept}").status_code == 404
    assert pauses.seconds == [], "what is gone does not come back"


@pytest.mark.parametrize("off", ["settings", "request"])
def test_without_memory_the_upstream_goes_on_from_its_own(gate: Gateway, off: str) -> None:
    if off == "settings":
        gate.ann.update_settings(enabled=False)
    more = UNSTORED if off == "request" else {}
    first = ask(gate, "Hi", **more)
    ask(gate, "So?", first, **more)
    sent = gate.asked[-1].body
    assert (sent["previous_response_id"], sent["input"]) == (first, "So?")
    for method in ("GET", "DELETE"):
        gate.http.request(method, f"/responses/{first}?include=x")
        assert (gate.asked[-1].method, gate.asked[-1].path) == (method, f"/v1/responses/{first}?include=x")
    assert (gate.turns(), gate.responses()) == ([], [])


def test_what_is_recorded_late_is_recorded_once(tmp_path: Path, upstream: OpenAIServer) -> None:
    let = threading.Event()

    def embed(text: str) -> list[float]:
        let.wait(60)
        return scatter(text, 16)

    with (
        OpenAIServer(embed=embed) as model,
        opened(tmp_path, upstream, embedder=model.base_url, inject_seconds=0.2) as gate,
    ):
        first = ask(gate, "Hi", **UNAIDED)
        second = ask(gate, "So?", first, **UNAIDED)
        assert upstream.requests[-1].body["previous_response_id"] == first, "not recorded yet"
        let.set()
        gate.settle()
        ask(gate, "And?", second, **UNAIDED)
        assert [text for role, text in gate.turns() if role == "user"] == ["Hi", "So?", "And?"]
        assert len({turn.conversation for turn in gate.raw_turns()}) == 1


def test_a_path_without_a_name_is_passed_on_too(gate: Gateway) -> None:
    for path in ("", "responses/"):
        assert gate.http.get(f"{gate.url}/{path}").status_code == 404
        assert gate.asked[-1].path == f"/v1/{path}"


def test_with_keys_nobody_goes_on_from_what_only_the_upstream_has(shared: Gateway) -> None:
    ann, seen = shared.of("ann"), len(shared.asked)
    body = {"model": MODEL, "input": "So?", "previous_response_id": "resp_theirs"}
    assert ann.post("/responses", json=body).status_code == 404
    assert ann.get("/responses/resp_theirs").status_code == 404
    assert ann.delete("/responses/resp_theirs").status_code == 404
    assert len(shared.asked) == seen


def test_a_chain_that_began_without_memory_keeps_its_beginning(gate: Gateway) -> None:
    first = ask(gate, "Hi", **UNSTORED)
    second = ask(gate, "So?", first)
    ask(gate, "And?", second)
    sent = gate.asked[-1].body
    assert sent["previous_response_id"] == first
    assert [item["role"] for item in sent["input"]] == ["user", "assistant", "user"]
    assert gate.http.get(f"/responses/{second}").json()["previous_response_id"] == first
    assert [text for role, text in gate.turns() if role == "user"] == ["So?", "And?"]
    assert len({turn.conversation for turn in gate.raw_turns()}) == 1


def test_what_was_forgotten_is_not_asked_of_the_upstream(gate: Gateway) -> None:
    first = ask(gate, "Hi")
    second = ask(gate, "So?", first)
    gate.settle()
    gate.http.delete(f"/responses/{first}")
    seen = len(gate.asked)
    assert gate.http.get(f"/responses/{first}").status_code == 404
    body = {"model": MODEL, "input": "And?", "previous_response_id": first}
    assert gate.http.post("/responses", json=body).status_code == 404
    assert len(gate.asked) == seen
    ask(gate, "And?", second)
    assert "previous_response_id" not in gate.asked[-1].body


def test_an_upstream_that_has_chats_only_has_no_responses_of_its_own(tmp_path: Path) -> None:
    with OpenAIServer() as upstream, opened(tmp_path, upstream, responses="chat") as gate:
        first = ask(gate, "Hi", **UNSTORED)
        body = {"model": MODEL, "input": "So?", "previous_response_id": first}
        refused = gate.http.post("/responses", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "previous_response_not_found")
        assert gate.http.get(f"/responses/{first}").status_code == 404
        assert len(gate.asked) == 1


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"}
ANSWER = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}


def thought(number: int) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": []}


def bare(item: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in item.items() if name != "id"}


@pytest.mark.parametrize(
    ("output", "sent"),
    [
        ([thought(1), SEARCH, thought(2), ANSWER], [thought(1), SEARCH, bare(ANSWER)]),
        ([thought(1), SEARCH, ANSWER], [thought(1), SEARCH, ANSWER]),
        ([thought(1), CALL, SEARCH], [thought(1), CALL, SEARCH]),
        ([thought(1), CALL], [bare(CALL)]),
        ([SEARCH, ANSWER], [SEARCH, bare(ANSWER)]),
    ],
)
def test_what_the_upstream_did_itself_comes_with_the_thought_that_led_to_it(
    shared: Gateway, output: list[Any], sent: list[Any]
) -> None:
    """It refuses a search without its reasoning, and reasoning without what came of it."""
    shared.upstream.script(Alter(lambda body: body | {"output": output}))
    ann = shared.of("ann")
    first = ann.post("/responses", json={"model": MODEL, "input": "Look"}).json()["id"]
    ann.post("/responses", json={"model": MODEL, "input": "So?", "previous_response_id": first})
    assert shared.asked[-1].body["input"][1:-1] == sent


@pytest.mark.parametrize("told", ["whole", "nothing"])
def test_a_response_that_failed_is_recorded_as_broken_off(shared: Gateway, told: str) -> None:
    """As far as it came, whether its last event tells that or not."""
    events = response_events({"model": MODEL}, "one two three four")
    begun = events[: events.index(b'"delta": " three"')].rpartition(b"event:")[0]
    part = {"type": "output_text", "text": "one two", "annotations": []}
    output = [ANSWER | {"status": "incomplete", "content": [part]}] if told == "whole" else []
    failed = {"id": "resp_1", "model": MODEL, "status": "failed", "output": output}
    failed["error"] = {"code": "server_error", "message": "no"}
    last = json.dumps({"type": "response.failed", "response": failed})
    shared.upstream.script(Feed([begun, f"event: response.failed\ndata: {last}\n\n".encode()]))
    shared.of("ann").post("/responses", json={"model": MODEL, "input": "Count", "stream": True})
    assert shared.turns("ann") == [("user", "Count"), ("assistant", "one two")]
    assert shared.raw_turns("ann")[1].metadata == {"partial": True}
    assert shared.responses("ann") == []
