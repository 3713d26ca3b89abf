"""The store's contract: how much there is, how often it was used, what was counted for operators."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.errors import Conflict, QuotaExceeded
from recollect.model.changes import Expect, Log, Put, Remove, Renew, Revise, Within
from recollect.model.records import MEMORY_TYPES, AuditEntry, Fact, Reflection, Relation, Turn
from recollect.model.retention import Retention, overridden
from recollect.model.search import AtMost
from recollect.ports.store import Store, Usage, UserStore
from recollect.ports.tending import JobState, Measure, Receipt, Size, Standing
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    axis,
    draft,
    entity,
    fact,
    ids,
    memory,
    put,
    said,
    sample,
)
from recollect.testing.store_suite import Opener, StoreSuite

WRITERS = 8
DAY = timedelta(days=1)


def counted(user: UserStore) -> dict[str, Size]:
    """What `sizes` should be, the long way round."""
    turns = Counter(turn.channel for turn in user.find(Turn))
    memories = Counter(m.channel for kind in MEMORY_TYPES for m in user.find(kind))
    sizes = {channel: Size(turns[channel], memories[channel]) for channel in turns | memories}
    return {**sizes, "": Size(turns.total(), memories.total())} if sizes else {}


def entry(id: str, days: int = 0) -> AuditEntry:
    return AuditEntry(id=id, operation="decay", subject="fact f", at=START + days * DAY)


class CountingContract(StoreSuite):
    """Counts are right whatever happens, and quotas are kept exactly."""

    def test_sizes_follow_every_change(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        assert alice.sizes() == {}
        alice.apply([said(3), append(draft(id="w", channel="work", conversation="other"))])
        assert alice.sizes() == {"_global": Size(3, 0), "work": Size(1, 0), "": Size(4, 0)}
        alice.apply([put(fact("f")), put(fact("g", channel="work"))])
        alice.apply([put(fact("f", "again", channel="work"))])
        assert alice.sizes() == {"_global": Size(3, 0), "work": Size(1, 2), "": Size(4, 2)}
        alice.apply([Revise("fact", "g", {"channel": "home"}), put(entity("e", "Oahu"))])
        assert alice.sizes()["home"] == Size(0, 1)
        alice.apply([Remove("fact", ("g", "nobody"))])
        assert "home" not in alice.sizes(), "not even its name"
        alice.apply([put(fact("x")), Remove("fact", ("x",)), put(fact("x", channel="work"))])
        with pytest.raises(Conflict):
            alice.apply([put(fact("y")), Expect("fact", "f", None)])
        assert alice.sizes() == counted(alice)
        assert bob.sizes() == {}
        assert store.check() == []
        alice.erase()
        assert alice.sizes() == {}
        alice.apply([said(1)])
        assert alice.sizes() == {"_global": Size(1, 0), "": Size(1, 0)}

    def test_arrivals_are_counted_by_day(self, alice: UserStore, bob: UserStore) -> None:
        assert alice.arrivals() == {}
        first, late = START.date(), START.replace(hour=23, minute=59, second=59, microsecond=999_999)
        lesson = memory(Reflection, "r", "Be brief", recorded_at=late + timedelta(microseconds=1))
        bond = replace(sample(Relation, "b"), recorded_at=late)
        alice.apply([said(3), put(fact("f", recorded_at=late)), put(fact("g", recorded_at=late + 9 * DAY))])
        alice.apply([put(lesson), put(entity("e", "Oahu")), Put(bond)])
        bob.apply([said(2), put(fact("f"))])
        assert alice.arrivals() == {
            "turn": {first: 3},
            "fact": {first: 1, first + 9 * DAY: 1},
            "reflection": {first + DAY: 1},
            "entity": {first: 1},
            "relation": {first: 1},
        }
        alice.apply([Remove("fact", ("f",))])
        assert alice.arrivals()["fact"] == {first + 9 * DAY: 1}, "of what is still there"

    def test_nobodys_size_tells_another(self, alice: UserStore, bob: UserStore) -> None:
        bob.apply([said(5), put(fact("f", channel="secret"))])
        alice.apply([said(1), Within(None, turns=1)])
        assert alice.sizes() == {"_global": Size(1, 0), "": Size(1, 0)}
        with pytest.raises(QuotaExceeded):
            bob.apply([append(draft(id="one more")), Within(None, turns=5)])

    def test_a_quota_is_kept_exactly(self, alice: UserStore) -> None:
        alice.apply([said(2), Within(None, turns=3), Within("_global", turns=3)])
        alice.apply([append(draft(id="third")), Within(None, turns=3)])
        seq = alice.seq()
        with pytest.raises(QuotaExceeded, match="3 turns") as refused:
            alice.apply([append(draft(id="fourth")), put(fact("f")), Within(None, turns=3)])
        assert "turn_quota" in str(refused.value)
        assert (alice.seq(), alice.count(Turn), alice.count(Fact)) == (seq, 3, 0)
        alice.apply([append(draft(id="again", index=0, content="turn number0")), Within(None, turns=3)])
        alice.apply([put(fact("f")), Within(None, turns=3, memories=1)])
        more = [put(fact(id, channel="work")) for id in "gh"]
        with pytest.raises(QuotaExceeded, match="memories in the channel 'work'"):
            alice.apply([*more, Within("work", memories=1)])
        alice.apply([put(fact("g", channel="work")), Within("work", memories=1)])
        alice.apply([put(fact("g", "another", channel="work")), Within("work", memories=1)])
        alice.apply([Remove("turn", ("third",)), Within(None, turns=1)])  # fewer, if still too many

    def test_how_far_quotas_are_used_up_by_everybody(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        most = {"turn_quota": 5, "memory_quota": 0, "channel_turn_quota": 4, "channel_memory_quota": 2}
        policy = overridden(Retention(), most)
        assert store.standings(policy) == [Standing(name, quota, 0, 0, 0) for name, quota in most.items()]
        alice.apply([said(4), put(fact("f")), put(fact("g"))])
        bob.apply([said(3), append(draft(id="w", channel="work", conversation="other"))])
        bob.apply([append(draft(id="x", channel="work", conversation="other")), put(fact("f"))])
        assert store.standings(policy) == [
            Standing("turn_quota", 5, fullest=5, near=2, full=1),
            Standing("memory_quota", 0, fullest=2, near=0, full=0),
            Standing("channel_turn_quota", 4, fullest=4, near=1, full=1),
            Standing("channel_memory_quota", 2, fullest=2, near=1, full=1),
        ]

    def test_writers_at_once_do_not_pass_a_quota(self, alice: UserStore, reopen: Opener) -> None:
        def write(writer: int) -> int:
            user, stored = reopen().user("alice"), 0
            for n in range(5):
                try:
                    user.apply([append(draft(id=f"{writer}-{n}")), Within(None, turns=17)])
                    stored += 1
                except QuotaExceeded:
                    return stored
            return stored

        with ThreadPoolExecutor(WRITERS) as threads:
            assert sum(threads.map(write, range(WRITERS))) == 17
        assert alice.count(Turn) == 17
        assert alice.sizes() == counted(alice)

    def test_usage_is_renewed_and_listed(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([put(fact("f")), put(fact("g")), put(fact("h"))])
            user.touch({"f": ("fact", 5, START), "g": ("fact", 2, START)})
        seq = alice.seq()
        alice.apply([Renew(("f", "h", "nobody"))])
        assert alice.seq() == seq + 1
        assert alice.used(5) == {"f": Usage(5, 0, START)}
        assert alice.used(2) == {"f": Usage(5, 0, START), "g": Usage(2, 2, START)}
        assert alice.used(6) == {}
        alice.touch({"f": ("fact", 1, START)})
        assert alice.usage(["f"]) == {"f": Usage(6, 1, START)}
        assert bob.used(5) == {"f": Usage(5, 5, START)}
        with pytest.raises(Conflict):
            alice.apply([Renew(("f",)), Expect("fact", "g", None)])
        assert alice.usage(["f"]) == {"f": Usage(6, 1, START)}
        alice.apply([Remove("fact", ("g",))])
        assert [*alice.used(1)] == ["f"]

    def test_what_changed_is_what_the_feed_says(self, embedded: Store, alice: UserStore) -> None:
        embedded.user("bob").apply([said(2)])
        alice.apply([said(2), put(fact("f"))], SPACE)
        before = alice.seq()
        assert alice.changed(["turn", "fact"], before) == []
        alice.apply([put(fact("g")), put(entity("e", "Oahu")), append(draft(id="new"))], SPACE)
        alice.apply([Revise("fact", "f", {"confidence": 0.5}), Remove("turn", ("turn-000",))])
        alice.apply([Revise("fact", "g", {"channel": "work"})])
        for since in (0, before, alice.seq() - 1):
            fed = [(e.kind, e.id) for e in alice.feed(since) if not e.deleted]
            for kinds in (["fact"], ["turn", "entity"], ["fact", "turn", "entity"], []):
                expected = [(kind, id) for kind, id in fed if kind in kinds]
                assert sorted((e.kind, e.id) for e in alice.changed(kinds, since)) == sorted(expected)
        found = alice.changed(["fact"], before)
        assert [(entry.kind, entry.id) for entry in found] == [("fact", "f"), ("fact", "g")]
        first = [entry for entry in found if entry.seq == found[0].seq]
        assert alice.changed(["fact"], before, 1) == first, "whole steps"
        assert alice.changed(["fact"], before, 2) == found
        assert alice.changed(["fact"], found[-1].seq, 1) == []

    def test_a_filled_in_vector_is_a_change_of_its_chunk_only(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f"))], SPACE)
        before = alice.seq()
        alice.embed(SPACE, {w: axis(0) for w in alice.unembedded(SPACE, 1)})
        assert [*alice.feed(before)] == []
        assert alice.seq() == before + 1

    def test_what_has_reached_a_value_is_found(self, alice: UserStore, bob: UserStore) -> None:
        bob.apply([put(fact("a", expires_at=START))])
        alice.apply(
            [
                put(fact("a", expires_at=START, confidence=0.2)),
                put(fact("b", expires_at=START + DAY, confidence=0.5)),
                put(fact("c", confidence=0.9)),
            ]
        )
        assert ids([*alice.find(Fact, {"expires_at": AtMost(START)})]) == ["a"]
        assert ids([*alice.find(Fact, {"expires_at": AtMost(START + DAY)})]) == ["a", "b"]
        assert ids([*alice.find(Fact, {"expires_at": AtMost(START - DAY)})]) == []
        assert ids([*alice.find(Fact, {"confidence": AtMost(0.5)})]) == ["a", "b"]
        where = {"confidence": AtMost(0.5), "expires_at": AtMost(START)}
        assert alice.count(Fact, where) == 1

    def test_the_audit_is_written_with_what_it_tells_of(self, alice: UserStore) -> None:
        told = sample(AuditEntry, "told")
        alice.apply([Log(told), put(fact("f")), Log(entry("second"))])
        assert [*alice.find(AuditEntry)] == [entry("second"), told]
        with pytest.raises(Conflict):
            alice.apply([Log(entry("never")), Expect("fact", "f", None)])
        assert alice.count(AuditEntry) == 2

    def test_payloads_go_with_what_is_erased(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([Log(sample(AuditEntry, "told")), put(fact("f"))])
        alice.apply([Remove("fact", ("f",))])
        assert [told.payload for told in alice.find(AuditEntry)] == [None]
        assert [told.payload for told in bob.find(AuditEntry)] == [sample(AuditEntry).payload]

    def test_the_audit_of_long_ago_is_let_go(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([Log(entry(f"{days}", days)) for days in (-400, -2, 0, 30)])
        before = START.replace(hour=0, minute=0, second=0, microsecond=0)
        assert store.drop_audit(before - timedelta(days=1000)) == 0
        assert store.drop_audit(before)
        for user in (alice, bob):
            assert ids([*user.find(AuditEntry, order="at")]) == ["0", "30"]
        assert store.drop_audit(before) == 0
        assert store.check() == []

    def test_jobs_say_what_they_did(self, store: Store, reopen: Opener) -> None:
        assert store.jobs() == []
        store.note_jobs([JobState("mine", START, 1.5, 3), JobState("embed", START, 0.5, 0, "down\x00")])
        store.note_jobs([JobState("mine", START + DAY, 0.5, 4, progress=2)])
        store.note_jobs([])
        embed, mine = reopen().jobs()
        assert (embed.runs, embed.total, embed.problem) == (1, 0, "down\x00")
        assert mine == JobState("mine", START + DAY, 0.5, 4, None, runs=2, total=7, progress=2)

    def test_measures_are_added_up(self, store: Store, reopen: Opener) -> None:
        day = START.date()
        some = [Measure(day, "recall", 40, 2), Measure(day, "recall", 41, 1), Measure(day, "decay", 0, 3)]
        other = reopen()
        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(s.measure, some[:: 1 - 2 * n]) for n, s in enumerate((store, other))]:
                done.result()
        store.measure([Measure(day - DAY, "recall", 40, 9)])
        twice = [Measure(m.day, m.name, m.bucket, 2 * m.count) for m in (some[2], some[0], some[1])]
        assert store.measures(day) == twice
        assert store.measures() == [Measure(day - DAY, "recall", 40, 9), *twice]

    def test_receipts_say_that_somebody_was_erased(self, store: Store, alice: UserStore) -> None:
        alice.apply([said(2), put(fact("f")), Put(sample(AuditEntry, "told"))])
        receipt = Receipt("r1", START, "user", {})
        counts = alice.erase(receipt)
        assert store.receipts() == [Receipt("r1", START, "user", counts)]
        assert counts == {"conversation": 1, "turn": 2, "fact": 1, "audit": 1}
        assert alice.erase(Receipt("r2", START + DAY, "user", {})) == {}
        store.user("bob").apply([said(1)])
        store.user("bob").erase(Receipt("r3", START + DAY, "user", {}))
        assert [receipt.id for receipt in store.receipts()] == ["r3", "r1"]
        assert [receipt.id for receipt in store.receipts(1)] == ["r3"]
