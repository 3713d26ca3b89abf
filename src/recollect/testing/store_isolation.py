"""The store's contract: the wall between users."""

from dataclasses import replace

import numpy as np
import pytest

from recollect.errors import NotFound
from recollect.model.changes import Put, Remove, Revise
from recollect.model.records import RECORD_TYPES, Conversation, Fact, Record, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    axis,
    draft,
    fact,
    ids,
    put,
    question,
    said,
    sample,
    vectors,
)
from recollect.testing.store_suite import StoreSuite, found

every_kind = pytest.mark.parametrize("kind", RECORD_TYPES, ids=lambda kind: kind.kind)


class IsolationContract(StoreSuite):
    """Nothing of one user shows to another, moves another's results, or goes with another."""

    @every_kind
    def test_anothers_records_do_not_exist(
        self, alice: UserStore, bob: UserStore, kind: type[Record]
    ) -> None:
        bob.apply([Put(sample(kind))])
        assert alice.get(kind, ["sample"]) == []
        assert list(alice.find(kind)) == []
        assert list(alice.find(kind, {"id": "sample"})) == []
        assert alice.count(kind) == 0
        assert list(alice.feed()) == []
        with pytest.raises(NotFound):
            alice.apply([Revise(kind.kind, "sample", {"metadata": {}})])
        with pytest.raises(NotFound):
            list(alice.find(kind, after="sample"))
        alice.apply([Remove(kind.kind, ("sample",))])
        assert bob.get(kind, ["sample"]) == [sample(kind)]

    @every_kind
    def test_the_same_id_twice_stays_apart(
        self, alice: UserStore, bob: UserStore, kind: type[Record]
    ) -> None:
        alice.apply([Put(sample(kind, variant=1))])
        bob.apply([Put(sample(kind, variant=2))])
        bob.apply([Revise(kind.kind, "sample", {"metadata": {"whose": "bob"}})])
        assert alice.get(kind, ["sample"]) == [sample(kind, variant=1)]
        assert bob.get(kind, ["sample"]) == [replace(sample(kind, variant=2), metadata={"whose": "bob"})]
        bob.apply([Remove(kind.kind, ("sample",))])
        assert alice.get(kind, ["sample"]) == [sample(kind, variant=1)]

    def test_the_same_conversation_name_twice_stays_apart(self, alice: UserStore, bob: UserStore) -> None:
        alice.apply([said(3)])
        (turn,) = bob.apply([append(draft("bob's own", id="turn-000"))]).turns
        assert turn.index == 0
        assert bob.apply([append(draft("bob's own", id="x", index=0))]).created == 0
        assert alice.get(Conversation, ["march-15"])[0].next_index == 3
        assert alice.get(Turn, ["turn-000"])[0].content == "turn number0"

    def test_names_that_look_alike_are_different_users(self, store: Store) -> None:
        names = [
            "Derek",
            "derek",
            "derek ",
            "dere",
            "derekk",
            "dérek",
            "de\u0301rek",
            "%",
            "_",
            "*",
            "1",
            "01",
        ]
        for name in names:
            store.user(name).apply([put(fact("f", f"of{name.encode().hex()} shared"))])
        for name in names:
            user = store.user(name)
            assert user.user == name
            assert [f.content for f in user.find(Fact)] == [f"of{name.encode().hex()} shared"]
            assert [c.owner for c in user.search(question("shared"))] == ["f"]
            assert [e.id for e in user.feed()] == ["f"]

    def test_search_never_shows_anothers(self, embedded: Store, alice: UserStore, bob: UserStore) -> None:
        bob.apply([put(fact("bobs", "the budget is secret"), axis(0))], SPACE)
        assert alice.search(question("budget secret", axis(0))) == []
        alice.apply([put(fact("mine", "a budget of mine"), axis(1))], SPACE)
        assert found(alice, question("budget secret", axis(0))) == {"mine"}
        assert found(bob, question("budget mine", axis(1))) == {"bobs"}

    def test_the_same_id_in_both_is_found_by_its_own_words(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        alice.apply([put(fact("f", "alice likes tea"), axis(0))], SPACE)
        bob.apply([put(fact("f", "bob likes coffee"), axis(1))], SPACE)
        assert found(alice, question("coffee")) == set()
        assert found(bob, question("tea")) == set()
        bob.apply([Remove("fact", ("f",))])
        assert found(alice, question("tea")) == {"f"}

    def test_anothers_data_moves_neither_candidates_nor_scores(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        rows = vectors(40)
        alice.apply(
            [put(fact(f"f-{i:02}", f"budget {'trip ' * (i % 5)}note{i % 7}"), rows[i]) for i in range(20)],
            SPACE,
        )
        asked = [question("budget trip note3", rows[-1], limit=limit) for limit in (5, 50)]
        before = [sorted(alice.search(search), key=repr) for search in asked]
        assert [len(found) > 0 for found in before] == [True, True]
        bob.apply(
            [put(fact(f"f-{i:02}", "budget trip note3 " * 9), rows[-1]) for i in range(len(rows))], SPACE
        )
        assert [sorted(alice.search(search), key=repr) for search in asked] == before
        bob.apply([Remove("fact", tuple(f"f-{i:02}" for i in range(10)))])
        assert [sorted(alice.search(search), key=repr) for search in asked] == before
        bob.erase()
        assert [sorted(alice.search(search), key=repr) for search in asked] == before

    def test_usage_stays_with_its_user(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([put(fact("f"))])
        bob.touch({"f": ("fact", 5, START)})
        assert alice.usage(["f"]) == {}
        alice.touch({"f": ("fact", 1, START)})
        assert (alice.usage(["f"])["f"].count, bob.usage(["f"])["f"].count) == (1, 5)

    def test_derived_from_stays_with_its_user(self, alice: UserStore, bob: UserStore) -> None:
        bob.apply([Put(fact("theirs", sources=("t",)))])
        assert alice.linking("sources", ["t"]) == {}
        alice.apply([Put(fact("mine", sources=("t",)))])
        alice.apply([Remove("turn", ("t",)), Remove("fact", ("theirs",))])
        assert bob.linking("sources", ["t"]) == {"theirs": ("t",)}

    def test_waiting_chunks_stay_with_their_user(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        bob.apply([put(fact("f", "of bob"))], SPACE)
        assert alice.unembedded(SPACE, 10) == []
        alice.apply([put(fact("f", "of alice"))], SPACE)
        (mine,) = alice.unembedded(SPACE, 10)
        (theirs,) = bob.unembedded(SPACE, 10)
        assert (mine.text, theirs.text) == ("of alice", "of bob")
        alice.embed(SPACE, {mine: axis(0), theirs: axis(0), replace(mine, doc=999): axis(0)})
        assert alice.unembedded(SPACE, 10) == []
        assert [chunk.text for chunk in bob.unembedded(SPACE, 10)] == ["of bob"]
        assert embedded.users_unembedded(SPACE) == ["bob"]

    def test_the_tombstones_key_is_each_users_own(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        assert len(alice.secret()) >= 16
        assert alice.secret() == store.user("alice").secret()
        assert alice.secret() != bob.secret()

    def test_erasing_one_leaves_the_other(self, embedded: Store, alice: UserStore, bob: UserStore) -> None:
        rows = vectors(6)
        for user in (alice, bob):
            user.apply([said(3), *(put(fact(f"f-{i}", f"tea{i}"), rows[i]) for i in range(6))], SPACE)
            user.touch({"f-0": ("fact", 1, START)})
        feed, secret = list(alice.feed()), alice.secret()
        counts = bob.erase()
        assert (counts["turn"], counts["fact"], counts["conversation"]) == (3, 6, 1)
        for kind in RECORD_TYPES:
            assert bob.count(kind) == 0
        assert bob.search(question("tea1 number1", rows[0])) == []
        assert list(bob.feed()) == []
        assert bob.usage(["f-0"]) == {}
        assert list(alice.feed()) == feed
        assert alice.secret() == secret
        assert alice.usage(["f-0"])["f-0"].count == 1
        assert found(alice, question("tea1 number1")) == {"f-1", "turn-001"}
        assert embedded.check() == []

    def test_an_erased_user_begins_anew(self, embedded: Store, alice: UserStore) -> None:
        alice.apply([said(3), put(fact("f", "likes tea"), axis(0))], SPACE)
        alice.search(question("tea", axis(0)))
        secret = alice.secret()
        assert alice.erase()
        assert alice.erase() == {}
        assert alice.search(question("tea", axis(0))) == []
        (turn,) = alice.apply([append(draft("again", id="new"))], SPACE).turns
        assert turn.index == 0
        assert alice.secret() != secret
        assert ids(list(alice.find(Turn))) == ["new"]
        assert found(alice, question("tea again", axis(0))) == {"new"}

    def test_one_users_vectors_do_not_crowd_out_anothers(
        self, embedded: Store, alice: UserStore, bob: UserStore
    ) -> None:
        rows = vectors(60)
        bob.apply([put(fact(f"b-{i}", "near"), axis(0)) for i in range(60)], SPACE)
        alice.apply([put(fact(f"a-{i}", "far"), row) for i, row in enumerate(rows)], SPACE)
        best = np.argsort(rows @ axis(0))[::-1][:10]
        assert found(alice, question(vector=axis(0), limit=10)) == {f"a-{i}" for i in best}
