"""Memory never fails the request: what is down is left out, and the recollection says so."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from recollect import Memory, ScopedMemory, SettingsError
from recollect.ports.store import Store, UserView
from recollect.tend.work import NAMES
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents


def test_without_the_embedder_recall_goes_by_words_and_says_so(
    derek: ScopedMemory, embedder: SwitchedEmbedder
) -> None:
    derek.record("user", "green tea")
    embedder.down = True
    found = derek.recall("tea")
    assert contents(found) == ["green tea"]
    assert found.problems == ("Recalled by words only: The model server does not answer.",)
    assert found.problems[0] in found.explain()
    assert "memory_context" in found.context
    embedder.down = False
    assert derek.recall("tea").problems == ()


@pytest.mark.parametrize("damage", ["garbage", "empty", "directory", "cut off"])
def test_a_store_that_fails_gives_an_empty_recollection_with_a_reason(
    memory: Memory, derek: ScopedMemory, path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    derek.record_many({"role": "user", "content": f"green tea {i}"} for i in range(50))
    memory.store.close()
    whole = path.read_bytes()
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    match damage:
        case "garbage":
            path.write_bytes(b"not a database " * 4096)
        case "empty":
            path.touch()
        case "directory":
            path.mkdir()
        case _:
            path.write_bytes(whole[:8192] + b"\0" * (len(whole) - 8192))
    found = derek.recall("tea")
    assert (found.hits, found.context) == ((), "")
    assert found.problems[0].startswith("Nothing recalled: ")
    assert "Nothing recalled" in caplog.text


def test_a_store_that_fails_while_another_model_is_searched(
    open_memory: OpenMemory, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_memory().scope("derek").record("user", "green tea")
    other = open_memory(embedder=SwitchedEmbedder(64))
    other.store.close()
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    path.mkdir()
    found = other.scope("derek").recall("tea")
    assert found.hits == ()
    assert any(problem.startswith("Nothing recalled: ") for problem in found.problems)
    assert all(problem in caplog.text for problem in found.problems)


def test_an_embedder_that_is_down_is_asked_once(derek: ScopedMemory, embedder: SwitchedEmbedder) -> None:
    derek.record("user", "My rent is 900")
    embedder.down = True
    prompt = "My rent went up since I moved to Berlin last week. What did I pay before it? " * 4
    found = derek.recall(prompt, techniques={"statement": True})
    assert contents(found) == ["My rent is 900"]
    assert embedder.failed == 1
    assert len(found.problems) == 1


def test_vectors_of_another_model_are_not_compared(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    open_memory().scope("derek").record("user", "The boat is called Albatross")
    embedder = SwitchedEmbedder(64)
    other = open_memory(embedder=embedder)
    derek = other.scope("derek")
    assert "recollect rebuild vectors" in caplog.text
    assert derek.recall("albatros", threshold=-1).hits == ()  # no word of it
    (hit,) = derek.recall("albatross", threshold=-1).hits
    assert hit.signals["semantic"] == 0
    derek.record("user", "The dog is called Rex")
    assert contents(derek.recall("dog")) == ["The dog is called Rex"]
    assert embedder.seen == [], "nothing is computed that nobody could use"


def test_rebuilding_the_vectors_switches_to_the_new_model(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    open_memory().scope("derek").record("user", "The boat is called Albatross")
    other = open_memory(embedder=SwitchedEmbedder(64))
    other.scope("derek").record("user", "The dog is called Rex")
    told: list[tuple[int, int]] = []
    assert other.rebuild_vectors(lambda done, total: told.append((done, total))) == 2
    assert told[-1] == (2, 2)
    found = other.scope("derek").recall("albatros", threshold=0)
    assert "The boat is called Albatross" in contents(found)
    active = other.store.active_space()
    assert active is not None
    assert active.dimensions == 64
    caplog.clear()
    again = open_memory(embedder=SwitchedEmbedder(64))
    assert again.scope("derek").recall("albatros", threshold=0).hits
    assert caplog.text == ""
    open_memory()  # now the old model is the other one
    assert "recollect rebuild vectors" in caplog.text


def test_a_rebuild_that_fails_leaves_what_was_there(
    open_memory: OpenMemory, embedder: SwitchedEmbedder
) -> None:
    open_memory().scope("derek").record("user", "The boat is called Albatross")
    failing = SwitchedEmbedder(64)
    other = open_memory(embedder=failing)
    failing.down = True
    with pytest.raises(Exception, match="model server does not answer"):
        other.rebuild_vectors()
    again = open_memory(embedder=embedder)
    assert again.scope("derek").recall("albatros", threshold=0).hits


def test_without_an_embedder_everything_works_by_words(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_memory(embedder="none")
    derek = memory.scope("derek")
    derek.record("user", "green tea")
    derek.remember("likes tea")
    found = derek.recall("tea")
    assert set(contents(found)) == {"green tea", "likes tea"}
    assert found.problems == ()
    assert [outcome.problem for outcome in memory.tend()] == [None] * len(NAMES)
    with pytest.raises(SettingsError, match="no embedder"):
        memory.rebuild_vectors()
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_vectors_are_filled_in_when_an_embedder_comes_later(open_memory: OpenMemory) -> None:
    open_memory(embedder="none").scope("derek").record("user", "The boat is called Albatross")
    memory = open_memory()
    assert memory.scope("derek").recall("albatros", threshold=0).hits == ()
    memory.tend()
    assert memory.scope("derek").recall("albatros", threshold=0).hits


class Again:
    """A store whose every reading is begun again once, as after a lost connection."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def user(self, name: str) -> "Again":
        return Again(self._inner.user(name))

    def reading(self, step: Callable[[UserView], Any], **how: Any) -> Any:
        self._inner.reading(step, **how)
        return self._inner.reading(step, **how)


def test_a_reading_that_begins_again_is_reported_once(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "green tea")
    derek.remember("Likes tea", expires_at=memory.clock.now())
    store = cast(Store, Again(memory.store))
    again = Memory(store, memory.embedder, memory.clock, memory.settings).scope("derek")
    once, twice = derek.recall("tea", explain=True), again.recall("tea", explain=True)
    assert [step.name for step in twice.used] == [step.name for step in once.used]
    assert (twice.hits, twice.left_out, twice.problems) == (once.hits, once.left_out, ())
