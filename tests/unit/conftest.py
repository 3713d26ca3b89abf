"""A memory of its own for each test: a real SQLite file, a clock moved by hand, an embedder with a switch."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, ScopedMemory
from recollect.testing.store_samples import ManualClock
from tests.unit.support import OpenMemory, SwitchedEmbedder


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def embedder() -> SwitchedEmbedder:
    return SwitchedEmbedder()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its schema and nothing in it: copying one is faster than making one."""
    made = tmp_path_factory.mktemp("empty") / "memory.db"
    Memory.open(made, embedder="none").close()
    return made


@pytest.fixture
def path(tmp_path: Path, empty_database: Path) -> Path:
    return Path(shutil.copy(empty_database, tmp_path / "memory.db"))


@pytest.fixture
def open_memory(path: Path, clock: ManualClock, embedder: SwitchedEmbedder) -> Iterator[OpenMemory]:
    """Opens the database at `path`, again and again if asked to; closed after the test."""
    opened: list[Memory] = []

    def opener(db: Path = path, **given: Any) -> Memory:
        opened.append(Memory.open(db, **{"embedder": embedder, "clock": clock, **given}))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


@pytest.fixture
def derek(memory: Memory) -> ScopedMemory:
    return memory.scope("derek")
