"""The audit: every write by default, reads on request, never the content (I3)."""

import json
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect import AuditEntry, Memory, NotFound, ScopedMemory
from recollect import auditing as auditing_module
from recollect.errors import StoreUnavailable
from recollect.model.changes import Log
from recollect.model.records import Tombstone
from recollect.model.scope import FORGOTTEN
from recollect.ports.tending import Moment
from recollect.record.transfer import line_of
from recollect.testing.store_samples import ManualClock, sample
from tests.unit.support import OpenMemory

WORD = "Quorblatt"


def told(derek: ScopedMemory, operation: str | None = None) -> list[tuple[str, str, int]]:
    return [(entry.operation, entry.subject, entry.count) for entry in reversed(derek.audit(operation))]


# Writes


def test_every_write_is_noted(memory: Memory) -> None:
    derek = memory.scope("derek", "work", "scout", "c")
    derek.record("user", f"My sister {WORD} lives in Lyon.")
    derek.record_many([{"role": "user", "content": f"{n}"} for n in range(3)])
    fact = derek.remember(f"{WORD} is a cellist", about=[WORD])
    new = derek.correct(fact.id, f"{WORD} is a pianist")
    derek.pin(new.id)
    derek.pin(new.id, False)
    tool = derek.record_tool("search", WORD)
    summary = derek.record_summary(WORD, WORD, WORD)
    goal = derek.add_goal(WORD)
    derek.complete_goal(goal.id, result=WORD)
    derek.update_profile(style={"x": WORD})
    derek.update_settings(custom={"x": WORD})
    assert told(derek) == [
        ("record", "conversation", 1),
        ("record", "conversation", 3),
        ("remember", f"fact {fact.id}", 1),
        ("correct", f"fact {new.id}", 1),
        ("pin", f"fact {new.id}", 1),
        ("unpin", f"fact {new.id}", 1),
        ("record_tool", f"tool_invocation {tool.id}", 1),
        ("record_summary", f"summary {summary.id}", 1),
        ("add_goal", f"goal {goal.id}", 1),
        ("complete_goal", f"goal {goal.id}", 1),
        ("update_profile", "profile profile", 1),
        ("update_settings", "settings settings", 1),
    ]
    entries = derek.audit()
    assert {(e.channel, e.agent, e.conversation) for e in entries} == {("work", "scout", "c")}
    assert WORD.lower() not in repr(entries).lower()


def test_knowledge_imports_and_receipts_are_noted(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "My sister Anna lives in Lyon. My friend Ben lives in Rome.", conversation="a")
    derek.mine()
    derek.merge("Ben", into="Anna")
    derek.split("Anna", "Ben")
    gone = derek.unmine("a")
    assert [entry.operation for entry in reversed(derek.audit())] == [
        "record",
        "mine",
        "merge",
        "split",
        "unmine",
    ]
    assert derek.audit("unmine")[0].id == gone.receipt
    other = memory.scope("other")
    count = other.import_([*derek.export()]).total
    other.import_([*derek.export()])
    assert told(other) == [("import", "records", count)]


def test_what_was_recorded_already_is_not_noted_again(derek: ScopedMemory) -> None:
    for _ in range(2):
        derek.record("user", "a", conversation="c", index=0)
    assert told(derek) == [("record", "conversation", 1)]
    derek.record_many(
        [{"role": "user", "content": text, "index": n} for n, text in enumerate("ab")], conversation="c"
    )
    assert told(derek)[1:] == [("record", "conversation", 1)]


def test_a_write_that_fails_leaves_no_entry(derek: ScopedMemory) -> None:
    with pytest.raises(NotFound):
        derek.complete_goal("none")
    assert derek.audit() == []


def test_off_leaves_receipts_only(open_memory: OpenMemory) -> None:
    memory = open_memory(audit="off")
    derek = memory.scope("derek")
    turn = derek.record("user", "tea")
    derek.recall("tea")
    gone = derek.forget(turn.id)
    assert [entry.id for entry in derek.audit()] == [gone.receipt]


# Reads


@pytest.fixture
def reading(open_memory: OpenMemory) -> Memory:
    return open_memory(audit="reads")


@pytest.fixture
def verbose(open_memory: OpenMemory) -> Memory:
    return open_memory(audit="verbose")


def test_reads_are_not_noted_by_default(derek: ScopedMemory) -> None:
    derek.record("user", "tea")
    derek.recall("tea")
    assert [entry.operation for entry in derek.audit()] == ["record"]


