"""A commit whose answer is lost: was it done? And other moments at which a line is cut."""

import os
from time import monotonic

import psycopg
import pytest
from psycopg import sql

from recollect.errors import StoreUnavailable
from recollect.model.records import Turn
from recollect.ports.store import Store
from recollect.stores.postgres import session
from recollect.stores.postgres.session import Sessions
from recollect.testing.store_samples import SPACE, append, axis, draft, ids, question, said
from recollect.testing.store_suite import found
from tests.contract.pooler import Pooler
from tests.contract.postgres import Server, emptied, opened
from tests.contract.postgres_proxy import Proxy

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    return own_server.address


def sessions(store: Store) -> Sessions:
    return store._backend._sessions  # type: ignore[attr-defined]


@pytest.mark.parametrize("pool", [1, 3])
@pytest.mark.parametrize("when", ["before", "after", "silently"])
def test_a_line_that_is_cut_at_the_commit(proxy: Proxy, when: str, pool: int) -> None:
    store = opened(proxy.url, pool=pool)
    store.add_space(SPACE)
    alice = store.user("alice")
    alice.apply([said(2)], SPACE)
    before = alice.seq()
    proxy.cut_at(b"COMMIT", when)
    applied = alice.apply([append(draft("tea", id="new", vector=axis(0)))], SPACE)
    assert proxy.cut == 1
    assert (applied.created, applied.seq, applied.turns[0].index) == (1, before + 1, 2)
    assert ids(list(alice.find(Turn, order="index"))) == ["turn-000", "turn-001", "new"]
    assert alice.seq() == before + 1, "done once"
    assert found(alice, question("tea", axis(0))) == {"new"}
    assert store.check() == []
    store.close()


def test_a_line_that_is_cut_again_while_asking(proxy: Proxy) -> None:
    store = opened(proxy.url, pool=2)
    alice = store.user("alice")
    alice.apply([said(1)])
    proxy.cut_at(b"COMMIT", "after")
    proxy.cut_at(b"pg_xact_status", "before", times=2)
    assert alice.apply([append(draft("tea", id="new"))]).created == 1
    assert proxy.cut == 3
    assert alice.count(Turn) == 2
    store.close()


def test_statements_that_are_cut_are_run_again(proxy: Proxy) -> None:
    store = opened(proxy.url, pool=2)
    store.add_space(SPACE)
    alice = store.user("alice")
    alice.apply([said(3)], SPACE)
    for words in (b"INSERT INTO turns", b"INSERT INTO texts", b"UPDATE users", b"FOR UPDATE", b"BEGIN; SET"):
        proxy.cut_at(words, "before")
        alice.apply([append(draft("tea", id=f"new-{proxy.cut}", vector=axis(0)))], SPACE)
    assert proxy.cut == 5
    assert [turn.index for turn in alice.find(Turn, order="index")] == list(range(8))
    for words, asked in {
        b"recollect_matches": question("tea"),
        b"AS wanted": question("tea"),
        b"<#>": question(vector=axis(0)),
    }.items():
        proxy.cut_at(words, "before")
        assert len(found(alice, asked)) == 5
    assert proxy.cut == 8
    assert store.check() == []
    store.close()


def test_a_snapshot_that_is_cut_says_so(proxy: Proxy) -> None:
    """The state it showed is not to be had again."""
    store = opened(proxy.url)
    store.user("alice").apply([said(3)])

    def copied() -> None:
        with store.user("alice").snapshot() as view:
            assert view.count(Turn) == 3
            proxy.cut_at(b"FROM turns", "before")
            view.count(Turn)

    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        copied()
    assert store.user("alice").count(Turn) == 3
    store.close()


def test_the_number_of_a_forgotten_transaction_is_somebody_elses(own_server: Server, database: str) -> None:
    store = opened(database)
    alice = store.user("alice")
    for _ in range(5):
        alice.apply([append(draft(id=os.urandom(4).hex()))])
        connection, (number,) = sessions(store)._begun("BEGIN; SELECT pg_current_xact_id()::text")
        known = connection.info["server"]
        own_server.restart("immediate")
        connection.invalidate()
        connection.close()
        alice.apply([append(draft(id=os.urandom(4).hex()))])
        with psycopg.connect(database, autocommit=True) as other:
            last = other.execute("SELECT pg_current_xact_id()").fetchone()
            if last is None or int(last[0]) <= int(number):
                continue  # not given out again yet
            state = other.execute("SELECT pg_xact_status(%s::text::xid8)", (number,)).fetchone()
        if state == ("committed",):
            assert not sessions(store)._was_committed(number, known)
            break
    else:
        pytest.fail("no number was given out twice")
    store.close()


def test_a_line_behind_a_pooler_that_is_cut_after_the_server_was_started_again(
    own_server: Server, database: str
) -> None:
    """The pooler keeps its clients meanwhile: a connection is of an earlier start than its transactions."""
    emptied(database)
    with psycopg.connect(database) as server:  # of the same start it then tells another time
        here = sql.Identifier(server.info.dbname)
        server.execute(sql.SQL("ALTER DATABASE {} SET TimeZone = 'Europe/Berlin'").format(here))
    pooler = Pooler(database, 1)
    proxy = Proxy(pooler.address)
    store = opened(database, pooler=proxy.url, pool=1)
    alice = store.user("alice")
    alice.apply([said(2)])
    own_server.restart("fast")
    before = alice.seq()
    proxy.cut_at(b"COMMIT", "after")
    applied = alice.apply([append(draft("tea", id="new"))])
    assert proxy.cut == 1
    assert (applied.created, applied.seq, alice.seq()) == (1, before + 1, before + 1), "done once"
    store.close()
    proxy.close()
    pooler.close()


def test_a_server_that_is_gone_for_good(
    database: str, own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 1.0)
    emptied(database)
    store = opened(database)
    store.user("alice").apply([said(1)])
    own_server.stop()
    try:
        for step in (
            lambda: store.user("alice").count(Turn),
            lambda: store.user("alice").apply([said(1)]),
            lambda: opened(database),
            store.scrub,
            store.maintain,
            store.check,
        ):
            begun = monotonic()
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                step()
            assert monotonic() - begun < 20
    finally:
        own_server.start()
    assert store.user("alice").count(Turn) >= 1
    store.close()
