"""Scrub leaves no byte in PostgreSQL's files of what was erased."""

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from recollect.model.changes import Put, Remove
from recollect.model.records import Conversation, Entity, Fact, ToolInvocation, Turn
from recollect.ports.store import Store, UserStore
from recollect.testing.store_samples import (
    SPACE,
    START,
    append,
    axis,
    draft,
    entity,
    fact,
    put,
    sample,
)
from tests.contract.postgres import Server, contents, emptied, opened

pytestmark = pytest.mark.engine

CODES = {
    name: f"zq{name}qz"
    for name in ("turn", "fact", "entity", "title", "name", "input", "user", "conversation", "agent")
}
"""What no file has by chance."""


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    return own_server.address


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    emptied(database)
    store = opened(database, index_over=1)
    store.add_space(SPACE)
    yield store
    store.close()


def left(server: Server, url: str) -> set[str]:
    """The codes that the files of the database still have, once everything is written."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute("SELECT oid::text FROM pg_database WHERE datname = current_database()")
        (number,) = row.fetchone() or ("",)
    files = [contents(path) for path in (server.data / "base" / number).iterdir()]
    assert len(files) > 1000
    return {name for name, code in CODES.items() if any(code.encode() in file for file in files)}


def analyse(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def fill(user: UserStore) -> None:
    told = draft(
        f"{CODES['turn']} was said",
        id="t",
        conversation=CODES["conversation"],
        title=f"About {CODES['title']}",
        agent=CODES["agent"],
        vector=axis(0),
    )
    tool = sample(ToolInvocation, "tool")
    user.apply(
        [
            append(told),
            put(fact("f", f"Knows {CODES['fact']}", sources=("t",)), axis(1)),
            put(entity("e", CODES["name"], description=f"a {CODES['entity']}"), axis(2)),
            Put(replace(tool, input={"x": CODES["input"]})),
        ],
        SPACE,
    )
    user.touch({"f": ("fact", 1, START)})


def forget(user: UserStore) -> None:
    doomed = {Turn: "t", Fact: "f", Entity: "e", ToolInvocation: "tool", Conversation: CODES["conversation"]}
    user.apply([Remove(kind.kind, (id,)) for kind, id in doomed.items()])


def test_what_is_forgotten_is_in_no_file(store: Store, own_server: Server, database: str) -> None:
    user = store.user("alice")
    fill(user)
    analyse(database)
    assert left(own_server, database) == set(CODES) - {"user"}, "the search finds what is there"
    forget(user)
    assert left(own_server, database) == set(CODES) - {"user"}, "deleting leaves the bytes"
    assert store.scrub()
    assert not store.needs_scrub()
    analyse(database)
    assert left(own_server, database) == set()
    assert store.check() == []


def test_an_erased_user_is_in_no_file(store: Store, own_server: Server, database: str) -> None:
    """Nor is the name, which an index of a large user was made with."""
    user = store.user(CODES["user"])
    fill(user)
    store.user("bob").apply([append(draft("stays", id="t"))])
    analyse(database)
    assert store.maintain() == 1
    analyse(database)
    assert left(own_server, database) == set(CODES)
    user.erase()
    assert store.maintain() == 1
    assert store.scrub()
    assert left(own_server, database) == set()
    assert store.user("bob").count(Turn) == 1
    assert store.check() == []


@pytest.mark.parametrize("reader", ["alice", "somebody else"])
def test_a_reader_of_the_old_state_is_in_the_way(
    store: Store, own_server: Server, database: str, reader: str
) -> None:
    """Even one who reads other rows: while somebody could still see them, the server keeps all old rows."""
    user = store.user("alice")
    fill(user)
    with store.user(reader).snapshot() as view:
        view.count(Turn)
        forget(user)
        assert not store.scrub()
        assert store.needs_scrub()
    assert store.scrub()
    assert not store.needs_scrub()
    assert left(own_server, database) == set()
