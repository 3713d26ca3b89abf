"""Recall with a language model and a reranker behind real HTTP; without them when they fail (C2, C5, C11)."""

import json
from collections.abc import Generator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.model.recollection import Recollection
from recollect.testing.openai_server import Drop, OpenAIServer, Status, Step, Truncate
from recollect.testing.store_samples import START, ManualClock

pytest.importorskip("httpx")
pytest.importorskip("openai")

from recollect.models.chat import ChatModel
from recollect.models.rerank_http import HttpReranker

KAYAK = "The blue kayak cost 400 euros"


def contents(found: Recollection) -> list[str]:
    return [hit.content for hit in found.hits]


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def derek(server: OpenAIServer, tmp_path: Path, clock: ManualClock) -> Iterator[ScopedMemory]:
    model = ChatModel(server.base_url, "any", sleep=[].append)
    with Memory.open(tmp_path / "memory.db", embedder="hashing", clock=clock, model=model) as memory:
        yield memory.scope("derek")


@pytest.fixture
def reranked(server: OpenAIServer, tmp_path: Path) -> Iterator[ScopedMemory]:
    reranker = HttpReranker(server.base_url, "any", sleep=[].append)
    with Memory.open(tmp_path / "reranked.db", embedder="hashing", reranker=reranker) as memory:
        yield memory.scope("derek")


def step(found: Recollection, name: str) -> Any:
    return next((step for step in found.used if step.name == name), None)


# A language model


