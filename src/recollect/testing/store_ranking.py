"""The store's contract: what ranking looks at comes with each candidate, and stays in step."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.model.changes import Change, Put, Remove, Revise
from recollect.model.records import Conversation, Fact, Role, Tense, Turn
from recollect.model.search import Search
from recollect.model.searched import weight
from recollect.ports.store import Store, UserStore, UserView
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    axis,
    digest,
    draft,
    entity,
    fact,
    put,
    question,
)
from recollect.testing.store_suite import Opener, StoreSuite, found

LATER = START + timedelta(hours=1)
ARCHIVED = weight(None, None, True)


def weights(user: UserView, search: Search) -> dict[str, float]:
    return {candidate.owner: candidate.weight for candidate in user.search(search)}


def conversation(archived: bool) -> Conversation:
    at = LATER if archived else None
    return Conversation(id="c", started_at=START, last_at=START, next_index=2, archived_at=at)


def stored(content: str, id: str, index: int) -> Turn:
    """A turn that is put as it is, as a copy does."""
    return Turn(
        id=id,
        conversation="c",
        index=index,
        role=Role.USER,
        content=content,
        at=START,
        recorded_at=START,
        digest=digest(content),
    )


class RankingContract(StoreSuite):
    """Candidates carry what they are weighed by; one view is one state."""

    def test_a_candidate_brings_along_what_ranking_looks_at(self, embedded: Store, alice: UserStore) -> None:
        alice.apply(
            [
                append(
                    draft("green tea", id="t-0", conversation="c", vector=axis(0)),
                    draft("which tea", id="t-1", conversation="c", role=Role.ASSISTANT, at=LATER),
                ),
                put(fact("f", "likes tea", valid_from=LATER, salience=0.9, tense=Tense.PAST), axis(1)),
                put(entity("e", "Tea", salience=0.1), axis(2)),
            ],
            SPACE,
        )
        found = {c.owner: c[6:] for c in alice.search(question("tea", axis(0)))}
        assert found == {
            "t-0": (START, "c", "user", 0, 1.0),
            "t-1": (LATER, "c", "assistant", 1, 1.0),
            "f": (LATER, None, None, None, pytest.approx(weight(0.9, "past"))),
            "e": (START, None, None, None, pytest.approx(weight(0.1, None))),
        }

    def test_the_weight_follows_salience_and_tense(self, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        alice.apply([put(fact("f", "tea", salience=0.2))])
        steps: list[tuple[Change, float]] = [
            (Revise("fact", "f", {"salience": 1.0}), weight(1.0, "current")),
            (Revise("fact", "f", {"tense": Tense.PAST}), weight(1.0, "past")),
            (Revise("fact", "f", {"confidence": 0.5}), weight(1.0, "past")),
            (Put(fact("f", "tea", salience=0.4, tense=Tense.FUTURE)), weight(0.4, "future")),
            (put(fact("f", "tea again", salience=0.6)), weight(0.6, "current")),
        ]
        for change, expected in steps:
            other.apply([change])
            for user in (alice, other):
                assert weights(user, question("tea")) == {"f": pytest.approx(expected)}

    def test_turns_of_an_archived_conversation_count_less(self, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        alice.apply([append(draft("tea", id="t-0", conversation="c"), draft("tea", id="x"))])
        other.apply([Revise("conversation", "c", {"archived_at": LATER})])
        for user in (alice, other):
            assert weights(user, question("tea")) == {"t-0": pytest.approx(ARCHIVED), "x": 1.0}
        other.apply([append(draft("tea later", id="t-1", conversation="c"))])
        assert weights(alice, question("later")) == {"t-1": pytest.approx(ARCHIVED)}
        alice.apply([Revise("conversation", "c", {"archived_at": None})])
        for user in (alice, other):
            assert set(weights(user, question("tea")).values()) == {1.0}

    @pytest.mark.parametrize("archived", [True, False])
    def test_in_whatever_order_it_is_stored(self, alice: UserStore, archived: bool) -> None:
        """A copy stores conversations and turns one by one, and again when they have changed."""
        expected = {"t": pytest.approx(ARCHIVED if archived else 1.0)}
        turn, ours = put(stored("tea", "t", 0)), Put(conversation(archived))
        before = Put(conversation(not archived))
        orders: dict[str, list[Change]] = {
            "conversation first": [ours, turn],
            "turn first": [before, turn, ours],
            "turn again": [before, turn, ours, turn],
            "turn again without its chunks": [before, turn, ours, replace(turn, chunks=None)],
            "both again": [ours, turn, ours, turn],
        }
        for name, changes in orders.items():
            alice.apply(changes)
            assert weights(alice, question("tea")) == expected, name
            alice.apply([Remove("turn", ("t",)), Remove("conversation", ("c",))])

    def test_what_no_longer_holds_is_found_when_it_is_asked_for(self, alice: UserStore) -> None:
        alice.apply(
            [
                put(fact("holds", "tea")),
                put(fact("corrected", "tea", retired_at=START, valid_to=START, superseded_by="holds")),
                put(fact("expired", "tea", expires_at=START)),
                put(fact("ended", "tea", valid_to=START)),
                put(fact("later", "tea", valid_from=LATER, supersedes="holds")),
                put(fact("elsewhere", "tea", channel="work", expires_at=START)),
            ]
        )
        assert found(alice, question("tea")) == {"holds"}
        whole = question("tea", in_force=False, channels=("_global",))
        assert found(alice, whole) == {"holds", "corrected", "expired", "ended", "later"}
        asked_then = question("tea", in_force=False, as_of=START, known_at=START, kinds=("fact",))
        assert len(found(alice, asked_then)) == 6

    @pytest.mark.parametrize("meanwhile", ["added", "changed", "removed", "all of it"])
    def test_a_view_is_searched_as_it_was(
        self, embedded: Store, alice: UserStore, reopen: Opener, meanwhile: str
    ) -> None:
        """Also when others write and search the newer state in the meantime."""
        alice.apply([put(fact("f", "tea"), axis(0)), put(fact("g", "tea and milk"), axis(1))], SPACE)
        changes: dict[str, list[Change]] = {
            "added": [put(fact("h", "tea at last"), axis(0)), append(draft("more tea", id="t"))],
            "changed": [Revise("fact", "f", {"channel": "work", "salience": 1.0})],
            "removed": [Remove("fact", ("f",))],
        }
        changes["all of it"] = [c for some in changes.values() for c in some]
        asked = question("tea milk", axis(0), channels=("_global",))

        def twice(view: UserView) -> None:
            first = view.search(asked)
            assert {c.owner for c in first} == {"f", "g"}
            for user in (alice, reopen().user("alice")):
                for change in changes[meanwhile] if user is alice else ():
                    user.apply([change], SPACE)
                assert sorted(user.search(asked)) != sorted(first)
            assert sorted(view.search(asked)) == sorted(first)
            assert len(view.get(Fact, ["f", "g", "h"])) == 2

        alice.reading(twice)
        now = found(alice, asked)
        assert ("h" in now) == (meanwhile in ("added", "all of it"))
        assert ("f" in now) == (meanwhile == "added")
        assert found(reopen().user("alice"), asked) == now

    def test_what_a_reading_makes_is_given_back(self, alice: UserStore) -> None:
        alice.apply([append(draft("tea", id="t-0"), draft("more tea", id="t-1"))])
        assert alice.reading(lambda view: (view.user, view.count(Turn))) == ("alice", 2)
        with pytest.raises(ZeroDivisionError):
            alice.reading(lambda view: view.seq() / 0)
