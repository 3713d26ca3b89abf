"""Turns are stored word for word, once, with everything that is known of them (A1-A3)."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from recollect import Conflict, Conversation, Memory, Message, ScopedMemory, Turn
from recollect.model.records import Role
from recollect.record.turns import digest
from recollect.testing.store_samples import HARD_TEXTS, START, ManualClock
from tests.unit.support import OpenMemory, SwitchedEmbedder

MIB = 1024 * 1024


def test_every_field_of_a_turn_is_kept(derek: ScopedMemory, memory: Memory) -> None:
    lisbon = timezone(timedelta(hours=1))
    turn = memory.scope("derek", channel="travel", agent="planner").record(
        "assistant",
        "Two weeks on Kauai.",
        conversation="march-15",
        index=3,
        at=datetime(2026, 3, 14, 23, 30, tzinfo=lisbon),
        zone="Europe/Lisbon",
        model="some-model",
        tokens=7,
        title="Hawaii",
        metadata={"channel": ["mail", 1, None], "ключ": "значение"},
    )
    assert derek.get(turn.id) == Turn(
        id=turn.id,
        conversation="march-15",
        index=3,
        role=Role.ASSISTANT,
        content="Two weeks on Kauai.",
        at=datetime(2026, 3, 14, 22, 30, tzinfo=UTC),
        recorded_at=START,
        digest=digest("Two weeks on Kauai."),
        channel="travel",
        agent="planner",
        zone="Europe/Lisbon",
        model="some-model",
        tokens=7,
        metadata={"channel": ["mail", 1, None], "ключ": "значение"},
    )
    assert turn == derek.get(turn.id)
    (conversation,) = derek.conversations()
    assert (conversation.id, conversation.title, conversation.next_index) == ("march-15", "Hawaii", 4)


@pytest.mark.parametrize("text", [*HARD_TEXTS.values(), "é" * MIB], ids=[*HARD_TEXTS, "one MiB"])
def test_any_text_comes_back_as_it_was_said(open_memory: OpenMemory, text: str) -> None:
    turn = open_memory().scope("derek").record("user", text, conversation="c", metadata={"same": text[:9]})
    again = open_memory().scope("derek")
    (stored,) = again.conversation("c")
    assert stored.content == text
    assert stored.metadata == {"same": text[:9]}
    assert stored == turn


@pytest.mark.parametrize("role", list(Role))
def test_every_role_is_recorded(derek: ScopedMemory, role: Role) -> None:
    assert derek.record(role.value, "hello").role is role


def test_without_a_conversation_one_is_made(derek: ScopedMemory, memory: Memory) -> None:
    first, second = derek.record("user", "hello"), derek.record("user", "hello")
    assert first.conversation != second.conversation
    assert (first.index, second.index) == (0, 0)
    scoped = memory.scope("derek", conversation="mine")
    assert [scoped.record("user", text).index for text in ("a", "b")] == [0, 1]
    assert [turn.content for turn in derek.conversation("mine")] == ["a", "b"]


def test_record_many_takes_messages_and_mappings_in_order(open_memory: OpenMemory) -> None:
    derek = open_memory(batch_limit=2).scope("derek")
    told: list[int] = []
    messages = [
        Message(role="user", content="one", conversation="c"),
        {"role": "assistant", "content": "two", "conversation": "c", "title": "Counting"},
        {"role": "user", "content": "three", "conversation": "other"},
        {"role": "user", "content": "four", "conversation": "c"},
        {"role": "user", "content": "five"},
    ]
    turns = derek.record_many(iter(messages), progress=told.append)
    assert [turn.content for turn in turns] == ["one", "two", "three", "four", "five"]
    assert [turn.index for turn in derek.conversation("c")] == [0, 1, 2]
    assert told == [2, 4, 5]
    assert {turn.conversation for turn in turns} >= {"c", "other"}
    assert derek.record_many([]) == []


def test_recording_again_by_index_changes_nothing_and_embeds_nothing(
    derek: ScopedMemory, memory: Memory, embedder: SwitchedEmbedder, clock: ManualClock
) -> None:
    first = derek.record("user", "My budget is $10,000", conversation="c", index=0)
    before, seen = list(memory.store.user("derek").feed()), list(embedder.seen)
    clock.advance(hours=1)
    again = derek.record("user", "My budget is $10,000", conversation="c", index=0, tokens=99)
    assert again == first
    assert embedder.seen == seen
    assert [(e.kind, e.id) for e in memory.store.user("derek").feed()] == [(e.kind, e.id) for e in before]
    assert derek.counts() == {"conversation": 1, "turn": 1}


def test_another_text_or_role_at_the_same_index_is_a_conflict(derek: ScopedMemory) -> None:
    derek.record("user", "yes", conversation="c", index=0)
    with pytest.raises(Conflict, match="'c'"):
        derek.record("user", "no", conversation="c", index=0)
    with pytest.raises(Conflict):
        derek.record("assistant", "yes", conversation="c", index=0)
    with pytest.raises(Conflict):  # all of a batch or none of it
        derek.record_many(
            [
                {"role": "user", "content": "new", "conversation": "c", "index": 1},
                {"role": "user", "content": "no", "conversation": "c", "index": 0},
            ]
        )
    assert [turn.content for turn in derek.conversation("c")] == ["yes"]


def test_a_whole_conversation_recorded_twice_is_there_once(derek: ScopedMemory) -> None:
    messages = [{"role": "user", "content": f"line {i}", "conversation": "c", "index": i} for i in range(20)]
    assert derek.record_many(messages) == derek.record_many(messages)
    assert len(derek.conversation("c")) == 20


def test_a_turn_without_an_index_is_always_new(derek: ScopedMemory) -> None:
    assert [derek.record("user", "ok", conversation="c").index for _ in range(3)] == [0, 1, 2]


def test_a_failing_embedder_loses_no_turn_and_tend_makes_it_good(
    derek: ScopedMemory, memory: Memory, embedder: SwitchedEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    embedder.down = True
    turn = derek.record("user", "The boat is called Albatross", conversation="c")
    assert derek.get(turn.id) == turn
    assert "model server does not answer" in caplog.text
    (outcome,) = (o for o in memory.tend() if o.job == "embed")
    assert outcome.problem == "The model server does not answer."
    embedder.down = False
    (outcome,) = (o for o in memory.tend() if o.job == "embed")
    assert (outcome.done, outcome.problem) == (1, None)
    (hit,) = derek.recall("albatrosses", threshold=0).hits  # shares no word, only parts of one
    assert hit.id == turn.id
    assert hit.signals["semantic"] > 0
    assert memory.tend()[1].done == 0


def test_vectors_can_wait_for_tend_on_purpose(open_memory: OpenMemory, embedder: SwitchedEmbedder) -> None:
    memory = open_memory(embed_on_write=False)
    derek = memory.scope("derek")
    derek.record("user", "The boat is called Albatross")
    assert embedder.seen == []
    memory.tend()
    assert embedder.seen == ["The boat is called Albatross"]
    assert derek.recall("albatrosses", threshold=0).hits


def test_a_long_text_is_found_by_any_of_its_parts(derek: ScopedMemory) -> None:
    filler = " ".join(f"Sentence number {i} says nothing." for i in range(400))
    turn = derek.record("user", f"{filler} The code is ZEBRA-77. {filler}")
    for other in range(20):
        derek.record("user", f"Sentence about {other}.")
    assert derek.recall("ZEBRA-77").hits[0].id == turn.id


def test_a_turn_is_on_disk_when_record_returns(open_memory: OpenMemory, path: Path) -> None:
    turn = open_memory().scope("derek").record("user", "hello", conversation="c")
    assert path.exists()
    assert open_memory().scope("derek").get(turn.id) == turn  # the first one is still open


def test_a_given_vector_is_used_instead_of_the_embedder(
    derek: ScopedMemory, embedder: SwitchedEmbedder
) -> None:
    vector = embedder.embed_query("albatross")
    turn = derek.record("user", "…", vector=[float(x) * 1e6 for x in vector])  # its length does not matter
    assert embedder.seen == []
    (hit,) = derek.recall("albatross").hits
    assert hit.id == turn.id
    assert hit.signals["semantic"] == pytest.approx(1, abs=0.01)
    assert derek.recall("", vector=vector).hits[0].id == turn.id


def test_conversation_keeps_first_and_last_time(derek: ScopedMemory) -> None:
    for days in (3, 1, 2):
        derek.record("user", "hello", conversation="c", at=START + timedelta(days=days))
    conversation = derek.get("c")
    assert isinstance(conversation, Conversation)
    assert conversation.started_at == START + timedelta(days=1)
    assert conversation.last_at == START + timedelta(days=3)
