"""What models behind real HTTP use, for whom and what for; and the command that shows it (C9)."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.ports.language_model import Tokens
from recollect.testing.openai_server import Alter, OpenAIServer
from recollect.testing.store_samples import START, ManualClock

pytest.importorskip("httpx")
pytest.importorskip("openai")

DAY = START.date().isoformat()
REWRITTEN = '{"question": "How much was the blue kayak?"}'
EXTRACTED = '{"facts": [], "entities": [], "relations": [], "topics": []}'
GRADED = '{"grades": [{"passage": 1, "grade": 3}, {"passage": 2, "grade": 9}]}'


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def settings(server: OpenAIServer, tmp_path: Path) -> dict[str, Any]:
    return {
        "db": str(tmp_path / "memory.db"),
        "embedder": server.base_url,
        "embedder_model": "embed",
        "embedder_dimensions": 16,
        "model": server.base_url,
        "model_name": "chat",
        "reranker": "model",
        "prices": "chat=100/1000,embed=10",
    }


@pytest.fixture
def memory(settings: dict[str, Any]) -> Iterator[Memory]:
    with Memory.open(clock=ManualClock(), **settings) as memory:
        yield memory


def ask(server: OpenAIServer, scope: ScopedMemory) -> list[str]:
    """A question that is rewritten and whose hits are reranked; their contents."""
    server.say(REWRITTEN, GRADED)
    found = scope.recall("And that one?", history=["I saw one"], techniques={"rewrite": True}, threshold=-1)
    assert found.problems == ()
    return [hit.content for hit in found.hits]


def record(scope: ScopedMemory) -> None:
    scope.record_many({"role": "user", "content": text} for text in ("blue kayak", "red kayak"))


def test_every_source_is_counted_by_the_servers_own_count(server: OpenAIServer, memory: Memory) -> None:
    derek, other = memory.scope("derek"), memory.scope("other")
    record(derek)
    ask(server, derek)
    chats = [r.body for r in server.requests if r.path == "/v1/chat/completions"]
    prompts = [sum(len(m["content"].split()) for m in body["messages"]) for body in chats]
    embedded = [r.body["input"] for r in server.requests if r.path == "/v1/embeddings"]
    rows = {(one.source, one.model): one for one in derek.spending()}
    assert rows.keys() == {
        ("memory_embed", "embed"),
        ("memory_query", "chat"),
        ("memory_rerank", "chat"),
    }
    embed, query, rerank = (rows[key] for key in sorted(rows))
    assert (embed.calls, embed.prompt) == (len(embedded), sum(len(text) for one in embedded for text in one))
    assert (query.calls, query.prompt, query.completion) == (1, prompts[0], len(REWRITTEN.split()))
    assert (rerank.calls, rerank.prompt, rerank.completion) == (1, prompts[1], len(GRADED.split()))
    assert query.cost == pytest.approx((query.prompt * 100 + query.completion * 1000) / 1e6)
    assert embed.cost == pytest.approx(embed.prompt * 10 / 1e6)
    assert {one.day.isoformat() for one in derek.spending()} == {DAY}
    assert other.spending() == []


def test_the_background_and_the_gateway_are_counted_for_their_user(
    server: OpenAIServer, settings: dict[str, Any]
) -> None:
    clock = ManualClock()
    with Memory.open(clock=clock, working_tokens=400, **settings) as memory:
        derek, anna = memory.scope("derek", conversation="c"), memory.scope("anna")
        derek.record("user", "I live in Lyon.")
        clock.advance(hours=1)
        server.say(EXTRACTED, '{"summary": "They talked.", "task": null}')
        memory.tend()
        for number in range(8):
            derek.working.add("observation", f"result {number} " * 60)
        memory.spent("derek", "memory_qa", "gpt", Tokens(100, 20))
        rows = {one.source: one for one in derek.spending()}
        assert {*rows} >= {"memory_embed", "memory_extract", "memory_compress", "memory_qa"}
        assert rows["memory_extract"].model == "chat"
        assert rows["memory_extract"].prompt > 0
        assert (rows["memory_qa"].calls, rows["memory_qa"].prompt, rows["memory_qa"].completion) == (
            1,
            100,
            20,
        )
        assert anna.spending() == []


def test_two_users_of_one_reranker_stay_apart(server: OpenAIServer, memory: Memory) -> None:
    derek, other = memory.scope("derek"), memory.scope("other")
    for scope, times in ((derek, 2), (other, 1)):
        record(scope)
        for _ in range(times):
            ask(server, scope)
    calls = {
        scope.scope.user: {one.source: one.calls for one in scope.spending()} for scope in (derek, other)
    }
    assert calls["derek"]["memory_rerank"] == calls["derek"]["memory_query"] == 2
    assert calls["other"]["memory_rerank"] == calls["other"]["memory_query"] == 1


def test_repairs_are_counted(server: OpenAIServer, memory: Memory) -> None:
    derek = memory.scope("derek")
    record(derek)
    server.say(REWRITTEN, "a bad answer", GRADED)
    assert derek.recall("And it?", history=["I saw one"], techniques={"rewrite": True}).problems == ()
    assert {one.source: one.calls for one in derek.spending()}["memory_rerank"] == 2


def test_a_server_that_counts_nothing_is_estimated(server: OpenAIServer, memory: Memory) -> None:
    derek = memory.scope("derek")
    server.script(Alter(lambda body: {name: body[name] for name in body if name != "usage"}))
    derek.record("user", "blue kayak..")  # 12 characters
    assert [(one.calls, one.prompt) for one in derek.spending()] == [(1, 3)]


@pytest.mark.parametrize(
    ("usage", "tokens"), [({"total_tokens": 7}, 7), ({"total_tokens": "many"}, 0), (None, 0), ([], 0)]
)
def test_a_reranker_behind_an_address(
    server: OpenAIServer, settings: dict[str, Any], usage: Any, tokens: int
) -> None:
    settings |= {"reranker": server.base_url, "reranker_model": "rank", "embedder": "hashing"}
    with Memory.open(**settings) as memory:
        derek = memory.scope("derek")
        record(derek)
        server.script(Alter(lambda body: body | {"usage": usage}))
        assert derek.recall("Which kayak is blue?").problems == ()
        rows = {one.source: one for one in derek.spending()}
    assert (rows["memory_rerank"].model, rows["memory_rerank"].calls) == ("rank", 1)
    assert (rows["memory_rerank"].prompt, rows["memory_rerank"].cost) == (tokens, None)


# The command


def run(settings: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {f"RECOLLECT_{name.upper()}": str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "recollect", "usage", "--user", "derek", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def test_the_command_shows_rows_and_a_total(
    server: OpenAIServer, memory: Memory, settings: dict[str, Any]
) -> None:
    derek = memory.scope("derek")
    record(derek)
    ask(server, derek)
    memory.flush()
    calls = sum(one.calls for one in derek.spending())
    shown = run(settings)
    assert shown.returncode == 0, shown.stderr
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    assert [line[:3] for line in lines[:-1]] == [
        [DAY, "memory_embed", "embed"],
        [DAY, "memory_query", "chat"],
        [DAY, "memory_rerank", "chat"],
    ]
    assert lines[-1][:4] == ["total", "", "", f"{calls:,}"]
    data = json.loads(run(settings, "--by", "model", "--json").stdout)
    assert [row["model"] for row in data["usage"]] == ["chat", "embed"]
    assert data["total"]["calls"] == calls
    assert data["total"]["cost"] == pytest.approx(sum(one.cost or 0 for one in derek.spending()))
    later = run(settings, "--since", "2999-01-01")
    assert (later.stdout, later.returncode) == ("", 0)
    assert "No model was asked" in later.stderr


def test_what_the_command_cannot_read(memory: Memory, settings: dict[str, Any]) -> None:
    assert "write 2025-03-15" in run(settings, "--since", "yesterday").stderr
    assert "day, source, model" in run(settings, "--by", "hour").stderr
    refused = run(settings | {"prices": "chat"})
    assert refused.returncode != 0
    assert "RECOLLECT_PRICES" in refused.stderr


def test_models_without_a_price_are_named(memory: Memory, settings: dict[str, Any]) -> None:
    record(memory.scope("derek"))
    memory.flush()
    shown = run(settings | {"prices": ""}, "--by", "day")
    assert shown.stdout.splitlines()[-1].endswith("\t")
    assert "Without a price (RECOLLECT_PRICES): embed." in shown.stderr
