"""The store's contract: many threads and several processes at once, and nothing is lost."""

from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from recollect.errors import Conflict, NotFound
from recollect.model.changes import Expect, Put, Remove, Revise
from recollect.model.records import Conversation, Fact, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import SPACE, START, append, draft, fact, put, question, vectors
from recollect.testing.store_suite import Opener, StoreSuite, found

THREADS = 8
PROCESSES = 3


@contextmanager
def processes(open_store: Opener) -> Generator[Callable[[Callable[[Opener, int], object]], list[object]]]:
    """Runs a module-level function with the opener and a number, in processes of their own."""
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        yield lambda work: list(pool.map(partial(work, open_store), range(PROCESSES)))


def record_twenty(open_store: Opener, worker: int) -> int:
    """Appends to one conversation shared by all, with vectors; how many were new."""
    store = open_store()
    user, rows = store.user("alice"), vectors(20, seed=worker)
    try:
        return sum(
            user.apply([append(draft(f"tea p{worker}", id=f"p{worker}-{i}", vector=rows[i]))], SPACE).created
            for i in range(20)
        )
    finally:
        store.close()


def record_the_same(open_store: Opener, worker: int) -> int:
    """Records the same ten turns as all the others, under their indexes."""
    store = open_store()
    try:
        user = store.user("alice")
        return sum(
            user.apply([append(draft(f"said {i}", id=f"p{worker}-{i}", index=i))]).created for i in range(10)
        )
    finally:
        store.close()


def take(open_store: Opener, worker: int) -> bool:
    store = open_store()
    try:
        return store.acquire("tend", f"worker-{worker}", START, START.replace(hour=23))
    finally:
        store.close()