def test_none_is_asked_unless_it_is_switched_on(server: OpenAIServer, derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    assert derek.recall("And how much was it?", history=["Which kayak?"]).problems == ()
    assert server.requests == []


def test_a_question_is_rewritten(server: OpenAIServer, derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    server.say('{"question": "How much was the blue kayak?"}')
    found = derek.recall("And that one?", history=["I saw one"], techniques={"rewrite": True}, threshold=2)
    assert contents(found) == [KAYAK]
    assert (found.query, found.problems) == ("And that one?", ())
    assert step(found, "rewrite").ms > 0


def test_what_stands_alone_is_not_rewritten(server: OpenAIServer, derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    asked = "How much did I pay for the blue kayak?"
    assert derek.recall(asked, history=["I saw one"], techniques={"rewrite": True}).hits
    assert server.requests == []


def test_an_imagined_answer_is_searched_too(server: OpenAIServer, derek: ScopedMemory) -> None:
    derek.record("user", KAYAK)
    server.say('{"passage": "I paid 400 euros for a kayak."}')
    found = derek.recall("What was the price of my boat?", techniques={"hyde": True}, threshold=2)
    assert contents(found) == [KAYAK]
    assert found.hits[0].paths == ("hyde",)
    assert "hyde: I paid 400 euros" in step(found, "embed").note


def test_a_model_finds_the_time(server: OpenAIServer, derek: ScopedMemory) -> None:
    derek.record("user", "The kayak is blue", conversation="a", at=START - timedelta(days=40))
    derek.record("user", "The kayak is red", conversation="b", at=START - timedelta(days=9))
    answer = {"phrase": "around carnival", "first": "2026-02-01", "last": "2026-02-08", "kind": "said"}
    server.say(json.dumps({**answer, "rest": "What did I say of the kayak?"}))
    asked = "What did I say of the kayak around carnival?"
    found = derek.recall(asked, techniques={"self_query": True})
    assert contents(found) == ["The kayak is blue"]
    assert "only what was said around carnival" in step(found, "gather").note
    assert len(derek.recall(asked).hits) == 2


FAILURES: dict[str, list[Step]] = {
    "refused": [Status(401)],
    "cut off": [Truncate()] * 9,
    "hung up": [Drop()] * 9,
    "slow down": [Status(429, retry_after="60")],
}


@pytest.mark.parametrize("steps", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("name", ["rewrite", "hyde", "self_query"])
def test_without_the_model_recall_goes_on(
    server: OpenAIServer, derek: ScopedMemory, name: str, steps: list[Step], caplog: pytest.LogCaptureFixture
) -> None:
    derek.record("user", KAYAK)
    server.script(*steps)
    found = derek.recall("And the kayak?", history=["I saw one"], techniques={name: True})
    assert contents(found) == [KAYAK]
    (problem,) = found.problems
    assert problem.startswith(f"Without {name}: ")
    assert problem in caplog.text
    assert "kayak" not in problem  # nothing of what was said is told in a message


def test_a_useless_answer_is_left_aside(
    server: OpenAIServer, derek: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.resting.REST", 0.0)  # the model is asked on though it may have been slow
    derek.record("user", KAYAK)
    server.say("I would rather not.", "No.", '{"passage": "A kayak."}')
    on = {"rewrite": True, "hyde": True}
    found = derek.recall("And the kayak?", history=["I saw one"], techniques=on)
    assert contents(found) == [KAYAK]
    assert [problem.split(":")[0] for problem in found.problems] == ["Without rewrite"]
    assert "hyde" in found.hits[0].paths


# A reranker


def test_a_reranker_puts_the_best_in_order(server: OpenAIServer, reranked: ScopedMemory) -> None:
    reranked.record_many({"role": "user", "content": f"boat boat boat number {i}"} for i in range(30))
    best = reranked.record("user", "long ago there was something which one could call a red boat")
    found = reranked.recall("a red boat", top_k=3, explain=True)
    assert found.hits[0].id == best.id
    assert [hit.signals["rerank"] for hit in found.hits] == sorted(
        (hit.signals["rerank"] for hit in found.hits), reverse=True
    )
    assert step(found, "rerank").found == 20
    assert len(found.hits) == 3
    assert found.context.index("red boat") < found.context.index("number")
    assert [out.reason for out in found.left_out if "place" in out.reason][-1] == "it comes in place 8"
    (request,) = server.requests
    assert (request.path, len(request.body["documents"])) == ("/v1/rerank", 20)


def test_only_what_is_returned_is_related(server: OpenAIServer, reranked: ScopedMemory) -> None:
    reranked.remember("Anna has a boat", about=["Anna"])
    reranked.remember("Bob has a red boat", about=["Bob"])
    assert reranked.recall("a red boat", top_k=1, include=["related"]).related == {}


def test_one_hit_needs_no_order(server: OpenAIServer, reranked: ScopedMemory) -> None:
    reranked.record("user", "a red boat")
    assert len(reranked.recall("boat").hits) == 1
    assert len(reranked.recall("boat", techniques={"rerank": False}).hits) == 1
    assert server.requests == []


@pytest.mark.parametrize("steps", FAILURES.values(), ids=FAILURES)
def test_a_failing_reranker_keeps_the_order(
    server: OpenAIServer, reranked: ScopedMemory, steps: list[Step]
) -> None:
    reranked.record_many({"role": "user", "content": f"boat {'boat ' * i}"} for i in range(9))
    expected = contents(reranked.recall("boat", techniques={"rerank": False}))
    server.script(*steps)
    found = reranked.recall("boat")
    assert contents(found) == expected
    (problem,) = found.problems
    assert problem.startswith("Not reranked: ")


def test_both_are_named_by_their_settings(server: OpenAIServer, tmp_path: Path) -> None:
    server.say('{"passage": "A kayak."}')
    url = server.base_url
    names: dict[str, Any] = {"model_name": "any", "reranker_model": "any"}
    with Memory.open(tmp_path / "m.db", embedder="hashing", model=url, reranker=url, **names) as memory:
        derek = memory.scope("derek")
        derek.record("user", KAYAK)
        derek.record("user", "The kayak is green")
        assert derek.recall("kayak", techniques={"hyde": True}).problems == ()
    assert [request.path for request in server.requests] == ["/v1/chat/completions", "/v1/rerank"]


class Strange:
    """A reranker and model of somebody's own that does what it should not."""

    name = "strange"

    def __init__(self, answer: Sequence[Any]) -> None:
        self._answer = answer

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return self._answer

    def ask(self, *args: Any, **kwargs: Any) -> Any:
        raise KeyError("choices")

    def close(self) -> None:
        pass


@pytest.mark.parametrize("answer", [[], [1.0], [1.0, "high"], [1.0, 2.0, 3.0], [None, None]], ids=repr)
def test_whatever_somebodys_own_does_recall_answers(tmp_path: Path, answer: Sequence[Any]) -> None:
    strange = Strange(answer)
    with Memory.open(tmp_path / "m.db", embedder="hashing", model=strange, reranker=strange) as memory:
        derek = memory.scope("derek")
        derek.record("user", "a red boat")
        derek.record("user", "a green boat")
        found = derek.recall("boat", techniques={"hyde": True})
    assert len(found.hits) == 2
    assert [problem.split(":")[0] for problem in found.problems] == ["Without hyde", "Not reranked"]
