"""The reranking model of a user's choice, behind real HTTP (H4)."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.testing.openai_server import OpenAIServer

pytest.importorskip("httpx")
pytest.importorskip("openai")

GRADED = '{"grades": [{"passage": 1, "grade": 3}, {"passage": 2, "grade": 9}]}'


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.mark.parametrize("kind", ["model", "address"])
def test_the_model_of_the_users_choice_is_asked_and_counted(
    server: OpenAIServer, tmp_path: Path, kind: str
) -> None:
    settings: dict[str, Any] = {"model": server.base_url, "model_name": "own", "reranker": "model"}
    if kind == "address":
        settings = {"reranker": server.base_url, "reranker_model": "own"}
    with Memory.open(tmp_path / "m.db", embedder="hashing", reranker_models="large", **settings) as memory:
        for user, model in (("derek", "large"), ("anna", None), ("ben", "own")):
            scope = memory.scope(user)
            scope.update_settings(rerank_model=model)
            scope.record_many({"role": "user", "content": text} for text in ("blue kayak", "red kayak"))
            for _ in range(2):
                server.say(GRADED)
                assert scope.recall("Which kayak is blue?", threshold=-1).problems == ()
        spent = {
            user: {(one.source, one.model): one.calls for one in memory.scope(user).spending()}
            for user in ("derek", "anna", "ben")
        }
    asked = [r.body["model"] for r in server.requests if r.path in ("/v1/chat/completions", "/v1/rerank")]
    assert asked == ["large", "large", "own", "own", "own", "own"]
    assert spent["derek"]["memory_rerank", "large"] == 2
    assert spent["anna"]["memory_rerank", "own"] == spent["ben"]["memory_rerank", "own"] == 2
