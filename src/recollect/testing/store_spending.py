"""The store's contract: what models were asked for a user is added up by day."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial

from recollect.ports.store import Spent, Store, UserStore
from recollect.testing.store_concurrency import THREADS, processes
from recollect.testing.store_samples import HARD_TEXTS, put, said
from recollect.testing.store_samples import fact as a_fact
from recollect.testing.store_suite import Opener, StoreSuite

MONDAY, TUESDAY, FAR = date(2026, 3, 16), date(2026, 3, 17), date(2999, 12, 31)


def of(day: date = MONDAY, source: str = "memory_qa", model: str = "m") -> Callable[..., Spent]:
    """Makes what was spent of calls, prompt and completion tokens."""
    return partial(Spent, day, source, model)


def spend_twenty(open_store: Opener, worker: int) -> None:
    store = open_store()
    try:
        for _ in range(20):
            store.user("alice").spend([of()(1, 10, 1), of(TUESDAY)(1, worker)])
    finally:
        store.close()


class SpendingContract(StoreSuite):
    """`spend` and `spending`."""

    def test_what_is_spent_adds_up(self, alice: UserStore, reopen: Opener) -> None:
        alice.apply([said(1)])
        alice.spend([of()(1, 100, 20), of()(2, 50, 5), of(source="memory_embed")(1, 7)])
        alice.spend([of()(1, 1, 1), of(model="n")(1, 2, 3)])
        assert reopen().user("alice").spending() == [
            of(source="memory_embed")(1, 7),
            of()(4, 151, 26),
            of(model="n")(1, 2, 3),
        ]

    def test_days_stay_apart(self, alice: UserStore) -> None:
        alice.apply([said(1)])
        alice.spend([of(FAR)(3), of(TUESDAY)(2), of(MONDAY)(1)])
        alice.spend([of(TUESDAY)(2, 5)])
        assert alice.spending() == [of(MONDAY)(1), of(TUESDAY)(4, 5), of(FAR)(3)]
        assert alice.spending(TUESDAY) == [of(TUESDAY)(4, 5), of(FAR)(3)]
        assert alice.spending(FAR) == [of(FAR)(3)]
        assert alice.spending(date(3000, 1, 1)) == []

    def test_many_tokens_and_odd_names(self, alice: UserStore) -> None:
        alice.apply([said(1)])
        odd = [of(model=name)(1, 1 << 50, 1 << 50) for name in HARD_TEXTS.values()]
        alice.spend(odd)
        alice.spend(odd)
        assert {one.model: one.prompt for one in alice.spending()} == {one.model: 2 << 50 for one in odd}

    def test_nothing_spent(self, alice: UserStore) -> None:
        alice.apply([said(1)])
        alice.spend([])
        assert alice.spending() == []

    def test_what_is_spent_stays_with_its_user(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([said(1)])
        alice.spend([of()(1)])
        bob.spend([of()(5)])
        alice.spend([of()(1)])
        assert (alice.spending(), bob.spending()) == ([of()(2)], [of()(5)])

    def test_what_is_spent_goes_with_its_user(self, store: Store, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([said(1)])
            user.spend([of()(1)])
        alice.erase()
        alice.spend([of()(1)])
        assert (alice.spending(), [*store.users()]) == ([], ["bob"])
        alice.apply([said(1)])
        assert (alice.spending(), bob.spending()) == ([], [of()(1)])

    def test_spending_makes_nobody(self, store: Store, alice: UserStore) -> None:
        alice.spend([of()(1)])
        assert (alice.spending(), alice.seq(), [*store.users()]) == ([], 0, [])

    def test_spending_does_not_enter_the_feed(self, alice: UserStore) -> None:
        before = alice.apply([put(a_fact("f"))]).seq
        alice.spend([of()(1)])
        assert (alice.seq(), [*alice.feed(before)]) == (before, [])

    def test_a_snapshot_has_what_was_spent_by_then(self, alice: UserStore) -> None:
        alice.apply([said(1)])
        alice.spend([of()(1)])
        with alice.snapshot() as view:
            assert view.spending() == [of()(1)]
            alice.spend([of()(1)])
            assert view.spending() == [of()(1)]
        assert alice.spending() == [of()(2)]

    def test_spending_threads_lose_nothing(self, alice: UserStore, bob: UserStore) -> None:
        for user in (alice, bob):
            user.apply([said(1)])

        def spend(thread: int) -> None:
            for _ in range(10):
                (alice, bob)[thread % 2].spend([of()(1, 3, 2), of(TUESDAY)(1)])

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(spend, range(THREADS)))
        times = 10 * THREADS // 2
        expected = [of()(times, 3 * times, 2 * times), of(TUESDAY)(times)]
        assert alice.spending() == bob.spending() == expected

    def test_spending_processes_lose_nothing(self, alice: UserStore, open_store: Opener) -> None:
        alice.apply([said(1)])
        with processes(open_store) as run:
            times = 20 * len(run(spend_twenty))
        assert alice.spending() == [of()(times, 10 * times, times), of(TUESDAY)(times, 20 * (0 + 1 + 2))]
