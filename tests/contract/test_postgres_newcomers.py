"""Users who are new do not wait for one another, and never get the same number."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import Connection

from recollect.ports.store import Store
from recollect.stores.postgres.backend import PostgresBackend
from recollect.stores.sql.locking import lock_user
from recollect.stores.sql.rows import UserRows
from recollect.testing.store_samples import append, draft
from tests.contract.postgres import POOL, emptied, opened

pytestmark = pytest.mark.engine


def backend(store: Store) -> PostgresBackend:
    return store._backend  # type: ignore[attr-defined]


def said(store: Store, user: str) -> int:
    return store.user(user).apply([append(draft("tea", id=f"of-{user}"))]).created


def numbers(database: str) -> list[int]:
    with psycopg.connect(database) as connection:
        return [number for (number,) in connection.execute("SELECT number FROM users").fetchall()]


def test_who_is_new_does_not_wait_for_others_who_are(database: str) -> None:
    emptied(database)
    store = opened(database, timeout=20)

    def slow(connection: Connection) -> int:
        lock_user(backend(store), UserRows(connection, "slow"))
        return said(store, "quick")  # in a transaction of its own, while this one is open

    assert backend(store).write(slow, "slow") == 1
    assert len(numbers(database)) == 2
    store.close()


def test_more_newcomers_than_connections(database: str) -> None:
    emptied(database)
    store = opened(database)
    names = [f"user-{n}" for n in range(4 * POOL)]
    with ThreadPoolExecutor(2 * POOL) as pool:
        assert {*pool.map(lambda name: said(store, name), names)} == {1}
    found = numbers(database)
    assert len({*found}) == len(names)
    assert max(found) < 3 * len(names)
    store.close()


def test_a_child_does_not_use_its_parents_numbers(database: str) -> None:
    emptied(database)
    store = opened(database)
    for name in ("one", "two"):  # by now the next one is taken in advance
        said(store, name)
    child = multiprocessing.get_context("fork").Process(target=said, args=(store, "child"))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    with psycopg.connect(database) as connection:
        (of_child,) = connection.execute("SELECT number FROM users WHERE user_id = 'child'").fetchone() or (
            0,
        )
    said(store, "three")
    assert of_child > 3, "those before are the parent's"
    assert len({*numbers(database)}) == 4
    store.close()
