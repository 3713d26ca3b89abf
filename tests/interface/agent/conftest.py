"""What the tests of agents share: a scripted model over HTTP, and a memory."""

from collections.abc import Generator
from pathlib import Path

import pytest

from recollect import Memory, ScopedMemory
from recollect.models.chat import ChatModel
from recollect.testing.openai_server import OpenAIServer


@pytest.fixture
def server() -> Generator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def model(server: OpenAIServer, waits: list[float]) -> Generator[ChatModel]:
    made = ChatModel(server.base_url, "a-model", attempts=2, sleep=waits.append)
    yield made
    made.close()


@pytest.fixture
def memory(tmp_path: Path) -> Generator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as opened:
        yield opened


@pytest.fixture
def ann(memory: Memory) -> ScopedMemory:
    return memory.scope("ann")
