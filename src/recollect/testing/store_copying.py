"""The store's contract: what a copy to another store reads and writes."""

from dataclasses import replace

from recollect.model.changes import Chunk, Put, Remove
from recollect.model.records import Conversation, Fact, Turn
from recollect.ports.store import Store, Usage, UserStore
from recollect.testing.store_samples import (
    OTHER_SPACE,
    SPACE,
    START,
    append,
    draft,
    fact,
    put,
    said,
    vectors,
)
from recollect.testing.store_suite import Opener, StoreSuite


def vectors_of(chunks: tuple[Chunk, ...]) -> list[list[float] | None]:
    return [None if chunk.vector is None else chunk.vector.tolist() for chunk in chunks]


class CopyingContract(StoreSuite):
    """One state of a user's memory, with all that is searched of it."""

    def test_everybody_is_listed(self, store: Store, reopen: Opener) -> None:
        assert list(store.users()) == []
        names = [f"user-{i:04}" for i in range(1203)]
        for name in reversed(names):
            store.user(name).apply([])
        assert list(reopen().users()) == names
        store.user(names[0]).erase()
        assert list(store.users()) == names[1:]

    def test_seq_is_where_the_feed_stands(self, alice: UserStore, bob: UserStore) -> None:
        assert alice.seq() == 0
        assert alice.apply([said(2)]).seq == alice.seq()
        assert list(alice.feed(alice.seq())) == []
        assert bob.seq() == 0

    def test_a_snapshot_stays_as_it_was(self, alice: UserStore, reopen: Opener) -> None:
        alice.apply([said(3), put(fact("f", "tea"))])
        other = reopen().user("alice")
        with alice.snapshot() as view:
            seq = view.seq()
            before = list(view.find(Turn))
            other.apply([Remove("turn", ("turn-001",)), put(fact("g", "milk"))])
            alice.apply([put(fact("f", "coffee"))])
            alice.touch({"f": ("fact", 1, START)})
            assert (view.seq(), view.count(Fact), view.usage(["f"])) == (seq, 1, {})
            assert list(view.find(Turn)) == before
            assert [record.content for record in view.get(Fact, ["f", "g"])] == ["tea"]
            assert view.deleted(Turn, ["turn-001"]) == set()
            assert list(view.feed(seq)) == []
        with alice.snapshot() as view:
            assert view.seq() == seq + 2
            assert view.deleted(Turn, ["turn-000", "turn-001"]) == {"turn-001"}

    def test_the_chunks_of_records_with_their_vectors(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        first, second = vectors(2)
        text = "one two"
        chunks = (Chunk(0, 3, first), Chunk(4, 7), Chunk(0, 7, second))
        alice.apply([Put(fact("f", text), chunks), put(fact("g")), Put(fact("bare"), ())], SPACE)
        found = alice.chunks(["f", "g", "bare", "nobody"], SPACE)
        assert found == {"f": chunks, "g": (Chunk(0, len("The budget is $10,000")),)}
        assert vectors_of(found["f"]) == [first.tolist(), None, second.tolist()]
        for space in (OTHER_SPACE, None):
            assert vectors_of(alice.chunks(["f"], space)["f"]) == [None] * 3
        assert bob.chunks(["f"], SPACE) == {}

    def test_chunks_go_into_another_store_as_they_came(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([append(draft("tea", id="t", vector=vectors(1)[0]))], SPACE)
        (turn,) = alice.find(Turn)
        chunks = alice.chunks(["t"], SPACE)["t"]
        other = embedded.user("copy")
        other.apply([Put(turn, chunks)], SPACE)
        assert vectors_of(other.chunks(["t"], SPACE)["t"]) == vectors_of(chunks)

    def test_what_was_deleted_is_known_by_its_id(self, alice: UserStore, bob: UserStore) -> None:
        alice.apply([said(2), Put(fact("f"))])
        alice.apply([Remove("conversation", ("march-15",)), Remove("fact", ("f",))])
        assert alice.deleted(Conversation, ["march-15", "march-16"]) == {"march-15"}
        assert alice.deleted(Fact, ["f", "march-15"]) == {"f"}
        assert alice.deleted(Turn, ["f"]) == set()
        assert bob.deleted(Fact, ["f"]) == set()

    def test_usage_is_set_and_not_added(self, alice: UserStore) -> None:
        alice.apply([put(fact("f")), put(fact("g"))])
        alice.touch({"f": ("fact", 3, START)})
        before, feed = Usage(7, 2, START), list(alice.feed())
        alice.put_usage(Fact, {"f": before, "g": replace(before, count=1), "nobody": before})
        assert alice.usage(["f", "g", "nobody"]) == {"f": before, "g": replace(before, count=1)}
        alice.put_usage(Fact, {})
        assert list(alice.feed()) == feed
