"""The store's contract: what the background goes by. Who looks after whom, who is due, what is parked."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect.errors import Conflict
from recollect.model.changes import Held, Put, Revise
from recollect.model.records import NEVER, AuditEntry, Conversation, Fact
from recollect.ports.store import Store, UserStore
from recollect.ports.tending import PARKED_AFTER, Mark, Visit
from recollect.testing.store_samples import (
    OTHER_SPACE,
    SPACE,
    START,
    ManualClock,
    append,
    axis,
    draft,
    fact,
    ids,
    put,
    question,
    said,
)
from recollect.testing.store_suite import Opener, StoreSuite, found

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
LATER = Visit(1 << 40, START + DAY, START + DAY)
"""Nothing is due for a day, whatever changes."""


def claimed(user: UserStore, holder: str, now: datetime = START) -> bool:
    return user.claim(holder, now, now + MINUTE)


def due(store: Store, now: datetime = START, quiet: timedelta = DAY) -> list[str]:
    return store.users_due(now, now - quiet)


def settled(user: UserStore, visit: Visit = LATER, marks: dict[str, Mark] | None = None) -> None:
    """Somebody has looked after them."""
    assert claimed(user, "somebody")
    user.settle("somebody", marks or {}, visit)


def refuse(user: UserStore, times: int, texts: Sequence[str]) -> list[int]:
    """A model refuses these texts so often; how many were parked after each time."""
    chunks = [chunk for chunk in user.unembedded(SPACE, 100) if chunk.text in texts]
    return [user.fail(SPACE, chunks) for _ in range(times)]


class TendingContract(StoreSuite):
    """Of many workers one looks after a user, and none of them is forgotten."""

    def test_a_user_is_looked_after_by_one(
        self, alice: UserStore, bob: UserStore, reopen: Opener, clock: ManualClock
    ) -> None:
        other = reopen().user("alice")
        assert not claimed(alice, "a"), "there is nobody to look after"
        for user in (alice, bob):
            user.apply([put(fact("f"))])
        assert claimed(alice, "a")
        assert not claimed(other, "b")
        assert claimed(bob, "b")
        now = clock.advance(seconds=59)
        assert not claimed(other, "b", now)
        assert claimed(alice, "a", now), "renewed"
        now = clock.advance(seconds=59)
        assert not claimed(other, "b", now)
        now = clock.advance(seconds=1)
        assert claimed(other, "b", now), "it ran out"
        assert not claimed(alice, "a", now)

    def test_of_many_who_come_first_at_once_one_has_the_user(self, alice: UserStore, reopen: Opener) -> None:
        alice.apply([put(fact("f"))])
        handles = [reopen().user("alice") for _ in range(8)]
        with ThreadPoolExecutor(8) as threads:
            taken = list(threads.map(claimed, handles, map(str, range(8))))
        assert sum(taken) == 1

    def test_claims_by_clocks_that_differ(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        assert claimed(alice, "a")
        assert not claimed(alice, "slow", START - timedelta(milliseconds=1)), "by a clock just behind"
        assert not claimed(alice, "slower", START - timedelta(minutes=10))
        assert due(store, START - timedelta(minutes=10)) == []
        ahead = START + timedelta(days=5000)
        assert claimed(alice, "lost", ahead)
        assert due(store) == ["alice"]
        assert claimed(alice, "b"), "that clock was wrong"
        assert not claimed(alice, "c")

    def test_leases_by_clocks_that_differ(self, store: Store) -> None:
        assert store.acquire("embed", "a", START, START + MINUTE)
        behind = START - timedelta(milliseconds=1)
        assert not store.acquire("embed", "slow", behind, behind + MINUTE)
        assert not store.acquire("embed", "b", START, START + MINUTE / 2), "who would hold it less long"

    def test_what_was_found_is_kept_by_whoever_has_the_user(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([put(fact("f"))])
        marks = {
            "mine": Mark(7, START, START + MINUTE, 3, "it failed\x00"),
            "decay": Mark(),
            "promote": Mark(1, START),
        }
        assert claimed(alice, "a")
        alice.settle("b", {"mine": Mark(1)}, LATER)
        assert alice.marks() == {}
        assert not claimed(alice, "b")
        alice.settle("a", marks, LATER)
        assert alice.marks() == marks
        assert bob.marks() == {}
        assert claimed(alice, "b"), "let go"
        alice.settle("a", {"mine": Mark(1)}, LATER)
        assert alice.marks() == marks, "another has the user by now"
        alice.settle("b", {"mine": Mark(9)}, LATER)
        assert alice.marks() == {**marks, "mine": Mark(9)}

    def test_who_lost_a_user_changes_nothing(self, alice: UserStore, clock: ManualClock) -> None:
        alice.apply([put(fact("f"))])
        with pytest.raises(Conflict):
            alice.apply([Held("a"), put(fact("g"))])
        assert claimed(alice, "a")
        alice.apply([Held("a"), put(fact("g"))])
        now = clock.advance(minutes=2)
        alice.apply([Held("a"), put(fact("h"))])  # it ran out, but nobody took it
        assert claimed(alice, "b", now)
        seq = alice.seq()
        with pytest.raises(Conflict):
            alice.apply([Held("a"), put(fact("i"))])
        assert alice.seq() == seq
        alice.settle("b", {}, LATER)
        with pytest.raises(Conflict):
            alice.apply([Held("b"), put(fact("i"))])
        assert ids([*alice.find(Fact)]) == ["f", "g", "h"]

    def test_who_was_erased_does_not_come_back(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        assert claimed(alice, "a")
        alice.erase()
        assert not claimed(alice, "a")
        with pytest.raises(Conflict):
            alice.apply([Held("a"), put(fact("g"))])
        alice.settle("a", {"mine": Mark(9)}, LATER)
        assert [*store.users()] == []
        assert alice.marks() == {}
        assert due(store) == []
        alice.apply([put(fact("new"))])
        with pytest.raises(Conflict):
            alice.apply([Held("a"), put(fact("g"))])
        assert due(store) == ["alice"]

    def test_users_are_due_at_first_and_at_their_time(self, store: Store, alice: UserStore) -> None:
        assert due(store) == []
        alice.apply([put(fact("f"))])
        store.user("bob").apply([put(fact("f"))])
        assert due(store) == ["alice", "bob"], "nobody has looked after them yet"
        settled(alice)
        settled(store.user("bob"), replace(LATER, due=START + MINUTE))
        assert due(store) == []
        assert due(store, START + MINUTE) == ["bob"]
        assert due(store, START + DAY) == ["alice", "bob"]

    def test_users_are_due_when_something_changed(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        settled(alice, replace(LATER, seq=alice.seq(), soon=START + MINUTE))
        alice.touch({"f": ("fact", 1, START)})
        assert due(store, START + MINUTE) == [], "that is no change"
        alice.apply([put(fact("g"))])
        assert due(store, START + MINUTE / 2) == []
        assert due(store, START + MINUTE) == ["alice"]

    def test_nobody_is_due_who_only_asked(self, store: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        alice.apply([put(fact("g"))])
        seen = alice.seq()
        marks = {"promote": Mark(seen, START), "patterns": Mark(seen - 1, START)}
        settled(alice, replace(LATER, seq=seen, soon=START + MINUTE), marks)
        since = alice.moment()
        assert since is not None
        alice.note([AuditEntry(id="a", operation="recall", subject="memories", at=START)], since)
        assert due(store, START + MINUTE) == []
        assert {name: alice.seq() - mark.seq for name, mark in alice.marks().items()} == {
            "promote": 0,
            "patterns": 2,
        }
        alice.apply([put(fact("h"))])
        assert due(store, START + MINUTE) == ["alice"]

    def test_users_are_due_who_have_turns_to_mine(self, store: Store, alice: UserStore) -> None:
        alice.apply([append(draft(id="t"))])
        settled(alice)
        assert due(store) == ["alice"]
        alice.apply([Revise("conversation", "march-15", {"mining_after": START + MINUTE})])
        settled(alice)
        assert due(store) == []
        assert due(store, START + MINUTE) == ["alice"]
        done = {"mined_to": 1, "concluded_to": 1}
        alice.apply([Revise("conversation", "march-15", done)])
        settled(alice)
        assert due(store, START + MINUTE) == []

    def test_users_are_due_whose_conversations_are_over(self, store: Store, alice: UserStore) -> None:
        alice.apply([append(draft(id="t"))])
        alice.apply([Revise("conversation", "march-15", {"mined_to": 1})])
        settled(alice)
        assert due(store, START + MINUTE / 2, MINUTE) == []
        assert due(store, START + MINUTE, MINUTE) == ["alice"], "nobody spoke since"
        alice.apply([Revise("conversation", "march-15", {"ended_at": START})])
        settled(alice)
        assert due(store, START + MINUTE / 2, MINUTE) == ["alice"]
        alice.apply([Revise("conversation", "march-15", {"concluded_to": 1})])
        settled(alice)
        assert due(store, START + MINUTE, MINUTE) == []

    def test_who_is_looked_after_is_not_due(self, store: Store, alice: UserStore) -> None:
        alice.apply([append(draft(id="t"))])
        assert claimed(alice, "a")
        assert due(store) == []
        assert due(store, START + MINUTE) == ["alice"], "the worker died"

    def test_times_of_a_clock_that_was_wrong_are_not_waited_for(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        ahead = START + timedelta(days=5000)
        for user in (alice, bob):
            user.apply([put(fact("f"))])
        settled(alice, Visit(alice.seq(), ahead, ahead))
        settled(bob, Visit(0, START + DAY, ahead))
        assert due(store) == ["alice", "bob"]

    def test_a_text_that_is_refused_is_parked(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        for user in (alice, bob):
            user.apply([put(fact("f", "tea")), put(fact("g", "poison")), put(fact("h", "milk"))], SPACE)
        assert refuse(alice, PARKED_AFTER - 1, ["poison"]) == [0] * (PARKED_AFTER - 1)
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["tea", "poison", "milk"]
        assert refuse(alice, 2, ["poison"]) == [1, 1]
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["tea", "milk"]
        assert [w.text for w in bob.unembedded(SPACE, 10)] == ["tea", "poison", "milk"]
        rows = embedded.stats()["rows"]
        parked = embedded.stats()["parked"]["chunks"]
        assert (rows["chunks_waiting_for_a_vector"], parked) == (5, 1)
        assert embedded.spaces()[0].waiting == 5
        alice.embed(SPACE, {w: axis(0) for w in alice.unembedded(SPACE, 10)})
        assert embedded.users_unembedded(SPACE) == ["bob"]
        assert found(alice, question("poison tea")) == {"f", "g"}, "found by its words"
        assert embedded.check() == []
        assert embedded.unpark() == 1
        assert [w.text for w in alice.unembedded(SPACE, 10)] == ["poison"]
        assert embedded.unpark() == 0

    def test_what_is_parked_keeps_no_model_from_being_searched(
        self, embedded: Store, alice: UserStore
    ) -> None:
        alice.apply([put(fact("f", "tea"), axis(0)), put(fact("g", "poison"), axis(1))], SPACE)
        embedded.add_space(OTHER_SPACE)
        poison = next(w for w in alice.unembedded(OTHER_SPACE, 10) if w.text == "poison")
        for _ in range(PARKED_AFTER):
            alice.fail(OTHER_SPACE, [poison])
        with pytest.raises(Conflict):
            embedded.switch_space(OTHER_SPACE)
        alice.embed(OTHER_SPACE, {w: axis(0, 8) for w in alice.unembedded(OTHER_SPACE, 10)})
        embedded.switch_space(OTHER_SPACE)
        assert embedded.spaces()[0].waiting == 0
        embedded.reset_space(OTHER_SPACE)
        assert embedded.spaces()[0].waiting == 2, "it starts anew"
        assert embedded.stats()["parked"]["chunks"] == 0

    def test_only_what_waits_is_counted_as_refused(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([put(fact("f", "tea")), put(fact("g", "poison"))], SPACE)
        tea, poison = alice.unembedded(SPACE, 10)
        alice.embed(SPACE, {tea: axis(0)})
        assert [alice.fail(SPACE, [tea]) for _ in range(PARKED_AFTER)] == [0] * PARKED_AFTER
        assert alice.fail(OTHER_SPACE, [poison]) == 0
        alice.erase()
        assert alice.fail(SPACE, [poison]) == 0
        alice.apply([put(fact("f", "new")), put(fact("g", "new too"))], SPACE)
        for _ in range(PARKED_AFTER):
            alice.fail(SPACE, [poison])
        assert len(alice.unembedded(SPACE, 10)) == 2, "somebody else's by the same name"

    def test_late_vectors_are_asked_for_in_order(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([said(30)], SPACE)
        seen: list[str] = []
        last = 0
        while some := alice.unembedded(SPACE, 7, last):
            seen += [w.text for w in some]
            last = some[-1].doc
        assert seen == [f"turn number{n}" for n in range(30)]

    def test_what_failed_is_tried_again_when_somebody_says_so(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        failed = Mark(4, START, START + DAY, 2, "broken")
        for user in (alice, bob):
            user.apply([append(draft(id="t"), draft(id="u", conversation="undone"))])
            user.apply([Put(user.get(Conversation, ["march-15"])[0])])
        after = {"mining_failures": 3, "mining_problem": "down", "mining_after": START + DAY}
        alice.apply([Revise("conversation", "march-15", after)])
        alice.apply([Revise("conversation", "undone", {"mining_after": NEVER})])
        bob.apply([Revise("conversation", id, {"mined_to": 1}) for id in ("march-15", "undone")])
        settled(alice, marks={"mine": Mark(3, START)})
        settled(bob, marks={"decay": failed, "mine": Mark(3, START)})
        assert due(store) == []
        assert store.unpark() == 2
        assert bob.marks() == {"decay": Mark(), "mine": Mark(3, START)}
        assert [(c.id, c.mining_problem) for c in alice.unmined(now=START)] == [("march-15", None)]
        assert due(store) == ["alice", "bob"]
        assert store.unpark() == 0
