"""Many threads and processes on one memory: nothing lost, nothing twice, every place taken once."""

import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from recollect import Memory

THREADS, EACH = 8, 50

WRITE = """
    import json, sys
    from recollect import Memory
    with Memory.open(path, embedder="hashing") as memory:
        derek = memory.scope("derek", conversation="shared")
        made = [derek.record("user", f"{NAME} says {i}") for i in range(100)]
        print(json.dumps([[turn.id, turn.index] for turn in made]))
"""


def test_threads_record_and_recall_at_once(database: Path) -> None:
    failures: list[BaseException] = []
    ids: list[str] = []
    with Memory.open(database, embedder="hashing") as memory:

        def work(number: int) -> None:
            user = memory.scope(f"user-{number % 2}", conversation="shared")
            try:
                for i in range(EACH):
                    turn = user.record("user", f"worker{number} item{i}")
                    ids.append(turn.id)
                    found = user.recall(f"worker{number} item{i}", top_k=1)  # what was written can be read
                    assert found.hits[0].id == turn.id, found
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(set(ids)) == THREADS * EACH
        for number in range(2):
            turns = memory.scope(f"user-{number}").conversation("shared")
            assert [turn.index for turn in turns] == list(range(THREADS * EACH // 2))
        assert memory.store.check() == []


def test_threads_remember_correct_and_forget_at_once(database: Path) -> None:
    failures: list[BaseException] = []
    with Memory.open(database, embedder="hashing") as memory:
        derek = memory.scope("derek")

        def work(number: int) -> None:
            try:
                for i in range(10):
                    old = derek.remember(f"worker{number} fact{i}")
                    new = derek.correct(old.id, f"worker{number} truth{i}")
                    if i % 2:
                        derek.forget(new.id)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        in_force = derek.list("fact", superseded_by=None, limit=100)
        assert len(in_force) == 40
        assert derek.counts()["fact"] == 60
        assert memory.store.check() == []


def test_two_processes_fill_one_conversation(
    start_python: Callable[[str], subprocess.Popen[str]], database: Path
) -> None:
    processes = [start_python(WRITE.replace("NAME", repr(name))) for name in ("ann", "bob")]
    told = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    made = [tuple(place) for output in told for place in json.loads(output)]
    assert sorted(index for _, index in made) == list(range(200))
    with Memory.open(database, embedder="hashing") as memory:
        turns = memory.scope("derek").conversation("shared")
        assert {(turn.id, turn.index) for turn in turns} == set(made)
        assert [turn.index for turn in turns] == list(range(200))
        for name in ("ann", "bob"):  # each in its own order
            assert [t.content for t in turns if name in t.content] == [f"{name} says {i}" for i in range(100)]
        assert memory.store.check() == []


def test_two_processes_opening_a_new_database_at_once(
    start_python: Callable[[str], subprocess.Popen[str]],
) -> None:
    script = """
        from recollect import Memory
        with Memory.open(path, embedder="hashing") as memory:
            memory.scope("derek").record("user", "hello")
            print(memory.store.active_space().model)
    """
    processes = [start_python(script) for _ in range(4)]
    told = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert len(set(told)) == 1