def test_reads_are_noted_on_request(reading: Memory) -> None:
    derek = reading.scope("derek", "work", "scout")
    reading.scope("derek").record("user", f"{WORD} drinks tea", conversation="a")
    turn = derek.record("user", f"{WORD} drinks coffee", conversation="b")
    derek.recall(WORD)
    derek.get(turn.id)
    derek.list("turn")
    derek.conversation("b")
    derek.timeline()
    derek.goals()
    derek.profile()
    derek.palace()
    lines = len([*derek.export()])
    with pytest.raises(NotFound):
        derek.get("none")
    reads = [entry for entry in reversed(derek.audit()) if entry.operation != "record"]
    assert [(r.operation, r.count, r.success) for r in reads] == [
        ("recall", 2, True),
        ("get", 1, True),
        ("list", 2, True),
        ("conversation", 1, True),
        ("timeline", 2, True),
        ("goals", 0, True),
        ("profile", 1, True),
        ("palace", 0, True),
        ("export", lines - 1, True),
        ("get", 0, False),
    ]
    recall = reads[0]
    assert recall.details == {
        "kinds": {"turn": 2},
        "channels": {"work": 1, "_global": 1},
        "searched": ["work", "_global"],
    }
    assert (recall.latency_ms or 0) > 0
    assert (recall.channel, recall.agent, recall.memory_kind) == ("work", "scout", "turn")
    assert reads[-1].error == "NotFound"
    assert WORD not in repr(reads)
    assert not any(entry.payload for entry in reads)


def test_problems_are_named_without_what_they_say(reading: Memory) -> None:
    derek = reading.scope("derek")
    derek.record("user", "tea")
    found = derek.recall("tea", techniques={"rewrite": True})
    (entry,) = derek.audit("recall")
    assert found.problems
    assert entry.error
    assert all(len(part) <= 80 for part in entry.error.split("; "))


def test_verbose_tells_what_was_asked_and_found(verbose: Memory) -> None:
    derek = verbose.scope("derek")
    turn = derek.record("user", f"{WORD} drinks tea")
    derek.recall(WORD)
    (entry,) = derek.audit("recall")
    payload = json.loads(entry.payload or "")
    assert payload["query"] == WORD
    assert [(found["kind"], found["id"]) for found in payload["found"]] == [("turn", turn.id)]
    assert {step["name"] for step in payload["steps"]} >= {"gather", "fuse"}
    assert [entry.operation for entry in derek.readers(turn.id)] == ["recall"]
    assert derek.readers("none") == []


@pytest.mark.parametrize("written", [True, False])
def test_an_erasure_empties_payloads(verbose: Memory, open_memory: OpenMemory, written: bool) -> None:
    """Those that wait to be written too, whichever process forgets."""
    derek = verbose.scope("derek")
    derek.record("user", f"{WORD} drinks tea", conversation="secret")
    kept = derek.record("user", "plain tea", conversation="plain")
    derek.recall(WORD, conversation="secret")
    if written:
        verbose.flush()
    open_memory().scope("derek").forget(conversation="secret")
    (entry,) = derek.audit("recall")
    assert (entry.payload, entry.count) == (None, 1)
    assert derek.readers(kept.id) == []


def test_whoever_is_erased_does_not_come_back_for_what_they_read(
    verbose: Memory, open_memory: OpenMemory
) -> None:
    derek = verbose.scope("derek")
    derek.record("user", f"{WORD} drinks tea")
    derek.recall(WORD)
    other = open_memory().scope("derek")
    other.forget(everything=True)
    verbose.flush()
    assert list(verbose.store.users()) == []
    derek.recall(WORD)
    other.record("user", "another one of that name")
    verbose.flush()
    assert WORD not in repr(derek.audit())


def test_reads_of_nobody_are_not_kept(verbose: Memory) -> None:
    verbose.scope("nobody").recall("tea")
    verbose.flush()
    assert list(verbose.store.users()) == []


def test_an_audit_that_fails_fails_no_read(verbose: Memory, caplog: pytest.LogCaptureFixture) -> None:
    derek = verbose.scope("derek")
    derek.record("user", "tea")

    class Failing:
        def __init__(self, store: Any) -> None:
            self._store = store

        def user(self, user: str) -> Any:
            return self

        def moment(self) -> Moment:
            return Moment(1, 1)

        def note(self, entries: object, since: object) -> None:
            raise StoreUnavailable("away")

    verbose._reads._store = Failing(verbose.store)  # type: ignore[assignment]
    assert derek.recall("tea").hits
    with caplog.at_level(logging.WARNING):
        verbose.flush()
    assert "not noted in the audit" in caplog.text


