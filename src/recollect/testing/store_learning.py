"""The store's contract: which conversations are over, what went well, counts that are pooled."""

from datetime import timedelta

import pytest

from recollect.model.changes import Change, Expect, Pool, Put, Remove, Revise
from recollect.model.records import Conversation, Episode, Procedure
from recollect.model.searched import proof, weight
from recollect.ports.store import Store, Usage, UserStore
from recollect.ports.tending import Visit
from recollect.testing.store_samples import START, append, draft, fact, ids, memory, put, question
from recollect.testing.store_suite import Opener, StoreSuite

HOUR = timedelta(hours=1)


def weights(user: UserStore) -> dict[str, float]:
    return {found.owner: found.weight for found in user.search(question("tea"))}


class LearningContract(StoreSuite):
    """`unconcluded`, `Pool`, and the weight of what went well."""

    def test_a_conversation_is_over_when_it_ended_or_nobody_speaks(
        self, store: Store, alice: UserStore, bob: UserStore, reopen: Opener
    ) -> None:
        for hours, name in enumerate(("early", "late", "ended")):
            alice.apply([append(draft("tea", id=name, conversation=name, at=START + hours * HOUR))])
        alice.apply([Revise("conversation", "ended", {"ended_at": START})])
        assert ids(reopen().user("alice").unconcluded(START)) == ["early", "ended"]
        assert ids(alice.unconcluded(START + HOUR)) == ["early", "late", "ended"]
        assert bob.unconcluded(START + HOUR) == []
        alice.apply([Revise("conversation", name, {"concluded_to": 1}) for name in ("early", "ended")])
        assert alice.unconcluded(START) == []

    def test_one_that_is_dated_ahead_is_over_when_nobody_speaks(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        year = 8766 * HOUR
        for user, stored in ((alice, START), (bob, START + HOUR)):
            said = draft("tea", id="t", conversation="ahead", at=START + year, recorded_at=stored)
            user.apply([append(said)])
            user.apply([Revise("conversation", "ahead", {"mined_to": 1})])
            assert user.claim("somebody", START, START + HOUR)
            user.settle("somebody", {}, Visit(user.seq(), START + year, START + year))
        assert [ids(user.unconcluded(START)) for user in (alice, bob)] == [["ahead"], []]
        assert ids(bob.unconcluded(START + HOUR)) == ["ahead"]
        assert store.users_due(START + HOUR, START) == ["alice"]
        alice.apply([append(draft("milk", id="m", conversation="ahead", recorded_at=START + HOUR))])
        assert alice.unconcluded(START) == [], "somebody spoke"

    def test_whoever_speaks_opens_it_again(self, alice: UserStore) -> None:
        alice.apply([append(draft("tea", id="a", conversation="c", index=5))])
        alice.apply([Revise("conversation", "c", {"ended_at": START, "concluded_to": 6})])
        same = append(draft("tea", id="again", conversation="c", index=5))
        alice.apply([same])  # nothing new
        (talk,) = alice.get(Conversation, ["c"])
        assert (talk.ended_at, talk.concluded_to) == (START, 6)
        alice.apply([append(draft("more", id="b", conversation="c", index=2))])
        (talk,) = alice.get(Conversation, ["c"])
        assert (talk.ended_at, talk.concluded_to) == (None, 2)

    def test_the_weight_follows_how_it_went(self, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        given = {"salience": 0.5}
        well = memory(Procedure, "p", "tea", successes=8, failures=1, **given)
        alice.apply([put(well), put(fact("f", "tea", **given))])
        plain = weight(0.5, "current")
        assert weights(alice) == {"p": pytest.approx(plain * proof(8, 1)), "f": pytest.approx(plain)}
        steps: list[tuple[Change, float]] = [
            (Revise("procedure", "p", {"salience": 1.0}), weight(1.0, "current") * proof(8, 1)),
            (Put(memory(Procedure, "p", "tea", successes=8, failures=9, **given)), plain * proof(8, 9)),
            (put(memory(Procedure, "p", "tea", **given)), plain),
        ]
        for change, expected in steps:
            other.apply([change])
            for user in (alice, other):
                assert weights(user)["p"] == pytest.approx(expected)
        for success, expected in ((True, proof(1, 0)), (False, proof(0, 1)), (None, 1.0)):
            other.apply([put(memory(Episode, "e", "tea", success=success, **given))])
            assert weights(alice)["e"] == pytest.approx(plain * expected)

    def test_counts_are_pooled_with_what_goes(self, alice: UserStore, reopen: Opener) -> None:
        alice.apply([put(fact(id)) for id in "abc"])
        alice.touch({"a": ("fact", 1, START), "b": ("fact", 2, START + HOUR)})
        alice.apply([Pool("fact", ("b", "c"), "a"), Remove("fact", ("b", "c"), scrub=False)])
        assert reopen().user("alice").usage(["a", "b", "c"]) == {"a": Usage(3, 3, START + HOUR)}
        alice.apply([put(fact("d"))])
        alice.apply([Pool("fact", ("d",), "a"), Remove("fact", ("d",), scrub=False)])
        assert alice.usage(["a", "d"]) == {"a": Usage(3, 3, START + HOUR)}

    def test_nothing_is_pooled_when_the_rest_is_refused(self, alice: UserStore) -> None:
        alice.apply([put(fact(id)) for id in "ab"])
        alice.touch({"a": ("fact", 1, START), "b": ("fact", 2, START)})
        with pytest.raises(Exception, match="read it again"):
            alice.apply([Pool("fact", ("b",), "a"), Expect("fact", "a", None)])
        assert alice.usage(["a", "b"]) == {"a": Usage(1, 1, START), "b": Usage(2, 2, START)}
