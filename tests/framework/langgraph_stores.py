"""LangGraph's own store and ours, to be held against each other."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.store.base import BaseStore, IndexConfig
from langgraph.store.memory import InMemoryStore

from recollect import Client, Memory
from recollect.integrations.langgraph import RecollectStore
from recollect.models.hashing import HashingEmbedder
from tests.interface.serving import Served, served

HASHING = HashingEmbedder()


def embed(texts: list[str]) -> list[list[float]]:
    return HASHING.embed_passages(texts).tolist()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("langgraph") / "memory.db"
    with Memory.open(path, embedder=HASHING, background=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(memory: Memory) -> Iterator[Served]:
    with served(memory) as running:
        yield running


def made(request: pytest.FixtureRequest, index: dict[str, Any]) -> BaseStore:
    """LangGraph's own store, one on a memory here, or one on a memory behind a server; with nothing in it."""
    user = f"user-{uuid.uuid4()}"
    match request.param:
        case "langgraph":
            return InMemoryStore(index=cast("IndexConfig", {"dims": 384, "embed": embed, **index}))
        case "recollect":
            return RecollectStore(request.getfixturevalue("memory"), user, index=cast("IndexConfig", index))
        case _:
            running: Served = request.getfixturevalue("server")
            client = Client(running.url, running.issue(owner=user).key)
            request.addfinalizer(client.close)
            return RecollectStore(client, user, index=cast("IndexConfig", index))


KINDS = ["langgraph", "recollect", "server"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest) -> BaseStore:
    """Searched by all of a value."""
    return made(request, {})


@pytest.fixture(params=KINDS)
def by_text(request: pytest.FixtureRequest) -> BaseStore:
    """Searched by the field `text`."""
    return made(request, {"fields": ["text"]})


def keys(found: Any) -> list[str]:
    return [item.key for item in found]
