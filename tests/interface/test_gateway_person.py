"""What a user has set, and what their answers cost, holds in the gateway too (H4, H5)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.testing.openai_server import OpenAIServer
from tests.interface.gateway import Gateway, gateway

TEA = "I drink green tea with Derek every morning."
ASK = "What do I drink with Derek in the morning?"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gateway]:
    with (
        OpenAIServer() as upstream,
        Memory.open(
            tmp_path / "m.db",
            embedder=upstream.base_url,
            embedder_model="embed",
            embedder_dimensions=16,
            upstream=upstream.base_url,
        ) as memory,
        gateway(memory, upstream) as found,
    ):
        yield found


def ask(gate: Gateway, headers: dict[str, str] | None = None, **more: Any) -> Any:
    body = {"model": "chat", "messages": [{"role": "user", "content": ASK}], **more}
    answer = gate.http.post("/chat/completions", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    gate.settle()
    return answer


def test_memory_that_is_off(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    gate.ann.update_settings(enabled=False)
    assert "x-recollect-injected" not in ask(gate).headers
    assert gate.turns() == [("user", TEA)]
    gate.ann.update_settings(enabled=None)
    assert "x-recollect-injected" in ask(gate).headers
    assert len(gate.turns()) == 3


def test_an_agent_that_recalls_nothing_is_recorded(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    gate.ann.update_settings(agents={"planner": {"recall": False}})
    assert "x-recollect-injected" not in ask(gate, {"X-Recollect-Agent": "planner"}).headers
    assert len(gate.turns()) == 3
    assert "x-recollect-injected" in ask(gate, {"X-Recollect-Agent": "writer"}).headers


def test_what_answers_cost_is_counted_for_their_user(gate: Gateway) -> None:
    gate.ann.record("user", TEA)
    ask(gate)
    ask(gate, stream=True, stream_options={"include_usage": True})
    rows = {one.source: one for one in gate.ann.spending()}
    assert rows.keys() == {"memory_embed", "memory_qa"}
    assert (rows["memory_embed"].model, rows["memory_qa"].model) == ("embed", "chat")
    assert rows["memory_qa"].calls == 2
    assert rows["memory_qa"].prompt > 0
    assert rows["memory_qa"].completion > 0
    ask(gate, stream=True)  # tells nothing
    ask(gate, {"X-Recollect-Memory": "off"})
    assert {one.source: one.calls for one in gate.ann.spending()}["memory_qa"] == 2
    assert gate.memory.scope("somebody else").spending() == []
