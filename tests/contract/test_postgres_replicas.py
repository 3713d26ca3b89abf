"""Recall from a real hot standby: fresh enough, never behind one's own writes, and never in the way."""

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import psycopg
import pytest

from recollect import Memory
from recollect.errors import StoreUnavailable
from recollect.model.changes import Remove
from recollect.ports.store import Store, UserStore
from recollect.settings import load
from recollect.testing.store_samples import SPACE, ManualClock, append, axis, draft, fact, put, question
from tests.contract.postgres import Server, emptied, opened
from tests.contract.standby import Standby, standby_of, until
from tests.unit.caching import HeldCache

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SECONDS = 5.0


class Watch:
    """Seconds, as they are told to pass."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    return own_server.address


@pytest.fixture(scope="module")
def standby(own_server: Server, database: str) -> Iterator[Standby]:
    with standby_of(own_server) as standby:
        yield standby


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def replicated(database: str, standby: Standby, watch: Watch) -> Iterator[Store]:
    """A store with something of alice's, all of it replayed, whose recall may go to the standby."""
    emptied(database)
    store = opened(database, replicas=(standby.address(database),), replica_seconds=SECONDS)
    store.add_space(SPACE)
    store.user("alice").apply([put(fact("old", "green tea"), axis(0))], SPACE)
    store._backend._replicas._now = watch  # type: ignore[attr-defined]
    standby.catch_up()
    yield store
    standby.resume()
    store.close()


def recalled(user: UserStore, words: str = "tea") -> tuple[set[str], bool]:
    """What is found, and whether a standby found it."""

    def read(view: Any) -> tuple[set[str], bool]:
        with view._backend.read() as connection:
            at_standby: bool = connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one()
        return {candidate.owner for candidate in view.search(question(words, axis(0)))}, at_standby

    return user.reading(read, latest=False)


def settle(store: Store, standby: Standby, watch: Watch) -> None:
    """Let the primary's place be noted, and be replayed."""
    recalled(store.user("alice"))
    standby.catch_up()
    watch.time += SECONDS * 0.75


def test_a_standby_answers_and_plans_are_made_at_the_primary(
    replicated: Store, standby: Standby, watch: Watch
) -> None:
    settle(replicated, standby, watch)
    alice = replicated.user("alice")
    assert recalled(alice) == ({"old"}, True)
    assert recalled(replicated.user("bob")) == (set(), True)
    at: list[bool] = []
    alice.reading(
        lambda view: at.append(
            view._backend.read().__enter__().exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one()  # type: ignore[attr-defined]
        )
    )
    assert at == [False]


def test_what_this_process_wrote_is_read(replicated: Store, standby: Standby, watch: Watch) -> None:
    settle(replicated, standby, watch)
    alice, bob = replicated.user("alice"), replicated.user("bob")
    standby.pause()
    alice.apply([put(fact("new", "black tea"), axis(1))], SPACE)
    assert recalled(alice) == ({"old", "new"}, False)
    assert recalled(bob) == (set(), True), "others are not held up by it"
    replicated._backend._sessions.told("alice", 0)  # type: ignore[attr-defined]
    assert recalled(alice) == ({"old", "new"}, False), "who committed before may tell it after"
    alice.apply([Remove("fact", ("old",))])
    assert recalled(alice) == ({"new"}, False), "what was forgotten here is gone at once"
    standby.resume()
    standby.catch_up()
    assert recalled(alice) == ({"new"}, True)


def test_what_others_wrote_is_missing_for_so_long_at_most(
    replicated: Store, database: str, standby: Standby, watch: Watch
) -> None:
    settle(replicated, standby, watch)
    alice = replicated.user("alice")
    other = opened(database)
    standby.pause()
    other.user("alice").apply([put(fact("new", "black tea"), axis(1)), Remove("fact", ("old",))], SPACE)
    assert recalled(alice) == ({"old"}, True)
    watch.time += SECONDS / 4
    assert recalled(alice) == ({"old"}, True)
    watch.time += SECONDS
    assert recalled(alice) == ({"new"}, False)
    standby.resume()
    standby.catch_up()
    assert recalled(alice) == ({"new"}, True)
    other.close()


def test_an_idle_primary_is_no_reason_to_wait(replicated: Store, standby: Standby, watch: Watch) -> None:
    settle(replicated, standby, watch)
    for _ in range(10):
        watch.time += SECONDS * 0.75
        assert recalled(replicated.user("alice")) == ({"old"}, True)