def test_there_is_an_end_to_what_waits(
    verbose: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(auditing_module, "ROOM", 2)
    derek = verbose.scope("derek")
    derek.record("user", "tea")
    for _ in range(5):
        derek.recall("tea")
    with caplog.at_level(logging.WARNING):
        assert len(derek.audit("recall")) == 2
    assert "3 reads" in caplog.text


# Names


@pytest.mark.parametrize("field", ["conversation", "channel", "agent"])
def test_names_of_what_is_forgotten_go_out_of_it(verbose: Memory, field: str) -> None:
    names = {"channel": f"{WORD}-a", "agent": f"{WORD}-b", "conversation": f"{WORD}-c"}
    derek = verbose.scope("derek", **names)
    derek.record("user", "I have a dog.")
    derek.mine()
    derek.recall("dog")
    plain = verbose.scope("derek", "other", "other", "other")
    plain.record("user", "I have a cat.")
    before = len(plain.audit())
    derek.forget(**{field: names[field]})  # type: ignore[arg-type]
    entries = plain.audit()
    assert len(entries) == before + 1, "the entries stay"
    assert names[field] not in repr(entries)
    if field == "channel":
        assert {entry.channel for entry in entries} == {"other", FORGOTTEN, "_global"}
        assert names["conversation"] not in repr(entries), "it was in that channel"
    assert [entry.conversation for entry in plain.audit("record") if entry.channel == "other"] == ["other"]


# Asking


def test_filters_and_pages(derek: ScopedMemory, clock: ManualClock) -> None:
    start = clock.now()
    for n in range(5):
        derek.record("user", f"{n}", conversation=f"c{n % 2}")
        derek.remember(f"{n}")
        clock.advance(days=1)
    assert len(derek.audit()) == 10
    assert [entry.at for entry in derek.audit()] == sorted((e.at for e in derek.audit()), reverse=True)
    assert len(derek.audit("remember")) == len(derek.audit(kind="fact")) == 5
    assert len(derek.audit(conversation="c0")) == 3
    day = timedelta(days=1)
    assert len(derek.audit(since=start + day, until=start + 2 * day)) == 4
    first = derek.audit(limit=4)
    rest = derek.audit(limit=50, after=first[-1].id)
    assert [e.id for e in (*first, *rest)] == [e.id for e in derek.audit()]


def test_nobody_sees_what_others_did(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "tea")
    assert memory.scope("ann").audit() == []


# Retention


def test_old_days_go(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.record("user", "old")
    clock.advance(days=memory.settings.audit_days)
    memory.tend()
    assert len(derek.audit("record")) == 1, "not before the day is over"
    clock.advance(days=1)
    derek.record("user", "new")
    outcome = next(o for o in memory.tend() if o.job == "audit")
    assert (outcome.done, outcome.problem) == (1, None)
    assert len(derek.audit("record")) == 1
    assert next(o.done for o in memory.tend() if o.job == "audit") == 0
    assert len(derek.list("turn")) == 2


def test_many_old_entries_go_too(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.record("user", "old")
    store = memory.store.user("derek")
    store.apply(
        [Log(AuditEntry(id=f"{n}", operation="x", subject="y", at=clock.now())) for n in range(12_000)]
    )
    clock.advance(days=memory.settings.audit_days + 2)
    assert next(o.done for o in memory.tend() if o.job == "audit") == 12_001


# Receipts


def test_a_user_leaves_a_receipt_that_names_nobody(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", WORD)
    gone = derek.forget(everything=True)
    (receipt,) = memory.store.receipts()
    assert receipt.id == gone.receipt
    assert receipt.counts == {"conversation": 1, "turn": 1, "audit": 1}
    assert "derek" not in repr(receipt)


def test_a_dry_run_counts_what_is_derived_and_erases_nothing(derek: ScopedMemory) -> None:
    derek.record("user", "My sister Anna lives in Lyon.", conversation="a")
    derek.mine()
    derek.remember("tea", about=["Ben"])
    for target in ({"conversation": "a"}, {"channel": "_global"}, {"everything": True}):
        before = [*derek.export()]
        would = derek.forget(**target, dry_run=True)  # type: ignore[arg-type]
        assert would.receipt is None
        assert [*derek.export()] == before
    would = derek.forget(conversation="a", dry_run=True)
    assert would.counts["fact"] >= 1
    assert derek.forget(conversation="a").counts == would.counts


def test_an_old_export_brings_no_audit_along(memory: Memory, derek: ScopedMemory) -> None:
    derek.record("user", "tea")
    forged = replace(sample(AuditEntry, "forged"), channel="work", agent=None, conversation=None)
    lines = [*derek.export(), line_of(forged)]
    other = memory.scope("other")
    assert "audit" not in other.import_(lines).counts
    assert [entry.operation for entry in other.audit()] == ["import"]
    assert memory.store.user("other").count(Tombstone) == 0
