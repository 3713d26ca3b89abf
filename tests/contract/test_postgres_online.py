"""A database of an older release is brought up to date while others go on reading and writing."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from recollect.errors import StoreUnavailable
from recollect.model.records import Fact, Turn
from recollect.ports.store import Store
from recollect.stores.postgres import online
from recollect.stores.postgres.admin import upgrade, version
from recollect.stores.sql import migrate
from recollect.testing.store_samples import SPACE, append, axis, draft, fact, put, question
from tests.contract.older import TO_EIGHTH, fill
from tests.contract.postgres import new_database, opened, options
from tests.contract.standby import until

pytestmark = [pytest.mark.engine, pytest.mark.slow]

LATER = ("ix_memories_slot", "ix_audit_conversation", "ix_conversations_unmined")
"""Indexes that the older one did not have: of a table in 64 parts, of one by day, and of some rows only."""
OLDER = (
    *TO_EIGHTH,
    "ALTER TABLE users ADD CONSTRAINT users_number_key UNIQUE (number)",
    *(f"DROP INDEX {name}" for name in LATER),
)
WAITED = "lock_timeout=15000"
"""Whoever waits for a lock for many times longer than a change of a table may wait is told so, and fails."""


@pytest.fixture
def older(server: str) -> Iterator[str]:
    with new_database(server, "recollect_online") as url:
        store = opened(url)
        fill(store)
        store.close()
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in OLDER:
                connection.execute(statement.encode())
        yield url


def impatient(url: str) -> str:
    options = make_url(url).update_query_dict({"options": f"-c{WAITED}"})
    return options.render_as_string(hide_password=False)


def as_before(url: str) -> Store:
    """A store that was opened before; the previous release's, which makes the same statements."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", (migrate.HEAD,))
        store = opened(impatient(url))
        connection.execute("UPDATE alembic_version SET version_num = '0008'")
    return store


