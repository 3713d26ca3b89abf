"""Threads that write and read while something happens to the server."""

import threading
from collections.abc import Callable
from contextlib import contextmanager
from time import monotonic, sleep

from recollect.model.records import Fact, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import SPACE, START, append, axis, draft, fact, put, question
from recollect.testing.store_suite import found


class Load:
    """Writers and readers of a few users. Everything acknowledged is noted, and every failure."""

    def __init__(self, store: Store, *, threads: int = 6, users: int = 3) -> None:
        self._store = store
        self._users = users
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(threads)]
        self.acknowledged: list[list[str]] = [[] for _ in range(threads)]
        self.failures: list[BaseException] = []

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self._threads)

    def wait_for(self, more: int) -> None:
        """Until each thread has written so many more."""
        goals = [len(done) + more for done in self.acknowledged]
        end = monotonic() + 60
        while any(len(done) < goal for done, goal in zip(self.acknowledged, goals, strict=True)):
            assert not self.failures, self.failures
            assert monotonic() < end, "the load makes no progress"
            sleep(0.01)

    def _run(self, thread: int) -> None:
        user, n = self._store.user(f"user-{thread % self._users}"), 0
        try:
            while not self._stop.is_set():
                self._write(user, f"{thread}-{n}")
                self.acknowledged[thread].append(f"{thread}-{n}")
                self._read(user, f"{thread}-{n}")
                n += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
            self.failures.append(error)

    def _write(self, user: UserStore, id: str) -> None:
        turn = append(draft(f"tea of {id}", id=f"t-{id}", conversation=f"c-{id[0]}", vector=axis(0)))
        user.apply([turn, put(fact(f"f-{id}", "milk", sources=(f"t-{id}",)), axis(1))], SPACE)

    def _read(self, user: UserStore, id: str) -> None:
        """What the thread itself wrote is there, by every way of reading."""
        assert [turn.content for turn in user.get(Turn, [f"t-{id}"])] == [f"tea of {id}"]
        assert user.count(Turn, {"id": f"t-{id}"}) == 1
        assert f"t-{id}" in found(user, question("tea"))
        assert user.linking("sources", [f"t-{id}"]) == {f"f-{id}": (f"t-{id}",)}
        assert [turn.id for turn in user.find(Turn, {"conversation": f"c-{id[0]}"}, order="index")][-1:]
        assert any(entry.id == f"t-{id}" for entry in user.feed())
        user.touch({f"f-{id}": ("fact", 1, START)})
        assert user.usage([f"f-{id}"])[f"f-{id}"].count == 1

    def verify(self) -> None:
        """Nothing acknowledged is lost, nothing is there twice, nothing failed."""
        assert not self.failures, self.failures
        for user in range(self._users):
            acknowledged = sorted(id for done in self.acknowledged[user :: self._users] for id in done)
            stored = self._store.user(f"user-{user}")
            assert sorted(turn.id for turn in stored.find(Turn)) == [f"t-{id}" for id in acknowledged]
            assert sorted(record.id for record in stored.find(Fact)) == [f"f-{id}" for id in acknowledged]
            usage = stored.usage([f"f-{id}" for id in acknowledged])
            assert {used.count for used in usage.values()} == {1}, "counted once"
        assert self._store.check() == []


def under_load(store: Store, happens: Callable[[], None], *, times: int = 3) -> Load:
    with Load(store) as load:
        for _ in range(times):
            load.wait_for(3)
            happens()
        load.wait_for(2)
    return load


@contextmanager
def ended(*stores: Store):
    try:
        yield
    finally:
        for store in stores:
            store.close()
