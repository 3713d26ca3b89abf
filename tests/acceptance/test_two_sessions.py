"""The story: something is said in March, asked for days later in another process, corrected, and erased."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect import Memory

SAY = """
    import json
    from datetime import datetime, timezone
    from recollect import Memory
    with Memory.open(path, embedder="hashing") as memory:
        derek = memory.scope("derek", conversation="march-15")
        turn = derek.record(
            "user", "My budget for the Hawaii trip is $10,000", at=datetime(2026, 3, 15, tzinfo=timezone.utc)
        )
        derek.record("assistant", "Noted: $10,000 for Hawaii.")
        memory.scope("ann").record("user", "My budget for the trip to Rome is $300")
        print(json.dumps(turn.id))
"""
ASK = """
    import json
    from recollect import Memory
    with Memory.open(path, embedder="hashing") as memory:
        found = memory.scope("derek").recall("What's my budget for the trip?")
        print(json.dumps({"hits": [(hit.id, hit.content) for hit in found.hits], "context": found.context}))
"""


def test_what_was_said_in_one_process_is_recalled_in_another(run_python: Callable[[str], Any]) -> None:
    said = run_python(SAY)
    found = run_python(ASK)
    assert found["hits"][0] == [said, "My budget for the Hawaii trip is $10,000"]
    assert "[2026-03-15, user] My budget for the Hawaii trip is $10,000" in found["context"]
    assert "Rome" not in found["context"]


def test_an_open_memory_sees_what_another_process_does(
    run_python: Callable[[str], Any], database: Path
) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        derek = memory.scope("derek")
        assert derek.recall("budget").hits == ()
        said = run_python(SAY)
        assert derek.recall("budget").hits[0].id == said
        run_python("""
            import json
            from recollect import Memory
            with Memory.open(path, embedder="hashing") as memory:
                print(json.dumps(dict(memory.scope("derek").forget(everything=True).counts)))
        """)
        assert derek.recall("budget").hits == ()
        assert derek.counts() == {}


def test_forgotten_in_another_process_no_byte_is_left(
    run_python: Callable[[str], Any], database: Path
) -> None:
    run_python(SAY)
    gone = run_python("""
        import json
        from recollect import Memory
        with Memory.open(path, embedder="hashing") as memory:
            print(json.dumps(dict(memory.scope("derek").forget(everything=True).counts)))
    """)
    assert gone == {"conversation": 1, "turn": 2}
    left = b"".join(file.read_bytes() for file in database.parent.glob("memory.db*")).lower()
    for word in (b"hawaii", b"10,000", b"derek", b"march-15"):
        assert word not in left
    assert b"rome" in left
    assert run_python(ASK)["hits"] == []
