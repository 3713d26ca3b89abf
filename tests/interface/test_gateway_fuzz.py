"""Whatever a client sends, and whatever the upstream answers, the gateway is never at fault."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import requests
from schemathesis import GenerationMode

from recollect import Memory
from recollect.server.gateway.described import PATHS
from recollect.testing.openai_answers import completion, events, response, response_events
from recollect.testing.openai_server import OpenAIServer, Request
from tests.interface.serving import Served, served
from tests.interface.test_rest_fuzz import described, failures

pytestmark = pytest.mark.slow

EXAMPLES = 10
"""Of each operation: most of what they take has no shape that is told."""
ASKED: dict[str, Any] = {"model": "m", "messages": [], "input": "Hi"}
ANSWERS: list[dict[str, Any] | bytes] = [
    *(completion(ASKED, "Tea."), response(ASKED, "Tea.")),
    *(events(ASKED, "Green tea."), response_events(ASKED, "Green tea.")),
    *({}, {"choices": None}, {"choices": [{"message": 5}, 7]}, {"choices": [{"message": {"content": [1]}}]}),
    *({"id": 5, "output": "x"}, {"id": "r" * 300, "output": [{"type": "message"}, 3], "usage": {"a": 1}}),
    *(b"data: {\n\n", b"data: [DONE]\n\n", b"\xff\x00", events(ASKED, "Green tea.")[:40]),
    b'data: {"choices": [{"delta": {"tool_calls": [{"index": "x", "function": 3}], "audio": 1}}]}\n\n',
]
"""What upstreams answer, and what none should."""


class Anything(OpenAIServer):
    """Answers with one after the other, whatever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._turns = count()

    def meet(self, request: Request, handler: Any) -> None:
        self.requests.append(request)
        handler.answer(200, ANSWERS[next(self._turns) % len(ANSWERS)])


@pytest.fixture(scope="module")
def upstream() -> Iterator[Anything]:
    with Anything() as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, upstream: Anything) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("fuzz") / "memory.db"
    with Memory.open(path, embedder="hashing", rate_limit=0, upstream=upstream.base_url) as memory:
        memory.scope("derek").remember("Likes tea", about=["Derek"])
        with served(memory) as server:
            yield server
        assert "recollect_gateway_unrecorded_total 0" in memory.metrics(), "and nothing was lost"


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_the_gateways_fault(server: Served, upstream: Anything, mode: GenerationMode) -> None:
    passed_on = [operation for operation in described(server) if operation.path in PATHS]
    assert len(passed_on) >= len(PATHS)
    failed: list[str] = []
    before = len(upstream.requests)
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {server.issue(owner='derek').key}"
        for operation in passed_on:
            failed += failures(operation, server.url, mode, session, EXAMPLES)
    assert failed == []
    assert len(upstream.requests) > before, "some of them went through"
