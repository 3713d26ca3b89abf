"""What a newcomer runs into: repeated phrases, the question itself, merged memories, closed ones."""

import asyncio
import stat
from pathlib import Path

import pytest

from recollect import AsyncMemory, Invalid, Memory, ScopedMemory, SettingsError, StoreUnavailable
from recollect.models.hashing import HashingEmbedder
from recollect.settings import unknown_variables
from tests.unit.support import OpenMemory, SwitchedEmbedder, contents


def test_the_same_words_are_recalled_once(derek: ScopedMemory) -> None:
    for number in range(20):
        derek.record("assistant", "Got it, I'll remember that.", conversation=f"c{number}")
    derek.record("user", "We adopted a greyhound, remember?")
    derek.remember("Got it,  I'll REMEMBER that.")
    found = contents(derek.recall("what did you get and remember"))
    assert sorted(set(found)) == sorted(found)
    assert "We adopted a greyhound, remember?" in found


def test_the_conversation_that_goes_on_can_be_left_out(derek: ScopedMemory) -> None:
    derek.record("user", "My pet is a greyhound", conversation="march")
    derek.record("user", "What pet do I have?", conversation="now")
    everything = contents(derek.recall("What pet do I have?"))
    assert everything[0] == "What pet do I have?"
    assert contents(derek.recall("What pet do I have?", exclude_conversation="now")) == [
        "My pet is a greyhound"
    ]
    assert contents(derek.recall("What pet do I have?", exclude_conversation="never")) == everything


def test_two_memories_that_grew_apart_can_be_joined(memory: Memory) -> None:
    one, two = memory.scope("one"), memory.scope("two")
    for scope, likes in ((one, "tea"), (two, "jazz")):
        scope.remember(f"Ana likes {likes}")
        scope.record("user", f"I like {likes}", conversation="main")
    lines = list(one.export())
    assert two.import_(lines).total == 5
    assert [turn.content for turn in two.conversation("main")] == ["I like jazz", "I like tea"]
    assert sorted(contents(two.recall("what does Ana like", kinds=["fact"]))) == [
        "Ana likes jazz",
        "Ana likes tea",
    ]
    assert two.import_(lines).total == 0
    assert [turn.index for turn in two.conversation("main")] == [0, 1]
    two.record("user", "and cello", conversation="main")
    assert [turn.index for turn in two.conversation("main")] == [0, 1, 2]


def test_an_old_export_does_not_bring_back_what_was_forgotten(derek: ScopedMemory) -> None:
    fact = derek.remember("The safe opens with 4711")
    kept = derek.remember("Likes tea")
    lines = list(derek.export())
    derek.forget(fact.id)
    derek.import_(lines)
    assert contents(derek.recall("safe opens")) == []
    assert [record.id for record in derek.list("fact")] == [kept.id]
    assert all("4711" not in turn.content for turn in derek.conversation("_notes"))


def test_exporting_nobody_leaves_no_trace(memory: Memory) -> None:
    assert len(list(memory.scope("ghost").export())) == 1
    assert memory.store.stats()["rows"]["users"] == 0


def test_a_closed_memory_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    derek = memory.scope("derek")
    derek.record("user", "hello")
    memory.close()
    with pytest.raises(StoreUnavailable, match="open it again"):
        derek.record("user", "still there?")
    assert "open it again" in derek.recall("tea").problems[0]
    memory.close()


def test_a_closed_memory_says_so_to_asyncio_too(path: Path) -> None:
    async def story() -> None:
        memory = await AsyncMemory.open(path, embedder="none")
        derek = memory.scope("derek")
        await memory.close()
        with pytest.raises(StoreUnavailable, match="open it again"):
            await derek.record("user", "hello")

    asyncio.run(story())


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"
    with Memory.open(path, embedder="none") as memory:
        memory.scope("derek").record("user", "hello")
        for file in (path.parent, *path.parent.iterdir()):
            assert not stat.S_IMODE(file.stat().st_mode) & 0o077, file.name


def test_another_embedder_is_taken_while_there_are_no_vectors(
    open_memory: OpenMemory, embedder: SwitchedEmbedder
) -> None:
    embedder.down = True
    open_memory().scope("derek").record("user", "We adopted a greyhound")
    other = open_memory(embedder=HashingEmbedder(64))
    other.tend()
    assert other.store.active_space() == HashingEmbedder(64).space
    assert contents(other.scope("derek").recall("adopted")) == ["We adopted a greyhound"]
    assert other.store.stats()["rows"]["chunks_waiting_for_a_vector"] == 0


def test_a_list_of_messages_can_go_into_one_conversation(derek: ScopedMemory) -> None:
    turns = derek.record_many(
        [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], conversation="k"
    )
    assert [(turn.conversation, turn.index) for turn in turns] == [("k", 0), ("k", 1)]
    unnamed = derek.record_many([{"role": "user", "content": "c"}, {"role": "user", "content": "d"}])
    assert unnamed[0].conversation == unnamed[1].conversation


@pytest.mark.parametrize("message", [("user", "a"), {"role": "user"}, {"content": "x"}, "hello", None])
def test_what_is_no_message(derek: ScopedMemory, message: object) -> None:
    with pytest.raises(Invalid, match="at least a role and a content"):
        derek.record_many([message])  # type: ignore[list-item]


def test_one_kind_may_be_given_as_text(derek: ScopedMemory) -> None:
    derek.remember("Likes tea")
    assert contents(derek.recall("tea", kinds="fact")) == ["Likes tea"]
    with pytest.raises(Invalid, match="must be text"):
        derek.recall(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("db", [":memory:", "  ", "redis://localhost"])
def test_what_is_no_path(db: str) -> None:
    with pytest.raises(SettingsError, match="path"):
        Memory.open(db)


@pytest.mark.parametrize("embedder", ["./no-such-model", "/no/such/model", "~/no-such-model"])
def test_a_directory_that_is_not_there(path: Path, embedder: str) -> None:
    with pytest.raises(SettingsError, match="no directory"):
        Memory.open(path, embedder=embedder)


def test_misspelt_settings_are_found() -> None:
    given = {"RECOLLECT_TOPK": "3", "RECOLLECT_TOP_K": "3", "RECOLLECT_TEST_POSTGRES": "x", "HOME": "/"}
    assert unknown_variables(given) == ["RECOLLECT_TOPK"]
