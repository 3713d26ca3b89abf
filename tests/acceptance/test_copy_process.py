"""`recollect copy` as a process: killed at any moment and run again, and from a source that is in use."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from recollect import Memory
from recollect.models.hashing import HashingEmbedder
from recollect.record.copy import copy_store
from recollect.record.digest import contents
from recollect.stores.sqlite.backend import open_store

pytestmark = pytest.mark.slow

TURNS = 1500
WRITING = """
    from recollect import Memory
    from recollect.models.hashing import HashingEmbedder
    with Memory.open(path, embedder=HashingEmbedder()) as memory:
        derek = memory.scope("derek")
        print("ready", flush=True)
        for i in range(60):
            derek.record("user", f"said meanwhile {i}", conversation="live")
            if i % 30 == 29:
                derek.forget(derek.remember(f"a passing thought {i}").id)
        derek.forget(conversation="c-1")
    print("done", flush=True)
"""
HELD = f"""
from threading import Event
from recollect.cli import main
from recollect.record import copy

add = copy._Watch.add

def held(watch, count):
    add(watch, count)
    if watch.done > {TURNS}:
        Event().wait()

copy._Watch.add = held
main()
"""
"""`recollect copy` that comes no further than half of the turns."""


@pytest.fixture
def filled(database: Path) -> Path:
    with Memory.open(database, embedder=HashingEmbedder()) as memory:
        for user in ("ann", "derek"):
            scope = memory.scope(user)
            scope.record_many(
                {"role": "user", "content": f"{user} says {i}", "conversation": f"c-{i % 7}"}
                for i in range(TURNS)
            )
            scope.forget(scope.remember("a secret").id)
            scope.recall("says 7")
    return database


def copying(source: Path, target: Path, *how: str) -> subprocess.Popen[str]:
    command = [sys.executable, *(how or ("-m", "recollect")), "copy", str(source), str(target), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> dict[str, object]:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return json.loads(out)


def turns(path: Path) -> int:
    """How many are in the file so far, seen from outside."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM turns").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def alike(source: Path, target: Path) -> None:
    here, there = (open_store(path, cache_bytes=1 << 24) for path in (source, target))
    space = here.active_space()
    assert there.active_space() == space
    assert list(here.users()) == list(there.users())
    for user in here.users():
        assert contents(here.user(user), space) == contents(there.user(user), space)
        assert here.user(user).secret() == there.user(user).secret()
    assert there.check() == []
    for store in (here, there):
        store.close()


def test_killed_again_and_again_it_ends_the_same(filled: Path, tmp_path: Path) -> None:
    target, kills = tmp_path / "target.db", 0
    for seconds in (0.4, 0.8, 1.0, 1.3):  # from before the first write to after the last
        process = copying(filled, target)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
    assert kills
    answer = finished(copying(filled, target))
    assert answer["verified"] is True
    alike(filled, target)


def test_killed_while_it_writes(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    process = copying(filled, target, "-c", HELD)  # however late it is killed, it has not finished
    while process.poll() is None and not turns(target):
        Event().wait(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert 0 < turns(target) < 2 * TURNS
    finished(copying(filled, target))
    alike(filled, target)


def test_from_a_source_that_another_process_writes(
    filled: Path, tmp_path: Path, start_python: Callable[[str], subprocess.Popen[str]]
) -> None:
    target = tmp_path / "target.db"
    writer = start_python(WRITING)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    finished(copying(filled, target))
    assert writer.communicate(timeout=120)[0] == "done\n"
    finished(copying(filled, target))
    alike(filled, target)


def test_memory_does_not_grow_with_what_is_copied(filled: Path, tmp_path: Path) -> None:
    """Records are read in batches, never all at once."""
    import tracemalloc

    source = open_store(filled, cache_bytes=1 << 20)
    target = open_store(tmp_path / "target.db", cache_bytes=1 << 20)
    copy_store(source, target, "ann")  # whatever is loaded once
    tracemalloc.start()
    copied = copy_store(source, target, "derek")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert copied.records > TURNS
    assert peak < 4 * 2**20  # a batch of records with their vectors, several times over
    source.close()
    target.close()
