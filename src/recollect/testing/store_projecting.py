"""The store's contract: how far copies in other engines have come with whom."""

from datetime import timedelta
from random import Random

import pytest

from recollect.ports.store import Store, UserStore
from recollect.ports.stored import Lag, Reach
from recollect.testing.store_samples import START, append, draft
from recollect.testing.store_suite import Opener, StoreSuite

NOW = START + timedelta(days=1)
AT_ONCE, SOON = timedelta(0), timedelta(seconds=5)


def reach(user: UserStore, *, name: str = "copy", epoch: str = "one") -> Reach:
    found = user.reach(name, epoch, NOW, AT_ONCE)
    assert found is not None
    return found


def project(user: UserStore, seq: int, epoch: str = "one", name: str = "copy") -> bool:
    found = reach(user, name=name, epoch=epoch)
    return user.project(name, epoch, found.number, found.noted, seq, NOW, AT_ONCE)


def lag_of(store: Store, name: str = "copy", *others: str) -> Lag:
    return store.stats(copies=[name, *others])["projections"][name]


class ProjectingContract(StoreSuite):
    """`reach`, `project`, `users_behind`, `unprojected`."""

    def test_a_copy_is_behind_until_it_is_noted(
        self, store: Store, alice: UserStore, bob: UserStore, reopen: Opener
    ) -> None:
        assert alice.reach("copy", "one", NOW, AT_ONCE) is None
        assert store.users_behind("copy", "one", "", 10) == []
        for user in (alice, bob):
            user.apply([append(draft("tea", id="a"))])
        (first, second) = store.users_behind("copy", "one", "", 10)
        assert (first[0], second[0]) == ("alice", "bob")
        assert store.users_behind("copy", "one", "", 1) == [first]
        assert store.users_behind("copy", "one", "alice", 10) == [second]
        seq = reach(alice).seq
        assert reach(alice) == Reach(first[1], seq, 1, 0, 0, alice.secret())
        assert project(alice, seq)
        assert reach(reopen().user("alice")) == Reach(first[1], seq, 1, seq, seq, alice.secret(), "one")
        assert store.users_behind("copy", "one", "", 10) == [second]
        alice.apply([append(draft("more", id="b"))])
        assert store.users_behind("copy", "one", "", 10) == [first, second]

    def test_another_making_begins_anew_and_another_copy_has_marks_of_its_own(
        self, store: Store, alice: UserStore
    ) -> None:
        alice.apply([append(draft("tea", id="a"))])
        project(alice, 1)
        assert reach(alice, epoch="two").reached == 0
        assert reach(alice, name="other").reached == 0
        assert [user for user, _ in store.users_behind("copy", "two", "", 10)] == ["alice"]
        project(alice, 1, epoch="two")
        assert reach(alice).reached == 0
        assert reach(alice, epoch="two").reached == 1

    def test_what_was_written_just_now_is_not_counted_on(self, alice: UserStore) -> None:
        alice.apply([append(draft("tea", id="a"))])
        number = reach(alice).number
        alice.project("copy", "one", number, 0, 4, NOW - SOON, SOON)
        alice.project("copy", "one", number, 4, 7, NOW, SOON)

        def reached(later: timedelta) -> tuple[int, int]:
            found = alice.reach("copy", "one", NOW + later, SOON)
            assert found is not None
            return found.noted, found.reached

        assert reached(timedelta(0)) == (7, 4)
        assert reached(SOON - timedelta(microseconds=1)) == (7, 4)
        assert reached(SOON) == (7, 7)

    @pytest.mark.parametrize("longest", [0.05, 0.6, 1.0, 2.5])
    def test_however_often_it_is_noted_it_is_counted_on_soon_and_never_too_soon(
        self, alice: UserStore, longest: float
    ) -> None:
        """With notes so many times `SOON` apart at most."""
        alice.apply([append(draft("tea", id="a"))])
        random, number, now = Random(longest), reach(alice).number, NOW
        notes = [(NOW - timedelta(days=1), 0)]

        def last(before: timedelta) -> int:
            return max(seq for at, seq in notes if at <= now - before)

        for seq in range(1, 61):
            alice.project("copy", "one", number, seq - 1, seq, now, SOON)
            notes.append((now, seq))
            for _ in range(random.randint(1, 3)):
                found = alice.reach("copy", "one", now, SOON)
                assert found is not None
                assert found.noted == seq
                assert last(2 * SOON) <= found.reached <= last(SOON)
                now += SOON * random.choice((0.5 * longest, random.uniform(0, longest)))
        quiet = alice.reach("copy", "one", notes[-1][0] + SOON, SOON)
        assert quiet is not None
        assert quiet.reached == 60

    def test_of_two_who_wrote_at_once_neither_is_believed(self, alice: UserStore) -> None:
        alice.apply([append(draft("tea", id="a"))])
        number = reach(alice).number

        def noted(since: int, seq: int) -> int:
            assert alice.project("copy", "one", number, since, seq, NOW, AT_ONCE)
            return reach(alice).noted

        assert [noted(0, 4), noted(4, 7)] == [4, 7]
        assert noted(0, 4) == 0  # by one who was held up
        assert noted(7, 9) == 0  # by the other, who does not know of it
        assert noted(0, 9) == 9

    def test_with_another_key_all_that_was_written_is_to_be_forgotten(
        self, store: Store, alice: UserStore
    ) -> None:
        alice.apply([append(draft("tea", id="a"))])
        number = reach(alice).number
        assert alice.project("copy", "one", number, 0, 0, NOW, AT_ONCE)  # by one who begins just now
        assert alice.adopt_secret(alice.secret())
        assert reach(alice).noted == 0
        assert alice.adopt_secret(bytes(32))
        assert alice.project("copy", "one", number, 0, 1, NOW, AT_ONCE)  # with what was named by the old key
        assert reach(alice).noted < 0
        later = alice.reach("copy", "one", NOW + SOON, SOON)
        assert later is not None
        assert later.reached < 0
        assert [user for user, _ in store.users_behind("copy", "one", "", 10)] == ["alice"]
        assert project(alice, 1)
        assert reach(alice).reached == 1
        assert store.users_behind("copy", "one", "", 10) == []

    def test_the_lag_is_told_of_the_newest_making(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        assert store.stats()["projections"] == {}
        for user in (alice, bob):
            user.apply([append(draft("tea", id="a"))])
            user.apply([append(draft("more", id="b"))])
        project(alice, 2)
        assert lag_of(store) == Lag(1, 2, None)
        project(bob, 1)
        assert lag_of(store) == Lag(1, 1, NOW)
        later = NOW + timedelta(seconds=1)
        alice.project("copy", "two", reach(alice).number, 0, 0, later, AT_ONCE)
        assert lag_of(store) == Lag(2, 4, later)

    def test_the_lag_is_told_of_one_that_has_not_begun(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        assert store.stats(copies=["copy"])["projections"] == {"copy": Lag(0, 0, None)}
        for user in (alice, bob):
            user.apply([append(draft("tea", id="a"))])
        assert lag_of(store, "copy", "other") == Lag(2, 2, None)
        project(alice, 1)
        lags = store.stats(copies=["other", "copy"])["projections"]
        assert lags == {"other": Lag(2, 2, None), "copy": Lag(1, 1, None)}

    def test_whoever_is_erased_is_left_to_be_forgotten_by_their_number_alone(
        self, store: Store, alice: UserStore, bob: UserStore
    ) -> None:
        for user in (alice, bob):
            user.apply([append(draft("tea", id="a"))])
        project(alice, 1)
        number = reach(alice).number
        assert store.unprojected("copy") == []
        alice.erase()
        bob.erase()  # of whom it never had anything
        assert store.unprojected("copy") == [number]
        assert store.unprojected("other") == []
        assert not alice.project("copy", "one", number, 0, 1, NOW, AT_ONCE)
        alice.apply([append(draft("tea", id="a"))])
        assert not alice.project("copy", "one", number, 0, 1, NOW, AT_ONCE)  # another of that name
        assert reach(alice).reached == 0
        store.unproject("copy", number)
        assert store.unprojected("copy") == []
