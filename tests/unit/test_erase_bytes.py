"""No byte of what was forgotten is left in the files: database, write-ahead log, shared memory (I5)."""

from pathlib import Path

import numpy as np
import pytest

from recollect import Memory, ScopedMemory
from recollect.stores.sql.codec import encode_vector
from tests.unit.support import OpenMemory, SwitchedEmbedder

SECRET = "Xylophonist Quorblatt owes 739g15 zorkmids"
WORDS = ("xylophonist", "quorblatt", "739g15", "zorkmids")


def left_in(path: Path, *needles: str | bytes) -> list[tuple[str, str | bytes]]:
    """Which of the needles are still in which file, whatever their case."""
    return [
        (file.name, needle)
        for file in path.parent.glob(f"{path.name}*")
        for needle in needles
        if (needle if isinstance(needle, bytes) else needle.lower().encode())
        in (file.read_bytes() if isinstance(needle, bytes) else file.read_bytes().lower())
    ]


def vector_of(embedder: SwitchedEmbedder, text: str) -> bytes:
    return encode_vector(np.asarray(embedder.embed_query(text), np.float32))


def fill(derek: ScopedMemory) -> None:
    """Enough around it that pages split, segments merge and something stays."""
    derek.record_many(
        {"role": "user", "content": f"ordinary talk number {i} about tea", "conversation": "plain"}
        for i in range(300)
    )


def test_the_search_would_find_it(derek: ScopedMemory, path: Path, embedder: SwitchedEmbedder) -> None:
    derek.record("user", SECRET)
    for needle in (SECRET, *WORDS, vector_of(embedder, SECRET), "derek"):
        assert left_in(path, needle)


def test_what_could_be_taken_back_is_in_no_file_either(
    derek: ScopedMemory, path: Path, embedder: SwitchedEmbedder
) -> None:
    fill(derek)
    fact = derek.remember(SECRET, about=[WORDS[1]])
    gone = derek.forget(fact.id, undo=True)
    needles = (SECRET, *WORDS, vector_of(embedder, SECRET))
    assert left_in(path, *needles) == []
    derek.undo(gone.undo or "")
    assert left_in(path, SECRET)
    derek.forget(fact.id, undo=True)
    assert left_in(path, *needles) == []


@pytest.mark.parametrize("how", ["id", "conversation", "channel", "agent", "everything"])
def test_a_forgotten_turn(memory: Memory, path: Path, embedder: SwitchedEmbedder, how: str) -> None:
    fill(memory.scope("derek" if how != "everything" else "ann"))
    scope = memory.scope("derek", channel="private", agent="confidant", conversation="c")
    turn = scope.record("user", SECRET, title=f"About {WORDS[0]}", metadata={"who": WORDS[1]})
    scope.record_many({"role": "user", "content": f"{SECRET} again {i}"} for i in range(50))
    scope.recall(SECRET)
    memory.flush()
    match how:
        case "id":
            for said in scope.conversation("c"):
                scope.forget(said.id)
            scope.forget(conversation="c")
        case "everything":
            scope.forget(everything=True)
        case _:
            scope.forget(**{how: {"conversation": "c", "channel": "private", "agent": "confidant"}[how]})  # type: ignore[arg-type]
    assert left_in(path, SECRET, *WORDS, turn.digest, vector_of(embedder, SECRET)) == []
    assert memory.store.check() == []


def test_a_forgotten_memory_its_note_and_its_entity(memory: Memory, derek: ScopedMemory, path: Path) -> None:
    fill(derek)
    saved = derek.remember(SECRET, about=["Quorblatt"], metadata={"x": WORDS[3]})
    new = derek.correct(saved.id, f"{SECRET}, no less")
    derek.forget(new.id)
    derek.forget(saved.id)
    assert left_in(path, SECRET, *WORDS) == []
    assert memory.store.check() == []


def test_ledger_entries_of_a_forgotten_conversation(memory: Memory, path: Path) -> None:
    scope = memory.scope("derek", conversation="c")
    scope.record_tool("search", {"q": SECRET}, SECRET)
    scope.record_summary(SECRET, SECRET, SECRET)
    scope.add_goal(SECRET)
    scope.forget(conversation="c")
    assert left_in(path, SECRET, *WORDS) == []


def test_everything_leaves_not_even_the_name(open_memory: OpenMemory, path: Path) -> None:
    memory = open_memory()
    fill(memory.scope("ann"))
    scope = memory.scope("zebulon-quist")
    scope.record_many({"role": "user", "content": f"{SECRET} {i}"} for i in range(100))
    scope.remember(SECRET, about=["Quorblatt"])
    scope.update_profile(preferences={"x": SECRET})
    scope.add_goal(SECRET)
    scope.recall(SECRET)
    scope.forget(everything=True)
    memory.flush()
    assert left_in(path, SECRET, *WORDS, "zebulon", "quist") == []
    memory.close()
    assert left_in(path, SECRET, *WORDS, "zebulon", "quist") == []
    assert open_memory().scope("ann").recall("tea").hits


def test_the_background_finishes_it(open_memory: OpenMemory, path: Path) -> None:
    memory = open_memory(background=True, tend_seconds=3600.0)
    derek = memory.scope("derek")
    fill(derek)
    turn = derek.record("user", SECRET)
    derek.forget(turn.id)
    assert derek.recall(SECRET, threshold=2).hits == ()  # hidden at once
    assert memory.store.needs_scrub()
    outcomes = {outcome.job: outcome.done for outcome in memory.tend()}
    assert outcomes["scrub"] == 1
    assert left_in(path, SECRET, *WORDS) == []
    assert not memory.store.needs_scrub()
    assert {o.job: o.done for o in memory.tend()}["scrub"] == 0


def test_one_users_erasure_leaves_the_others_whole(memory: Memory, path: Path) -> None:
    ann, bob = memory.scope("ann"), memory.scope("bob")
    fill(ann)
    kept = [ann.record("user", f"{SECRET} for ann {i}") for i in range(20)]
    bob.record("user", SECRET)
    bob.forget(everything=True)
    assert left_in(path, *WORDS)
    assert len(ann.recall(SECRET, top_k=50, threshold=2).hits) == len(kept)
    assert memory.store.check() == []


@pytest.mark.parametrize("how", ["conversation", "channel", "agent"])
def test_a_name_that_only_the_audit_and_the_settings_have(
    open_memory: OpenMemory, path: Path, how: str
) -> None:
    with open_memory(audit="verbose") as memory:
        fill(memory.scope("derek"))
        scope = memory.scope("derek", **{how: WORDS[1]})
        scope.recall("tea")
        scope.set_retention(channel=WORDS[1] if how == "channel" else None, popular=3)
        if how == "agent":
            scope.update_settings(agents={WORDS[1]: {"recall": True}})
        memory.flush()
        assert left_in(path, WORDS[1])
        scope.forget(**{how: WORDS[1]})  # type: ignore[arg-type]
        assert left_in(path, WORDS[1]) == []
        assert "retention" not in scope.settings().values or how != "channel"
