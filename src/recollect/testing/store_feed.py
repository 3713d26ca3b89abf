"""The store's contract: the change feed, which whatever follows the store lives on."""

import hmac
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.errors import NotFound
from recollect.model.changes import Put, Remove, Revise
from recollect.model.records import BY_KIND, RECORD_TYPES, Conversation, Episode, Record, Relation, Tombstone
from recollect.ports.store import FeedEntry, UserStore
from recollect.testing.store_samples import SPACE, START, append, axis, draft, entity, fact, put, said, sample
from recollect.testing.store_suite import Opener, StoreSuite


class FeedContract(StoreSuite):
    """`feed(since)`: what changed, oldest first, every change once."""

    @pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)
    def test_every_kind_enters_it(self, alice: UserStore, kind: type[Record]) -> None:
        stored = alice.apply([Put(sample(kind))]).seq
        assert list(alice.feed()) == [FeedEntry(stored, kind.kind, "sample", False)]
        gone = alice.apply([Remove(kind.kind, ("sample",))]).seq
        hashed = hmac.digest(alice.secret(), b"sample", "sha256").hex()
        id = hashed if kind is Conversation else "sample"
        assert list(alice.feed()) == [FeedEntry(gone, kind.kind, id, True)]
        assert gone > stored

    def test_a_step_is_one_transaction(self, alice: UserStore) -> None:
        first = alice.apply([append(draft(id="t")), Put(fact("f"))]).seq
        second = alice.apply([append(draft(id="u")), Revise("fact", "f", {"pinned": True})]).seq
        assert second > first
        assert {(e.seq, e.kind, e.id) for e in alice.feed()} == {
            (first, "turn", "t"),
            (second, "turn", "u"),
            (second, "fact", "f"),
            (second, "conversation", "march-15"),
        }
        assert [e.seq for e in alice.feed()] == sorted(e.seq for e in alice.feed())
        assert {e.id for e in alice.feed(first)} == {"u", "f", "march-15"}
        assert list(alice.feed(second)) == []

    def test_a_failed_transaction_does_not_show(self, alice: UserStore) -> None:
        before = alice.apply([said(1)]).seq
        with pytest.raises(NotFound):
            alice.apply([Put(fact("f")), Revise("fact", "nobody", {"pinned": True})])
        assert list(alice.feed(before)) == []

    def test_a_deletion_tells_nothing_but_the_id(self, alice: UserStore) -> None:
        alice.apply([put(fact("f", "the secret word is xylophone", sources=("t",)))])
        alice.apply([Remove("fact", ("f",))])
        (entry,) = alice.feed()
        assert (entry.kind, entry.id, entry.deleted) == ("fact", "f", True)
        assert "xylophone" not in repr(entry)

    def test_removed_and_stored_again(self, alice: UserStore) -> None:
        alice.apply([put(fact("f", "old"))])
        alice.apply([Remove("fact", ("f",))])
        alice.apply([put(fact("f", "new"))])
        assert [e.deleted for e in alice.feed()][-1] is False

    def test_removed_and_stored_again_in_one_step(self, alice: UserStore) -> None:
        seen = alice.apply([put(fact("f", "old"))]).seq
        alice.apply([Remove("fact", ("f",)), put(fact("f", "new")), Put(fact("g")), Remove("fact", ("g",))])
        known = {"f"}
        for entry in alice.feed(seen):
            (known.discard if entry.deleted else known.add)(entry.id)
        assert known == {"f"}

    def test_stored_and_removed_again_and_again_in_one_step(self, alice: UserStore) -> None:
        alice.apply([put(fact("f")), Remove("fact", ("f",))] * 3)
        assert [(e.id, e.deleted) for e in alice.feed()] == [("f", True)]

    def test_counting_and_leases_do_not_enter_it(self, alice: UserStore) -> None:
        before = alice.apply([put(fact("f"))]).seq
        alice.touch({"f": ("fact", 3, START)})
        assert list(alice.feed(before)) == []

    def test_a_late_vector_takes_no_record_through_it_twice(self, embedded: object, alice: UserStore) -> None:
        alice.apply([put(fact("f"))], SPACE)
        (waiting,) = alice.unembedded(SPACE, 10)
        alice.embed(SPACE, {waiting: axis(0)})
        after = alice.apply([Put(fact("g"))]).seq
        assert [e.id for e in alice.feed()] == ["f", "g"]
        assert [e.id for e in alice.feed(after - 1)] == ["g"]

    def test_a_late_vector_is_a_step(self, embedded: object, alice: UserStore) -> None:
        stored = [append(draft(id="t")), put(fact("f")), put(entity("e", "E"))]
        before = alice.apply(stored, SPACE).seq
        kinds = ("turn", "fact", "entity", "relation")
        assert alice.steps(kinds, before, 10) == ([], before)
        alice.embed(SPACE, dict.fromkeys(alice.unembedded(SPACE, 10), axis(0)))
        assert {(e.kind, e.id) for e in alice.steps(kinds, before, 10)[0]} == {
            *(("turn", "t"), ("fact", "f"), ("entity", "e"))
        }

    @pytest.mark.parametrize("most", [1, 2, 5, 1000])
    def test_part_by_part_it_tells_the_same(self, alice: UserStore, most: int) -> None:
        kinds = ("conversation", "turn", "fact", "episode", "entity", "relation", "goal", "tool_invocation")
        others = [Put(sample(BY_KIND[kind], kind)) for kind in kinds[4:]]
        alice.apply([said(3), put(fact("f")), put(sample(Episode, "episode")), *others])
        for n in range(4):
            alice.apply([put(fact(f"f{n}")), Put(sample(Relation, f"r{n}")), Put(entity(f"e{n}", "E"), ())])
        alice.apply([Remove("fact", ("f1", "f2")), Remove("conversation", ("march-15",))])
        alice.apply([put(fact("f2")), Remove("relation", ("r0",)), Put(sample(Tombstone))])
        wanted = {(e.kind, e.id, e.deleted) for e in alice.feed() if e.kind in kinds}
        told: list[FeedEntry] = []
        since, end = 0, alice.seq()
        while since < end:
            part, upto = alice.steps(kinds, since, most)
            assert since < upto
            assert all(since < entry.seq <= upto for entry in part)
            assert [e.seq for e in part] == sorted(e.seq for e in part)
            told += part
            since = upto
        assert {(e.kind, e.id, e.deleted) for e in told} == wanted
        assert alice.steps(kinds, end, most) == ([], end)
        assert {e.kind for e in alice.steps(("relation",), 0, 1000)[0]} == {"relation"}

    def test_nobody_who_stored_nothing_has_steps(self, alice: UserStore, bob: UserStore) -> None:
        alice.apply([put(fact("f"))])
        assert bob.steps(("fact",), 0, 10) == ([], 0)

    def test_a_reader_among_writers_sees_every_change_once(self, alice: UserStore, reopen: Opener) -> None:
        writers, each = 6, 12
        done = threading.Event()

        def follow() -> list[FeedEntry]:
            reader = reopen().user("alice")
            seen: list[FeedEntry] = []
            since, last_round = 0, False
            while not last_round:
                last_round = done.is_set()
                seen += reader.feed(since)
                since = seen[-1].seq if seen else 0
            return seen

        def write(writer: int) -> None:
            for i in range(each):
                id = f"w{writer}-{i}"
                alice.apply([append(draft(id=id, conversation=f"c-{writer}")), Put(fact(f"gone-{id}"))])
                alice.apply([Remove("fact", (f"gone-{id}",))])

        with ThreadPoolExecutor(writers + 1) as pool:
            following = pool.submit(follow)
            try:
                list(pool.map(write, range(writers)))
            finally:
                done.set()
            seen = following.result()
        turns = [e.id for e in seen if e.kind == "turn"]
        deleted = [e.id for e in seen if e.deleted]
        expected = {f"w{w}-{i}" for w in range(writers) for i in range(each)}
        assert sorted(turns) == sorted(expected)
        assert sorted(deleted) == sorted(f"gone-{id}" for id in expected)
        assert [e.seq for e in seen] == sorted(e.seq for e in seen)
