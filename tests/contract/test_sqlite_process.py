"""SQLite in a process that forks, closes, and has little memory."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from recollect import EmbedderError, Memory, SchemaMismatch
from recollect.model.changes import Append
from recollect.model.search import Filter, Search
from recollect.models.hashing import HashingEmbedder
from recollect.ports.embedder import Vectors
from recollect.stores.sqlite.backend import SqliteBackend, open_store
from recollect.testing.store_samples import SPACE, START, axis, draft


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_a_forked_child_was_told_is_stored_is_stored(path: Path) -> None:
    memory = Memory.open(path, embedder="hashing")
    user = memory.scope("u")
    user.record("user", "before", conversation="c")
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            user.record("user", "child 0", conversation="c")
            os.write(ready[1], b".")
            os.read(go[0], 1)  # the parent has closed its memory
            for number in range(1, 20):
                user.record("user", f"child {number}", conversation="c")
        finally:
            os._exit(0)
    os.read(ready[0], 1)
    user.record("user", "parent", conversation="c")
    memory.close()
    os.write(go[1], b".")
    os.waitpid(child, 0)
    with Memory.open(path, embedder="hashing") as again:
        said = [turn.content for turn in again.scope("u").conversation("c")]
        assert sorted(said) == sorted(["before", "parent", *(f"child {n}" for n in range(20))])
        assert again.store.check() == []


def test_what_was_forgotten_just_before_closing_is_gone(path: Path) -> None:
    memory = Memory.open(path, embedder="hashing", background=True)
    user = memory.scope("u")
    user.forget(user.record("user", "Xylophonist Quorblatt").id)
    memory.close()
    assert all(b"xylophonist" not in file.read_bytes().lower() for file in path.parent.iterdir())


class Endless(HashingEmbedder):
    """Never done: after each batch there is more to embed."""

    def __init__(self, memory: list[Memory]) -> None:
        super().__init__()
        self._memory = memory
        self.batches = 0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.batches += 1
        if self.batches == 2:
            self._memory[0]._stopping.set()
        return super().embed_passages(texts)


def test_closing_does_not_wait_for_the_whole_backlog(path: Path) -> None:
    opened: list[Memory] = []
    embedder = Endless(opened)
    opened.append(Memory.open(path, embedder=embedder, embed_on_write=False))
    opened[0].scope("u").record_many({"role": "user", "content": f"text {n}"} for n in range(640))
    opened[0].tend()
    assert embedder.batches == 2
    opened[0].close()


class Squeamish(HashingEmbedder):
    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any("poison" in text for text in texts):
            raise EmbedderError("This text is refused.")
        return super().embed_passages(texts)


def test_a_refused_text_holds_up_nobody(path: Path) -> None:
    with Memory.open(path, embedder=Squeamish(), embed_on_write=False) as memory:
        for user in ("a", "b"):
            memory.scope(user).record_many(
                {"role": "user", "content": text} for text in ("tea", "poison", "milk")
            )
        memory.tend()
        assert memory.store.stats()["rows"]["chunks_waiting_for_a_vector"] == 2


def test_commits_reach_the_disk(path: Path) -> None:
    backend = SqliteBackend(path, 1 << 20)
    with backend.read() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    backend.close()


def test_the_cache_keeps_within_its_limit(path: Path) -> None:
    memory = Memory.open(path, embedder="hashing", cache_mb=1)
    for number in range(8):
        user = memory.scope(f"user {number}")
        user.record_many({"role": "user", "content": f"text {n}"} for n in range(200))
        assert user.recall("text 7").hits
    assert 0 < memory.store.stats()["cached_bytes"] <= 1 << 20
    assert memory.scope("user 0").recall("text 7").hits
    memory.close()


def test_somebody_elses_database_is_not_touched(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="something else"):
        Memory.open(path, embedder="none")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_no_threshold_lets_through_what_the_filter_does_not(path: Path) -> None:
    store = open_store(path, cache_bytes=1 << 20)
    store.add_space(SPACE)
    user = store.user("u")
    user.apply([Append((draft("tea", id="t", vector=axis(0)),))], SPACE)
    hidden = Search(filter=Filter(now=START, channels=("other",)), vector=axis(0), threshold=float(-np.inf))
    assert user.search(hidden) == []
    store.close()
