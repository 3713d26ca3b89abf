"""An agent behind REST: what it answers and streams, whose memory it has, and what it does about trouble."""

import http.client
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.testing.openai_answers import Calls
from recollect.testing.openai_server import Feed, Hang, OpenAIServer, Status
from tests.interface import serving
from tests.interface.serving import Served

HERE = Path(__file__).parent
TOOLS = f"{sys.executable} {HERE / 'mcp_tools_server.py'} stdio"


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(chat=lambda body: "Nothing to add.") as server:
        yield server


@pytest.fixture
def agent(tmp_path: Path, model: OpenAIServer) -> Iterator[Served]:
    with opened(tmp_path, model) as memory, serving.served(memory) as server:
        yield server


def opened(tmp_path: Path, model: OpenAIServer, **settings: Any) -> Memory:
    more = {"model_name": "scripted", "miner": "rules", "rate_limit": 0, **settings}
    return Memory.open(tmp_path / "memory.db", embedder="hashing", model=model.base_url, **more)


def ask(client: httpx.Client, question: str, **body: Any) -> httpx.Response:
    return client.post("/api/v1/agent", json={"question": question, **body})


def streamed(client: httpx.Client, question: str, **body: Any) -> list[dict[str, Any]]:
    with client.stream(
        "POST", "/api/v1/agent", json={"question": question, "stream": True, **body}
    ) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        response.read()
    found: list[dict[str, Any]] = []
    for block in response.text.strip().split("\n\n"):
        if not block.startswith(":"):
            name, data = block.split("\n", 1)
            found.append(json.loads(data.removeprefix("data: ")))
            assert name == f"event: {found[-1]['type']}"
    return found


def wait_for(what: Any) -> None:
    pause = threading.Event()
    for _ in range(3000):
        if what():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come about")


def test_an_answer_without_memory_leaves_nothing(agent: Served, model: OpenAIServer) -> None:
    me = agent.of("ada")
    model.say("Hello.")
    told = ask(me, "Say hello.", conversation="c").json()
    assert told["answer"] == "Hello."
    assert told["stopped"] == "answered"
    assert told["conversation"] == "c"
    assert told["tokens"]["prompt"] > 0
    assert [event["type"] for event in told["events"]] == ["recalled"]
    assert agent.memory.scope("ada").counts() == {} or not sum(agent.memory.scope("ada").counts().values())


def test_memory_is_the_callers_own(agent: Served, model: OpenAIServer) -> None:
    ada, bob = agent.of("ada"), agent.of("bob")
    agent.memory.scope("ada").remember("Ada's safe opens with walrus-4711")
    for client, knows in ((ada, True), (bob, False)):
        told = ask(client, "How does the safe open?", enable_memory=True, conversation="safe").json()
        assert ("walrus-4711" in json.dumps(told["events"])) is knows
        assert ("walrus-4711" in json.dumps(model.requests[-1].body)) is knows
    turns = [turn.content for turn in agent.memory.scope("ada").conversation("safe")]
    assert turns == ["How does the safe open?", "Nothing to add."]


def test_history_and_state_reach_the_model(agent: Served, model: OpenAIServer) -> None:
    history = [{"role": "user", "content": "Ten euros in yen?"}, {"role": "assistant", "content": "1,600."}]
    ask(agent.of("ada"), "In dollars?", history=history, state={"step": "convert"})
    said = model.requests[-1].body["messages"]
    assert [message["content"] for message in said[-3:]] == ["Ten euros in yen?", "1,600.", "In dollars?"]
    assert "convert" in said[0]["content"]


def test_every_step_is_an_event(agent: Served, model: OpenAIServer) -> None:
    model.say(Calls((("RetrieveFacts", {"query": "tea"}),)), "Green tea.")
    events = streamed(agent.of("ada"), "Which tea?", enable_memory=True)
    assert [event["type"] for event in events if event["type"] != "text"] == [
        "recalled",
        "action",
        "observation",
        "final",
    ]
    assert "".join(event["text"] for event in events if event["type"] == "text") == "Green tea."
    assert events[-1]["text"] == "Green tea."


@pytest.mark.parametrize("stream", [False, True])
def test_who_hangs_up_stops_it(agent: Served, model: OpenAIServer, stream: bool) -> None:
    free, more = threading.Event(), threading.Event()
    free.set()
    pieces = [f'data: {{"choices": [{{"delta": {{"content": "{word}"}}}}]}}\n\n'.encode() for word in "ab"]
    feed = Feed(pieces, (free, more), end="open")
    model.script(feed)
    me = agent.of("ada")
    asked = {"question": "Slow?", "stream": stream, "enable_memory": True, "conversation": "slow"}
    request = me.build_request("POST", "/api/v1/agent", json=asked)
    connection = http.client.HTTPConnection("127.0.0.1", agent.port)
    connection.request("POST", "/api/v1/agent", request.read(), dict(request.headers))
    wait_for(lambda: model.requests)
    connection.close()
    wait_for(lambda: agent.memory.scope("ada").summaries("slow"))
    assert "cancelled" in agent.memory.scope("ada").summaries("slow")[0].summary
    more.set()
    wait_for(feed.gone.is_set)  # with the next thing that the model says
    assert ask(me, "And now?").json()["answer"] == "Nothing to add."


