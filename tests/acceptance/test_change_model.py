"""From one embedding model to another while the memory is used: killed half way, switched by another
process, carried on by the background."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recollect import Conflict, Memory
from recollect.models.hashing import HashingEmbedder
from recollect.stores.sql import spaces

OLD, NEW = HashingEmbedder(), HashingEmbedder(64)

REBUILD = """
    import sys, time
    from recollect import Memory
    from recollect.models.hashing import HashingEmbedder

    class Slow(HashingEmbedder):
        def embed_passages(self, texts):
            time.sleep(0.02)
            return super().embed_passages(texts)

    with Memory.open(path, embedder=Slow(64), lease_seconds=1.0) as memory:
        memory.rebuild_vectors(lambda done, total: print(done, total, flush=True))
    print("done", flush=True)
"""


@pytest.fixture
def old(database: Path) -> Iterator[Memory]:
    """A memory that is searched by the old model, with 400 turns in it."""
    with Memory.open(database, embedder=OLD) as memory:
        memory.scope("derek").record_many(
            {"role": "user", "content": f"The boat number {i} is called Albatross", "conversation": "c"}
            for i in range(400)
        )
        yield memory


def state(memory: Memory) -> list[tuple[int, bool, int]]:
    return [(s.space.dimensions, s.active, s.waiting) for s in memory.store.spaces()]


@pytest.mark.parametrize("lines", [1, 3, 6])
def test_a_killed_rebuild_goes_on_where_it_was(
    old: Memory, start_python: Callable[[str], subprocess.Popen[str]], lines: int
) -> None:
    derek = old.scope("derek")
    killed = start_python(REBUILD)
    assert killed.stdout is not None
    told = [killed.stdout.readline() for _ in range(lines)]
    killed.send_signal(signal.SIGKILL)
    told += killed.communicate()[0].splitlines()
    before = max(int(line.split()[0]) for line in told)
    assert [s[:2] for s in state(old)] == [(384, True), (64, False)]
    assert derek.recall("albatrosses", threshold=0).problems == (), "still searched by the old model"
    again = start_python(REBUILD)
    first, *_, last, end = again.communicate(timeout=60)[0].splitlines()
    assert int(first.split()[0]) >= before
    assert (last, end) == ("400 400", "done")
    assert state(old) == [(64, True, 0)]
    assert old.store.check() == []


def test_a_kill_while_the_chunks_are_being_listed(
    old: Memory, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    """The space is known, but not every chunk waits for it yet: nobody may take it for full."""
    monkeypatch.setattr(spaces, "BATCH", 100)
    listing, calls = spaces.SpaceKeeper._await, 0

    def interrupted(*given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        listing(*given)

    monkeypatch.setattr(spaces.SpaceKeeper, "_await", interrupted)
    with pytest.raises(KeyboardInterrupt):
        old.store.add_space(NEW.space)
    assert state(old) == [(384, True, 0), (64, False, 400)]
    assert old.store.check() == []
    with pytest.raises(Conflict):
        old.store.switch_space(NEW.space)
    with Memory.open(database, embedder=NEW) as new:
        new.tend()
        assert state(new) == [(64, True, 0)]
        assert new.store.check() == []


def test_recording_and_recalling_go_on_during_a_rebuild(old: Memory, database: Path) -> None:
    derek, turns = old.scope("derek"), 0
    with Memory.open(database, embedder=NEW) as new, ThreadPoolExecutor(1) as threads:
        rebuilding = threads.submit(new.rebuild_vectors)
        while not rebuilding.done():
            derek.record("user", f"The dog number {turns} is called Rex", conversation="dogs")
            turns += 1
            found = derek.recall("What is the boat called?", threshold=0)
            assert found.hits
            by_meaning = any(hit.signals["semantic"] for hit in found.hits)
            assert by_meaning != bool(found.problems), "the old model's vectors, or a word of the new one"
        assert rebuilding.result() >= 400
        new.tend()
        assert state(new) == [(64, True, 0)]
        assert new.store.check() == []
        found = new.scope("derek").recall("dogs called rexes", threshold=0)
        assert found.problems == ()
        assert found.hits[0].signals["semantic"] > 0


def test_a_process_with_the_old_model_says_what_is_wrong(old: Memory, database: Path) -> None:
    derek = old.scope("derek")
    with Memory.open(database, embedder=NEW) as new:
        ahead = new.scope("derek").recall("boat", threshold=0)
        assert ahead.hits
        assert "searched by model hashing" in ahead.problems[0]
        new.rebuild_vectors()
        assert new.scope("derek").recall("boat", threshold=0).problems == ()
    found = derek.recall("boat", threshold=0)
    assert found.hits
    assert all(hit.signals["semantic"] == 0 for hit in found.hits)
    active = old.store.active_space()
    assert active is not None
    assert f"the memory is now searched by model {active.model}" in found.problems[0]
    assert f"RECOLLECT_EMBEDDER={active.embedder}" in found.problems[0]
    derek.record("user", "The dog is called Rex")  # what it records waits for the new model
    assert state(old) == [(64, True, 1)]


def test_tend_carries_on_what_was_begun_and_begins_nothing(old: Memory, database: Path) -> None:
    with Memory.open(database, embedder=NEW) as new:
        new.tend()
        assert state(new) == [(384, True, 0)]
        new.store.add_space(NEW.space)
        old.tend()
        assert state(new) == [(384, True, 0), (64, False, 400)]
        assert {o.job: o.done for o in new.tend()}["embed"] == 400
        assert state(new) == [(64, True, 0)]
        assert new.store.stats()["rows"]["spaces_to_drop"] == 0


def test_a_worker_begins_the_change_by_itself(old: Memory, database: Path) -> None:
    command = [sys.executable, "-m", "recollect", "tend", "--forever", "--embedder", "hashing"]
    with Memory.open(database, embedder=NEW) as new:
        new.rebuild_vectors()
    worker = subprocess.Popen([*command, "--db", str(database)], stderr=subprocess.PIPE, text=True)
    assert worker.stderr is not None
    for line in worker.stderr:
        if line.startswith("drop:"):
            break
    worker.terminate()
    worker.communicate(timeout=60)
    assert state(old) == [(384, True, 0)]
    assert old.scope("derek").recall("boat", threshold=0).problems == ()
    assert old.store.check() == []
