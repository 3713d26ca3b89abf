"""A whole memory leaves as JSON Lines and comes back as it was."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import Conflict, Invalid, Memory, Recollection, ScopedMemory
from recollect.model.changes import Put
from recollect.model.records import (
    RECORD_TYPES,
    SEARCHABLE,
    AuditEntry,
    Closet,
    Conversation,
    MemoryRecord,
    Record,
    Tombstone,
    Turn,
)
from recollect.record.memories import tombstone_digest
from recollect.record.turns import digest
from recollect.testing.store_samples import HARD_TEXTS, START, ManualClock, put, sample
from tests.unit.learning import episodes, task, tend
from tests.unit.support import OpenMemory, contents


@pytest.fixture
def full(memory: Memory) -> ScopedMemory:
    """A memory with every kind of record in it, every field set."""
    for kind in RECORD_TYPES:
        for variant in (0, 1):
            record = _consistent(sample(kind, f"{kind.kind}-{variant}", variant), variant)
            memory.store.user("derek").apply([put(record) if kind.kind in SEARCHABLE else Put(record)])
    memory.tend()
    scope = memory.scope("derek", channel="work", agent="cook", conversation="c")
    for text in HARD_TEXTS.values():
        scope.record("user", text)
    old = scope.remember("Lives in Lisbon", about=["Derek"])
    scope.correct(old.id, "Lives in Porto")
    scope.forget(scope.remember("a secret").id)
    return memory.scope("derek")


def _consistent(record: Record, variant: int) -> Record:
    """A record that could be: a turn matches its hash and lies in a conversation that exists."""
    if isinstance(record, Turn):
        place = {"conversation": f"conversation-{variant}", "index": variant}
        return replace(record, **place, digest=digest(record.content), channel="work", agent="cook")
    if isinstance(record, Closet):
        record = replace(record, wing=1 + variant, room=1, number=1, first=0, last=3)
    names = ("channel", "agent", "conversation")
    return replace(record, **{name: "other" for name in names if hasattr(record, name)})


def everything(memory: Memory, user: str) -> dict[str, list[Record]]:
    store = memory.store.user(user)
    return {kind.kind: list(store.find(kind)) for kind in RECORD_TYPES if kind is not AuditEntry}


def test_every_record_comes_back_as_it_was(
    memory: Memory, full: ScopedMemory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    lines = list(full.export())
    there = open_memory(tmp_path / "there.db", batch_limit=7)
    imported = there.scope("derek").import_(lines)
    assert everything(there, "derek") == everything(memory, "derek")
    assert all(everything(memory, "derek").values())  # every kind is there to be compared
    assert (imported.total, imported.unchanged) == (len(lines) - 1, 0)
    assert list(there.scope("derek").export()) == lines
    assert there.store.check() == []


def test_what_was_imported_is_recalled_alike(
    full: ScopedMemory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    there = open_memory(tmp_path / "there.db").scope("derek", channel="work")
    there.import_(full.export())

    def seen(found: Recollection) -> list[tuple[str, float]]:
        return [(hit.id, round(hit.score, 6)) for hit in found.hits]

    original = open_memory().scope("derek", channel="work")
    for query in ("lives", "Привет", "DROP TABLE", "quoted"):
        assert seen(there.recall(query)) == seen(original.recall(query)) != []
    assert "Lives in Lisbon" not in contents(there.recall("lives"))


def test_importing_again_changes_nothing(full: ScopedMemory, memory: Memory) -> None:
    lines = list(full.export())
    before = list(memory.store.user("derek").feed())
    imported = full.import_(lines)
    assert (imported.total, imported.unchanged) == (0, len(lines) - 1)
    assert list(memory.store.user("derek").feed()) == before


def test_an_export_is_json_lines_with_a_header(derek: ScopedMemory) -> None:
    derek.record("user", "line\nbreak\u2028", conversation="c")
    lines = list(derek.export())
    assert all("\n" not in line and line.isascii() for line in lines)
    header, *records = (json.loads(line) for line in lines)
    assert (header["recollect"], header["user"]) == (1, "derek")
    assert [record["kind"] for record in records] == ["conversation", "turn"]
    assert "vector" not in lines[-1]


def test_export_and_import_stream(derek: ScopedMemory, open_memory: OpenMemory, tmp_path: Path) -> None:
    derek.record_many({"role": "user", "content": f"tea {i}", "conversation": "c"} for i in range(1200))
    lines = derek.export()
    assert isinstance(lines, Iterator)
    taken = 0

    def watched() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    told: list[tuple[int, int]] = []
    there = open_memory(tmp_path / "there.db", batch_limit=100).scope("derek")
    there.import_(watched(), progress=lambda done: told.append((done, taken)))
    assert told[0] == (100, 101)  # a batch was stored before the next was read
    assert told[-1] == (1201, 1202)


def test_a_turn_said_during_an_export_does_not_take_anothers_place_later(
    derek: ScopedMemory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    derek.record("user", "one", conversation="c")
    lines = derek.export()
    begun = [next(lines), next(lines)]  # the header and the conversation, which then has one turn
    derek.record("user", "two", conversation="c")
    there = open_memory(tmp_path / "there.db").scope("derek")
    there.import_([*begun, *lines])
    assert there.record("user", "three", conversation="c").index == 2


def test_into_another_user(full: ScopedMemory, memory: Memory) -> None:
    ann = memory.scope("ann")
    ann.import_(full.export())
    assert everything(memory, "ann") == everything(memory, "derek")
    ann.forget(everything=True)
    assert full.counts()


def test_into_a_memory_that_has_something_already(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.record("user", "one", conversation="c", index=0, title="Old")
    ann = memory.scope("ann")
    ann.import_(derek.export())
    clock.advance(days=1)
    ann.record("user", "two", conversation="c")
    derek.record("user", "elsewhere", conversation="d")
    imported = ann.import_(derek.export())
    assert imported.counts == {"conversation": 1, "turn": 1}
    conversation = ann.get("c")
    assert isinstance(conversation, Conversation)
    assert (conversation.next_index, conversation.last_at) == (2, clock.now())
    assert [turn.content for turn in ann.conversation("c")] == ["one", "two"]


def test_an_old_export_undoes_nothing(derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("Lives in Lisbon")
    goal = derek.add_goal("Move")
    derek.update_profile(preferences={"city": "Lisbon"})
    lines = list(derek.export())
    clock.advance(days=1)
    derek.correct(old.id, "Lives in Porto")
    derek.complete_goal(goal.id)
    derek.update_profile(preferences={"city": "Porto"})
    assert derek.import_(lines).total == 0
    assert contents(derek.recall("lives")) == ["Lives in Porto"]
    assert derek.goals() == []
    assert derek.profile().preferences == {"city": "Porto"}


def test_a_newer_export_brings_an_older_copy_up_to_date(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    old = derek.remember("Lives in Lisbon")
    ann = memory.scope("ann")
    ann.import_(derek.export())
    clock.advance(days=1)
    derek.correct(old.id, "Lives in Porto")
    ann.import_(derek.export())
    assert everything(memory, "ann") == everything(memory, "derek")
    assert contents(ann.recall("lives")) == ["Lives in Porto"]


def test_no_content_is_replaced(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "as it was said", conversation="c")
    derek.remember("a fact")
    before = everything(memory, "derek")
    *_, turn, note, fact = derek.export()
    for line in (turn, note, fact):
        record = json.loads(line)
        forged = {**record, "content": "forged", "digest": digest("forged")}
        with pytest.raises(Conflict, match=record["id"]):
            derek.import_([next(derek.export()), json.dumps(forged)])
    assert everything(memory, "derek") == before


def test_two_different_turns_do_not_share_a_place(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "his", conversation="c")
    ann = memory.scope("ann")
    ann.record("user", "hers", conversation="c")
    ann.import_(derek.export())
    assert [(turn.index, turn.content) for turn in ann.conversation("c")] == [(0, "hers"), (1, "his")]


def test_tombstones_go_on_working(derek: ScopedMemory, open_memory: OpenMemory, tmp_path: Path) -> None:
    derek.forget(derek.remember("Allergic to peanuts").id)
    there = open_memory(tmp_path / "there.db")
    there.scope("derek").import_(derek.export())
    store = there.store.user("derek")
    (tombstone,) = store.find(Tombstone)
    assert tombstone.digest == tombstone_digest(store.secret(), "Allergic to peanuts")
    assert tombstone.at == START


def test_a_memory_with_tombstones_of_its_own_takes_no_other_key(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "his")
    derek.forget(derek.remember("his secret").id)
    ann = memory.scope("ann")
    ann.forget(ann.remember("a secret").id)
    with pytest.raises(Invalid, match="Import into a new user"):
        ann.import_(derek.export())
    assert "turn" not in ann.counts()
    assert ann.import_(list(ann.export())).total == 0


def test_a_pin_set_since_the_export_stays(derek: ScopedMemory) -> None:
    fact = derek.remember("likes tea")
    lines = list(derek.export())
    pinned = derek.pin(fact.id)
    assert derek.import_(lines).total == 0
    assert derek.get(fact.id) == pinned


def test_what_was_merged_into_a_memory_since_the_export_stays(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.remember("I drink green tea every morning.")
    lines = list(derek.export())
    derek.remember("I drink green tea every morning!")
    clock.advance(hours=2)
    memory.tend()
    (merged,) = derek.list("fact")
    derek.import_(lines)
    assert derek.list("fact") == [merged]
    assert isinstance(merged, MemoryRecord)
    assert len(merged.sources) == 2


def test_what_was_renewed_or_promoted_since_the_export_stays_so(memory: Memory, clock: ManualClock) -> None:
    work = memory.scope("derek", "work")
    work.set_retention(expire=True, ttl_days=10.0, popular=1)
    fact = work.remember("The boat is called Zephyr.")
    lines = list(work.export())
    work.recall("boat")
    clock.advance(days=9, hours=23, minutes=59)
    memory.tend()
    work.promote(fact.id)
    kept = work.get(fact.id)
    assert isinstance(kept, MemoryRecord)
    assert (kept.channel, kept.promoted_from) == ("_global", "work")
    assert fact.expires_at is not None
    assert kept.expires_at is not None
    assert kept.expires_at > fact.expires_at
    work.import_(lines)
    assert work.get(fact.id) == kept


def test_an_episode_that_was_made_again_since_the_export_stays(memory: Memory, clock: ManualClock) -> None:
    inside = task(memory, "deployment", success=True)
    tend(memory, clock)
    lines = list(inside.export())
    inside.record_tool("read_logs", {}, "ok")
    inside.end(success=False)
    tend(memory, clock)
    (made,) = episodes(inside)
    inside.import_(lines)
    assert episodes(inside) == [made]