def test_who_hangs_up_leaves_the_model_to_others(agent: Served, model: OpenAIServer) -> None:
    at_once = 8  # requests to one model
    model.script(*[Hang() for _ in range(at_once)])
    me = agent.of("ada")
    request = me.build_request("POST", "/api/v1/agent", json={"question": "Slow?"})
    body, connections = request.read(), list[http.client.HTTPConnection]()
    for _ in range(at_once):
        connections.append(http.client.HTTPConnection("127.0.0.1", agent.port))
        connections[-1].request("POST", "/api/v1/agent", body, dict(request.headers))
    wait_for(lambda: len(model.requests) == at_once)
    for connection in connections:
        connection.close()
    assert ask(me, "And now?").json()["answer"] == "Nothing to add."
    wait_for(lambda: not any(thread.name == "recollect-model" for thread in threading.enumerate()))


@pytest.mark.parametrize("given", ["[" * 900 + "]" * 900, "NaN", '"\\ud800"', "{broken"])
def test_whatever_a_model_calls_with_is_told(agent: Served, model: OpenAIServer, given: str) -> None:
    model.say(Calls((("RetrieveFacts", f'{{"query": {given}}}'), ("nope", f'{{"x": {given}}}'))), "Done.")
    told = ask(agent.of("ada"), "Try it", enable_memory=True)
    assert told.status_code == 200
    assert told.json()["answer"] == "Done."


def test_a_model_that_fails_is_no_leak(agent: Served, model: OpenAIServer) -> None:
    model.script(Status(401), Status(401))
    me = agent.of("ada")
    told = ask(me, "Hello?").json()
    assert told["stopped"] == "model"
    assert told["problems"]
    events = streamed(me, "Hello?")
    assert events[-1]["stopped"] == "model"
    assert model.base_url.split("//")[1].split("/")[0] not in json.dumps([told, events])


def test_without_a_model_it_says_what_to_set(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "memory.db", embedder="hashing", rate_limit=0) as memory,
        serving.served(memory) as server,
    ):
        for stream in (False, True):
            refused = ask(server.of("ada"), "Hello?", stream=stream)
            assert refused.status_code == 503
            assert refused.headers["content-type"] == "application/problem+json"
            assert "RECOLLECT_MODEL_NAME" in refused.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "   "},
        {"question": 7},
        {"question": "a", "enable_memory": "yes"},
        {"question": "a", "history": [{"role": "king", "content": "x"}]},
        {"question": "a", "history": ["x"] * 1001},
        {"question": "a", "conversation": "c" * 100_000},
        {"question": "a", "state": {"a": "b" * 2_000_000}},
        {"question": "q" * 2_000_000},
        {"question": "a", "user": "bob"},
    ],
)
def test_what_cannot_be_taken_is_refused(agent: Served, model: OpenAIServer, body: dict[str, Any]) -> None:
    for more in ({}, {"stream": True}):
        refused = agent.of("ada").post("/api/v1/agent", json={**body, **more})
        assert refused.status_code in (413, 422), refused.text
        assert refused.json()["detail"]
    assert not model.requests


def test_an_admin_has_no_agent(agent: Served) -> None:
    assert ask(agent.admin(), "Hello?").status_code == 404
    assert ask(agent.client(), "Hello?").status_code == 401


def test_a_user_leaves_places_to_others(tmp_path: Path, model: OpenAIServer) -> None:
    hangs = [Hang(), Hang()]
    with opened(tmp_path, model, agent_runs=3) as memory, serving.served(memory) as server:
        ada, bob = server.of("ada"), server.of("bob")
        model.script(*hangs)
        waiting = [threading.Thread(target=ask, args=(ada, "Slow?"), daemon=True) for _ in hangs]
        for thread in waiting:
            thread.start()
        wait_for(lambda: len(model.requests) == 2)
        refused = ask(ada, "One more?")
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        assert ask(bob, "Hello?").json()["answer"] == "Nothing to add."
        for hang in hangs:
            hang.until.set()
        for thread in waiting:
            thread.join()
        assert ask(ada, "And now?").status_code == 200


@pytest.mark.framework
def test_tools_of_mcp_servers(tmp_path: Path, model: OpenAIServer) -> None:
    servers = f"no-such-server-here; {TOOLS}"
    with opened(tmp_path, model, agent_mcp=servers) as memory, serving.served(memory) as server:

        def offers(**asked: Any) -> bool:
            ask(server.of("ada"), "Hello?", **asked)
            return "add" in json.dumps(model.requests[-1].body.get("tools", []))

        wait_for(offers)  # the first to ask wait only so long for a process to start
        model.say(Calls((("add", {"a": 2, "b": 40}),)), "42.", Calls((("die", {}),)), "Dead.")
        events = streamed(server.of("ada"), "What is 2 and 40?")
        (observed,) = [event for event in events if event["type"] == "observation"]
        assert (observed["output"], observed["success"]) == ("42", True)
        (failed,) = [
            event
            for event in ask(server.of("ada"), "Die.").json()["events"]
            if event["type"] == "observation"
        ]
        assert not failed["success"]
        for group, offered in ((None, True), ("others", False), (Path(sys.executable).name, True)):
            assert offers(group=group) is offered
        model.say(Calls((("add", {"a": 1, "b": 1}),)), "2.")
        told = ask(server.of("ada"), "And 1 and 1?").json()
        assert told["events"][-1]["output"] == "2"
    assert not any(thread.name == "recollect-mcp" for thread in threading.enumerate())


def test_it_is_documented(agent: Served) -> None:
    document = agent.of("ada").get("/openapi.json").json()
    route = document["paths"]["/api/v1/agent"]["post"]
    assert route["operationId"] == "agent"
    assert "enable_memory" in json.dumps(document["components"]["schemas"]["AgentQuestion"]["examples"])