def test_killing_it_under_load_fails_nobody(
    replicated: Store, standby: Standby, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(replicated, standby, watch)
    over, users = threading.Event(), [replicated.user(f"user-{n}") for n in range(4)]
    for user in users:
        user.apply([append(draft("milk tea", id="t", vector=axis(0)))], SPACE)
    served: list[bool] = []

    def read(n: int) -> int:
        times = 0
        while not over.is_set():
            found, at_standby = recalled(users[n])
            assert len(found) == 1
            served.append(at_standby)
            times += 1
        return times

    with ThreadPoolExecutor(4) as threads:
        done = [threads.submit(read, n) for n in range(4)]
        try:
            until(lambda: True in served or any(one.done() for one in done))
            standby.kill()
            before = len(served)
            until(lambda: len(served) > before + 40 or any(one.done() for one in done))
        finally:
            over.set()
    assert all(one.result() for one in done)
    assert served[-1] is False
    (state,) = replicated.stats()["replicas"]
    assert "problem" in state
    assert "postgres:" not in state["problem"]
    standby.start()
    replicated._backend._replicas._resting._until.clear()  # type: ignore[attr-defined]
    standby.catch_up()
    watch.time += SECONDS
    until(lambda: recalled(users[0])[1])
    (state,) = replicated.stats()["replicas"]
    assert state["behind_bytes"] >= 0


def test_a_connection_in_use_is_closed_though_another_was_lost(
    replicated: Store, standby: Standby, watch: Watch
) -> None:
    settle(replicated, standby, watch)
    replicas = replicated._backend._replicas  # type: ignore[attr-defined]
    with replicas.read("alice") as connection:
        assert connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one()
        replicas._leave_alone(*replicas._standbys, psycopg.errors.AdminShutdown("It is being shut down."))
    del connection
    gc.collect()  # which would warn of it
    replicas._resting._until.clear()
    assert recalled(replicated.user("alice")) == ({"old"}, True)


def test_what_fails_elsewhere_is_not_its_fault(replicated: Store, standby: Standby, watch: Watch) -> None:
    settle(replicated, standby, watch)

    def read(view: object) -> None:
        raise StoreUnavailable("The primary has no connection free.")

    with pytest.raises(StoreUnavailable, match="The primary has no connection free"):
        replicated.user("alice").reading(read, latest=False)
    assert recalled(replicated.user("alice")) == ({"old"}, True)


def test_one_that_follows_another_primary_is_not_believed(
    replicated: Store, own_server: Server, database: str, standby: Standby
) -> None:
    """It has come further in its log than the primary has in its own, but that says nothing."""
    with standby_of(own_server) as next_primary:
        next_primary.catch_up()
        assert next_primary.ask("SELECT pg_promote()")
        store = opened(next_primary.address(database), replicas=(standby.address(database),))
        store.user("alice").apply([put(fact("new", "black tea"), axis(1))], SPACE)
        said, place = count(), next_primary.ask("SELECT pg_current_wal_lsn() - '0/0'")
        while standby.ask("SELECT pg_last_wal_replay_lsn() - '0/0'") <= place:
            replicated.user("alice").apply([put(fact(f"elsewhere-{next(said)}", "milk tea"))])
            standby.catch_up()
        replicas = store._backend._replicas  # type: ignore[attr-defined]
        replicas._written.clear()
        assert recalled(store.user("alice")) == ({"old", "new"}, False)
        (state,) = store.stats()["replicas"]
        assert "another primary" in state["problem"]
        store.close()
        of_old = opened(database, replicas=(next_primary.address(database),))
        assert recalled(of_old.user("bob")) == (set(), False)
        assert of_old.stats()["replicas"][0]["behind_bytes"] is None, "it is a standby no longer"
        of_old.close()


@pytest.mark.parametrize("silent", ["_WRITTEN", "_FOLLOWED"])
def test_one_is_believed_where_a_server_does_not_tell(
    replicated: Store, standby: Standby, watch: Watch, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"recollect.stores.postgres.standby.{silent}", "no_such_function()")
    settle(replicated, standby, watch)
    assert recalled(replicated.user("alice")) == ({"old"}, True)


def test_one_that_never_was_there_is_left_alone(database: str) -> None:
    emptied(database)
    nowhere = "postgresql://postgres@/nothing?host=/nowhere"
    store = opened(database, replicas=(nowhere,))
    store.user("alice").apply([put(fact("old", "green tea"))])
    for _ in range(3):
        assert recalled(store.user("alice")) == ({"old"}, False)
    assert store._backend._replicas._resting.reason("postgresql://postgres@/nothing?host=%2Fnowhere")  # type: ignore[attr-defined]
    store.close()


def test_a_primary_is_no_standby(database: str) -> None:
    emptied(database)
    store = opened(database, replicas=(database,))
    store.user("alice").apply([put(fact("old", "green tea"))])
    assert recalled(store.user("alice")) == ({"old"}, False)
    assert store.stats()["replicas"][0]["behind_bytes"] is None
    store.close()


def test_the_wall_stands_there_too(replicated: Store, standby: Standby, watch: Watch) -> None:
    settle(replicated, standby, watch)

    def others(view: Any) -> tuple[int, bool]:
        with view._backend.read() as connection:
            count: int = connection.exec_driver_sql("SELECT count(*) FROM memories").scalar_one()
            return count, connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one()

    assert replicated.user("bob").reading(others, latest=False) == (0, True)
    assert replicated.user("alice").reading(others, latest=False) == (1, True)


def test_what_a_standby_answers_is_not_kept_as_the_primarys(
    replicated: Store, database: str, standby: Standby, watch: Watch
) -> None:
    settle(replicated, standby, watch)
    cache = HeldCache()
    memory = Memory(replicated, None, ManualClock(), load(db=database, cache_seconds=300), cache=cache)
    alice = memory.scope("alice")

    def said() -> list[str]:
        return [hit.content for hit in alice.recall("tea").hits]

    other = opened(database)
    standby.pause()
    other.user("alice").apply([Remove("fact", ("old",))])
    assert said() == ["green tea"], "what others forgot may be recalled from a standby for so long"
    watch.time += SECONDS * 2
    assert said() == [], "and not any longer out of a cache"
    assert cache.of("answers") == 1
    assert said() == []
    assert cache.found == 1
    standby.resume()
    other.close()