class ConcurrencyContract(StoreSuite):
    """Writers at once: every acknowledged change is there, indexes are unique and dense."""

    def test_threads_append_to_one_conversation(self, embedded: Store, alice: UserStore) -> None:
        rows = vectors(THREADS * 20)

        def write(thread: int) -> list[int]:
            return [
                alice.apply(
                    [append(draft(f"tea t{thread}", id=f"{thread}-{i}", vector=rows[thread * 20 + i]))], SPACE
                )
                .turns[0]
                .index
                for i in range(20)
            ]

        with ThreadPoolExecutor(THREADS) as pool:
            given = [index for indexes in pool.map(write, range(THREADS)) for index in indexes]
        assert sorted(given) == list(range(THREADS * 20))
        self._dense(alice, THREADS * 20)
        assert embedded.check() == []

    def test_processes_append_to_one_conversation(
        self, embedded: Store, alice: UserStore, open_store: Opener
    ) -> None:
        with processes(open_store) as run:
            assert run(record_twenty) == [20] * PROCESSES
        self._dense(alice, 20 * PROCESSES)
        for worker in range(PROCESSES):
            expected = {f"p{worker}-{i}" for i in range(20)}
            assert found(alice, question(f"p{worker}")) == expected
        assert len(alice.search(question(vector=vectors(1)[0]))) == 20 * PROCESSES
        assert embedded.check() == []

    def test_processes_open_a_new_database_and_record_the_same(
        self, open_store: Opener, reopen: Opener
    ) -> None:
        with processes(open_store) as run:
            assert sum(map(int, map(str, run(record_the_same)))) == 10
            assert sorted(map(bool, run(take))) == [False] * (PROCESSES - 1) + [True]
        self._dense(reopen().user("alice"), 10)

    def test_threads_record_the_same_turns(self, alice: UserStore) -> None:
        def write(thread: int) -> int:
            return sum(
                alice.apply([append(draft(f"said {i}", id=f"{thread}-{i}", index=i))]).created
                for i in range(10)
            )

        with ThreadPoolExecutor(THREADS) as pool:
            assert sum(pool.map(write, range(THREADS))) == 10
        self._dense(alice, 10)

    def test_a_failing_writer_does_not_disturb_the_others(self, alice: UserStore) -> None:
        alice.apply([append(draft("taken", id="taken", conversation="other"))])

        def write(i: int) -> bool:
            changes = [append(draft(id=f"ok-{i:03}"))]
            match i % 4:
                case 1:
                    changes.append(append(draft(id="taken")))
                case 2:
                    changes.append(Revise("fact", "nobody", {"pinned": True}))  # pyright: ignore[reportArgumentType]
                case _:
                    pass
            try:
                alice.apply(changes)
            except (Conflict, NotFound):
                return False
            return True

        with ThreadPoolExecutor(THREADS) as pool:
            worked = list(pool.map(write, range(80)))
        assert worked == [i % 4 not in (1, 2) for i in range(80)]
        expected = {f"ok-{i:03}" for i, ok in enumerate(worked) if ok}
        assert {turn.id for turn in alice.find(Turn, {"conversation": "march-15"})} == expected
        self._dense(alice, len(expected))

    def test_many_users_at_once(self, store: Store) -> None:
        def write(i: int) -> None:
            user = store.user(f"user-{i % THREADS}")
            user.apply([append(draft(f"tea {i}", id=f"t-{i}"))])
            assert f"t-{i}" in found(user, question("tea"))

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(write, range(THREADS * 8)))
        for i in range(THREADS):
            self._dense(store.user(f"user-{i}"), 8)
        assert store.check() == []

    def test_searches_among_writes_see_whole_states(
        self, embedded: Store, alice: UserStore, reopen: Opener
    ) -> None:
        """Two memories are always stored and removed together; no search sees one of them."""
        rows = vectors(2)
        other = reopen().user("alice")

        def change(i: int) -> None:
            pair = (put(fact(f"a-{i}", "tea"), rows[0]), put(fact(f"b-{i}", "tea"), rows[1]))
            alice.apply(pair, SPACE)
            if i % 2:
                alice.apply([Remove("fact", (f"a-{i}", f"b-{i}"))])

        def look(i: int) -> None:
            user = (alice, other)[i % 2]
            for search in (question("tea"), question(vector=rows[0])):
                hits = found(user, search)
                assert {id[2:] for id in hits if id[0] == "a"} == {id[2:] for id in hits if id[0] == "b"}

        with ThreadPoolExecutor(THREADS) as pool:
            work = [pool.submit(job, i) for i in range(40) for job in (change, look, look)]
            for job in work:
                job.result()
        assert len(found(other, question("tea"))) == 40

    def test_replacing_the_same_record_at_once(self, store: Store, alice: UserStore) -> None:
        def write(i: int) -> None:
            alice.apply([put(fact("f", f"version{i} tea"))])

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(write, range(40)))
        (stored,) = alice.find(Fact)
        (hit,) = alice.search(question("tea"))
        assert found(alice, question(stored.content.split()[0])) == {"f"}
        assert hit.stop == len(stored.content)
        assert store.check() == []

    def test_counting_at_once_loses_nothing(self, alice: UserStore) -> None:
        alice.apply([put(fact("f"))])
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(alice.touch, [{"f": ("fact", 1, START)}] * 64))
        assert alice.usage(["f"])["f"].count == 64

    def test_changes_of_what_was_read_lose_nothing(self, alice: UserStore, reopen: Opener) -> None:
        """Reads, counts one further, writes, and reads again when somebody was quicker."""
        alice.apply([Put(fact("f", metadata={"count": 0}))])
        hands = [alice, reopen().user("alice")]

        def count(i: int) -> None:
            while True:
                user = hands[i % 2]
                (read,) = user.get(Fact, ["f"])
                more = replace(read, metadata={"count": read.metadata["count"] + 1})
                try:
                    user.apply([Expect("fact", "f", read), Put(more)])
                except Conflict:
                    continue
                return

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(count, range(24)))
        assert alice.get(Fact, ["f"])[0].metadata == {"count": 24}

    def test_two_stores_write_in_turn(self, alice: UserStore, reopen: Opener) -> None:
        other = reopen().user("alice")
        for i in range(10):
            (alice, other)[i % 2].apply([append(draft(id=f"t-{i}")), Put(fact(f"f-{i}"))])
        self._dense(alice, 10)
        self._dense(other, 10)

    def test_erasing_while_others_write(self, store: Store, alice: UserStore) -> None:
        def work(i: int) -> None:
            if i % 10 == 9:
                alice.erase()
            else:
                alice.apply([append(draft("tea", id=f"t-{i}"))])

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(80)))
        self._dense(alice, alice.count(Turn))
        assert len(found(alice, question("tea"))) == alice.count(Turn)
        assert store.check() == []

    def _dense(self, user: UserStore, count: int) -> None:
        indexes = [turn.index for turn in user.find(Turn, {"conversation": "march-15"}, order="index")]
        assert indexes == list(range(count))
        if count:
            assert user.get(Conversation, ["march-15"])[0].next_index == count
