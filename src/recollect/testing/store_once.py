"""The store's contract: a write that is sent again is done once, and what it stored is known."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.errors import Conflict, Repeated
from recollect.model.changes import Expect, Log, Once, Put
from recollect.model.records import AuditEntry, Fact, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import HARD_TEXTS, START, append, draft, put
from recollect.testing.store_samples import fact as a_fact
from recollect.testing.store_suite import StoreSuite

HOUR = timedelta(hours=1)


def once(key: str = "k", token: str = "first", kinds: tuple[str, ...] = ("fact",), **fields: Any) -> Once:
    return replace(Once(key, token, "digest", START, START - HOUR, kinds), **fields)


def facts(user: UserStore) -> list[str]:
    return [fact.id for fact in user.find(Fact)]


class OnceContract(StoreSuite):
    """`Once`, `answered`."""

    def test_what_is_done_once_is_known_by_its_key(self, alice: UserStore) -> None:
        assert alice.answered("k") is None
        alice.apply([once(), put(a_fact("b", "tea")), put(a_fact("a", "coffee"))])
        known = alice.answered("k")
        assert known is not None
        assert (known.digest, known.at) == ("digest", START)
        assert known.made == (("fact", "b"), ("fact", "a")), "in the order in which they were stored"
        assert alice.answered("other") is None

    def test_what_changes_beside_it_was_not_made_by_it(self, alice: UserStore) -> None:
        old = a_fact("old", "tea")
        alice.apply([put(old)])
        beside = [Expect("fact", "old", old), put(replace(old, content="green tea"))]
        alice.apply([once(), *beside, Expect("fact", "new", None), put(a_fact("new", "coffee"))])
        known = alice.answered("k")
        assert known is not None
        assert known.made == (("fact", "new"),)

    def test_what_was_done_once_is_not_done_again(self, alice: UserStore) -> None:
        alice.apply([once(), put(a_fact("a", "tea"))])
        before = alice.seq()
        with pytest.raises(Repeated):
            alice.apply([once(token="second"), put(a_fact("b", "tea"))])
        assert (facts(alice), alice.seq()) == (["a"], before)

    def test_one_write_may_take_several_steps(self, alice: UserStore) -> None:
        alice.apply([once(), put(a_fact("a", "tea"))])
        alice.apply([once(), put(a_fact("b", "coffee"))])
        assert facts(alice) == ["a", "b"]

    def test_what_fails_is_not_taken_for_done(self, alice: UserStore) -> None:
        with pytest.raises(Conflict):
            alice.apply([once(), put(a_fact("a", "tea")), Expect("fact", "b", a_fact("b", "none"))])
        assert alice.answered("k") is None
        alice.apply([once(token="second"), put(a_fact("a", "tea"))])
        assert alice.answered("k") is not None

    def test_what_makes_ready_for_a_write_is_not_the_write(self, alice: UserStore) -> None:
        alice.apply([once(), append(draft("tea", id="t", conversation="c"))])
        assert alice.answered("k") is None
        alice.apply([once(token="second"), put(a_fact("a", "tea"))])
        assert alice.answered("k") is not None

    def test_without_kinds_it_is_known_that_it_was_done(self, alice: UserStore) -> None:
        alice.apply([once(kinds=()), put(a_fact("a", "tea"))])
        known = alice.answered("k")
        assert known is not None
        assert known.made == ()

    def test_turns_are_known_as_they_are_stored(self, alice: UserStore) -> None:
        told = [draft(text, id=f"t{n}", conversation="c", index=n) for n, text in enumerate(("tea", "milk"))]
        alice.apply([append(*told)])
        again = replace(told[0], id="other")
        alice.apply([once(kinds=("turn",)), append(again, draft("rum", id="t2", conversation="c"))])
        known = alice.answered("k")
        assert known is not None
        assert known.made == (("turn", "t0"), ("turn", "t2"))
        assert [turn.id for turn in alice.find(Turn, order="index")] == ["t0", "t1", "t2"]

    def test_a_receipt_can_be_what_a_write_stores(self, alice: UserStore) -> None:
        entry = AuditEntry(id="e", operation="forget", subject="fact", at=START)
        alice.apply([once(kinds=("audit",)), put(a_fact("a", "tea")), Log(entry)])
        known = alice.answered("k")
        assert known is not None
        assert known.made == (("audit", "e"),)

    def test_keys_are_let_go_after_a_while(self, alice: UserStore) -> None:
        alice.apply([once(), put(a_fact("a", "tea"))])
        late = once("other", at=START + 2 * HOUR, since=START + HOUR)
        alice.apply([late, put(a_fact("b", "tea"))])
        assert alice.answered("k") is None
        alice.apply([once(token="second", at=late.at), put(a_fact("c", "tea"))])
        assert facts(alice) == ["a", "b", "c"]

    def test_a_key_is_one_users_and_goes_with_them(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        for user in (alice, bob):
            user.apply([once(token=user.user), put(a_fact("a", "tea"))])
        alice.erase()
        assert alice.answered("k") is None
        assert bob.answered("k") is not None
        assert "alice" not in store.users()

    def test_any_key_is_taken(self, alice: UserStore) -> None:
        for number, key in enumerate(filter(None, HARD_TEXTS.values())):
            plain = key.encode("utf-8", "surrogatepass").hex()
            alice.apply([once(plain), Put(a_fact(f"f{number}", key))])
            known = alice.answered(plain)
            assert known is not None
            assert known.made == (("fact", f"f{number}"),)

    def test_of_many_at_once_one_does_it(self, store: Store, alice: UserStore) -> None:
        start = threading.Barrier(8)

        def write(number: int) -> bool:
            start.wait()
            try:
                store.user("alice").apply([once(token=str(number)), put(a_fact(f"f{number}", "tea"))])
            except Repeated:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(write, range(8))) == 1
        assert len(facts(alice)) == 1