def asked(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()


def is_sound(url: str) -> None:
    store = opened(url)
    assert store.check() == []
    store.close()
    unfinished = "SELECT relname FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE NOT indisvalid"
    assert asked(url, unfinished) == []
    names = {name for (name,) in asked(url, "SELECT relname FROM pg_class WHERE relkind = 'I'")}
    assert names >= {*LATER, "ix_relations_seq"}


def test_nobody_fails_while_it_is_done(older: str) -> None:
    """Those who were there before, with a store that the previous release could have opened, go on."""
    memory = as_before(older)
    over = threading.Event()

    def write(writer: int) -> int:
        n = 0
        user = memory.user(("alice", "bob", "carol")[writer])
        while not over.is_set():
            turn = draft("more tea", id=f"w-{writer}-{n}", conversation="w", vector=axis(n % 8))
            user.apply([append(turn), put(fact(f"wf-{writer}-{n}", "tea", slot=f"s-{n}"), axis(1))], SPACE)
            n += 1
        return n

    def read(reader: int) -> int:
        n = 0
        user = memory.user(("alice", "bob", "carol")[reader])
        while not over.is_set():
            user.search(question("tea", axis(n % 8)))
            assert reader == 2 or user.get(Turn, ["t-0"])
            n += 1
        return n

    with ThreadPoolExecutor(6) as threads:
        written = [threads.submit(write, n) for n in range(3)]
        seen = [threads.submit(read, n) for n in range(3)]
        try:
            upgrade(older, options())
        finally:
            over.set()
    assert all(found.result() for found in seen)
    for n, name in enumerate(("alice", "bob", "carol")):
        assert memory.user(name).count(Fact, {"channel": "_global"}) >= written[n].result() > 0
    memory.close()
    is_sound(older)


def looks_back(reader: psycopg.Connection[Any]) -> None:
    """Hold on to the state of now: an index is not used before nobody does."""
    reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    reader.execute("SELECT 1 FROM links LIMIT 1").fetchall()


def begun(threads: ThreadPoolExecutor, url: str) -> Future[None]:
    return threads.submit(upgrade, url, options())


def test_an_index_is_made_beside_those_who_write(older: str) -> None:
    """Somebody who began before holds up the making of an index, and nobody else."""
    with ThreadPoolExecutor(1) as threads, psycopg.connect(older) as reader:
        looks_back(reader)
        done = begun(threads, older)
        waiting = (
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' "
            "AND wait_event = 'virtualxid' AND datname = 'recollect_online'"
        )
        until(lambda: asked(older, waiting))
        memory = opened(impatient(older))  # this release can be used already
        for n in range(3):
            memory.user("alice").apply([put(fact(f"beside-{n}", "tea", slot="tea"), axis(1))], SPACE)
        assert not done.done()
        (problem, *_) = memory.check()
        assert "run `recollect db migrate`" in problem
        memory.close()
        reader.rollback()
        done.result()
    is_sound(older)


def test_a_change_of_a_table_gives_way(older: str) -> None:
    memory = as_before(older)
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
    with ThreadPoolExecutor(1) as threads, psycopg.connect(older) as reader:
        reader.execute("SELECT 1 FROM users LIMIT 1").fetchall()
        done = begun(threads, older)
        for n in range(3):  # each comes while the change waits, waits behind it, and gets through
            until(lambda: asked(older, waiting))
            memory.user("alice").apply([put(fact(f"way-{n}", "tea"), axis(1))], SPACE)
        assert not done.done()
        assert version(older) != migrate.HEAD
        reader.rollback()
        done.result()
    memory.close()
    is_sound(older)


def test_who_is_in_the_way_for_too_long_is_told(older: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(older) as reader, monkeypatch.context() as patched:
        patched.setattr(online, "PATIENCE", 0.1)
        reader.execute("SELECT 1 FROM users LIMIT 1").fetchall()
        with pytest.raises(StoreUnavailable, match="run `recollect db migrate` again"):
            upgrade(older, options())
        reader.rollback()
    assert version(older) != migrate.HEAD
    upgrade(older, options())
    is_sound(older)


def test_what_was_cut_off_is_gone_on_with(older: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = online._make_beside

    def cut_off(*given: Any) -> None:
        make(*given)
        made.append(given[2])
        if len(made) == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(online, "_make_beside", cut_off)
        with pytest.raises(KeyboardInterrupt):
            upgrade(older, options())
    with psycopg.connect(older, autocommit=True) as connection:  # as one that was killed leaves it
        invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass"
        connection.execute(invalid, (made[-1],))
    with monkeypatch.context() as patched:
        patched.setattr(online, "_make_beside", lambda *given: (made.append(given[2]), make(*given)))
        upgrade(older, options())
    assert len(made) == len(set(made)) + 1, "only the last one is made again"
    is_sound(older)


def test_the_index_of_a_large_user_is_made_beside_those_who_write(server: str) -> None:
    """Somebody who began before holds up its making; the user themselves goes on writing, and is found."""
    making = (
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' "
        "AND wait_event = 'virtualxid' AND datname = 'recollect_large'"
    )
    with new_database(server, "recollect_large") as url:
        store = opened(impatient(url), index_over=20)
        store.add_space(SPACE)
        large = store.user("large")
        large.apply([put(fact(f"f-{n}", "tea"), axis(n % 16)) for n in range(40)], SPACE)
        with ThreadPoolExecutor(1) as threads, psycopg.connect(url) as reader:
            looks_back(reader)
            done = threads.submit(store.maintain)
            until(lambda: asked(url, making))
            for n in range(3):
                large.apply([put(fact(f"beside-{n}", "milk"), axis(7))], SPACE)
                assert f"beside-{n}" in {one.owner for one in large.search(question(vector=axis(7)))}
            assert not done.done()
            reader.rollback()
            assert done.result() == 1
        found = {one.owner for one in large.search(question(vector=axis(7), limit=20))}
        assert found >= {f"beside-{n}" for n in range(3)}
        assert store.check() == []
        store.close()
