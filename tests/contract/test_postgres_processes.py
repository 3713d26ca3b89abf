"""PostgreSQL and our own processes: killed, forked, many at once."""

import os
from contextlib import ExitStack
from time import monotonic, sleep

import psycopg
import pytest

from recollect.model.records import Turn
from recollect.ports.store import Store
from recollect.testing.store_samples import append, draft, said
from tests.contract.children import assert_nothing_lost, child, killed_writer
from tests.contract.postgres import new_database, opened, own_server

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("acknowledged", [1, 23, 80])
def test_a_killed_writer_loses_nothing_it_acknowledged(
    store: Store, database: str, acknowledged: int
) -> None:
    assert_nothing_lost(store, killed_writer(database, acknowledged))


def _tables(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'i'"
        ).fetchone()
    return row[0] if row else 0


@pytest.mark.parametrize("tables", [0, 1, 400])
def test_a_killed_making_is_gone_on_with(empty: str, tables: int) -> None:
    process = child("make", empty)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    end = monotonic() + 60
    while _tables(empty) < tables and process.poll() is None:
        assert monotonic() < end
    sleep(0.3 if tables == 0 else 0)  # in the middle of the first transaction
    process.kill()
    process.communicate()
    store = opened(empty)
    store.user("alice").apply([said(2)])
    assert store.user("alice").count(Turn) == 2
    assert store.check() == []
    store.close()


def test_many_processes_make_the_same_database(empty: str) -> None:
    processes = [child("make", empty, str(n)) for n in range(4)]
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert out.split() == ["begun", "made"], errors
    store = opened(empty)
    assert list(store.users()) == [f"process {n}" for n in range(4)]
    assert store.check() == []
    store.close()


def test_databases_of_one_server_are_made_at_once() -> None:
    """They share the roles, and each finds them missing."""
    with own_server() as server, ExitStack() as stack:
        urls = [stack.enter_context(new_database(server.address, f"made_{n}")) for n in range(3)]
        processes = [child("make", url) for url in urls]
        for process in processes:
            out, errors = process.communicate(timeout=120)
            assert out.split() == ["begun", "made"], errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_keeps_its_hands_off_the_others_connections(store: Store) -> None:
    user = store.user("alice")
    user.apply([append(draft("before", id="before"))])
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            user.apply([append(draft("of the child", id="child-0"))])
            os.write(ready[1], b".")
            os.read(go[0], 1)
            for number in range(1, 20):
                user.apply([append(draft("of the child", id=f"child-{number}"))])
                assert user.count(Turn) >= number
            status = 0
        finally:
            os._exit(status)
    os.read(ready[0], 1)
    os.write(go[1], b".")
    for number in range(20):
        user.apply([append(draft("of the parent", id=f"parent-{number}"))])
        assert user.get(Turn, ["before"])[0].content == "before"
    assert os.waitpid(child, 0)[1] == 0
    expected = {"before"} | {f"{who}-{n}" for who in ("child", "parent") for n in range(20)}
    assert {turn.id for turn in user.find(Turn)} == expected
    assert [turn.index for turn in user.find(Turn, order="index")] == list(range(41))
    assert store.check() == []
