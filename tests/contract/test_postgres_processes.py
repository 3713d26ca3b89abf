"""PostgreSQL and our own processes: killed, forked, many at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import psycopg
import pytest

from recollect.model.records import Fact, Turn
from recollect.ports.store import Store
from recollect.testing.store_samples import SPACE, append, axis, draft, question, said
from recollect.testing.store_suite import found
from tests.contract.postgres import emptied, new_database, opened, own_server, started

pytestmark = pytest.mark.engine

CHILD = Path(__file__).with_name("postgres_child.py")
SRC = Path(__file__).parents[2] / "src"


def child(role: str, url: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), role, url, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with started() as server:
        yield server


@pytest.fixture(scope="module")
def database(server: str) -> Iterator[str]:
    with new_database(server, "processes") as url:
        opened(url).close()
        yield url


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    emptied(database)
    store = opened(database)
    yield store
    store.close()


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    """A database with nothing in it, on a server that does not know our roles."""
    with new_database(server, "empty") as url:
        yield url


@pytest.mark.parametrize("acknowledged", [1, 23, 80])
def test_a_killed_writer_loses_nothing_it_acknowledged(
    store: Store, database: str, acknowledged: int
) -> None:
    store.add_space(SPACE)
    process = child("write", database)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    lines += process.communicate()[0].splitlines()

    assert store.check() == []
    user = store.user("alice")
    user.apply([])  # waits for what the server still does for the one that was killed
    added = {int(line[1:]) for line in lines if line.startswith("+")}
    removed = {int(line[1:]) for line in lines if line.startswith("-")}
    assert len(added) + len(removed) >= acknowledged
    turns = {int(turn.id[2:]) for turn in user.find(Turn)}
    assert added - removed <= turns | {max(added) - 2}  # a removal may be done and not yet said
    assert not turns & removed
    assert turns - added <= {max(added) + 1}  # so may be the last turn
    assert turns == {int(record.id[2:]) for record in user.find(Fact)}
    assert found(user, question("turn fact")) == {f"{kind}-{i}" for kind in "tf" for i in turns}
    assert found(user, question(vector=axis(0))) == {f"t-{i}" for i in turns}
    assert len(user.unembedded(SPACE, 10_000)) == len(turns)
    assert store.check() == []


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
