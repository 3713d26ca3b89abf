"""A server that is there and says nothing: it stopped, or something between swallows what is sent."""

from time import monotonic

import psycopg
import pytest
from sqlalchemy import Connection

from recollect import Memory, StoreUnavailable
from recollect.model.records import Turn
from recollect.stores.postgres import admin, session
from recollect.testing.store_samples import append, draft, said
from tests.contract.postgres import opened
from tests.contract.postgres_proxy import Proxy

pytestmark = pytest.mark.engine

TIMEOUT = 3.0
BIT = 20.0
"""What it may take beyond that, most of it for a slow machine."""


@pytest.mark.parametrize("words", [b"BEGIN ISOLATION", b"recollect_matches"])
def test_a_recall_ends_with_the_reason(proxy: Proxy, words: bytes) -> None:
    with Memory.open(proxy.url, embedder="hashing", db_timeout=TIMEOUT) as memory:
        alice = memory.scope("alice")
        alice.record("user", "Tea is at four")
        assert alice.recall("When is tea?").hits
        proxy.cut_at(words, "swallow")
        begun = monotonic()
        found = alice.recall("When is tea?")
        assert TIMEOUT < monotonic() - begun < TIMEOUT + BIT
        assert proxy.cut == 1
        assert not found.hits
        assert "does not answer" in str(found.problems)
        proxy.swallows.clear()
        assert alice.recall("When is tea?").hits, "and goes on when the server does"


def test_a_write_ends_with_the_reason_and_is_done_once(proxy: Proxy) -> None:
    store = opened(proxy.url, timeout=TIMEOUT)
    alice = store.user("alice")
    alice.apply([said(1)])
    proxy.cut_at(b"COMMIT", "swallow")
    begun = monotonic()
    with pytest.raises(StoreUnavailable):
        alice.apply([append(draft("tea", id="new"))])
    assert monotonic() - begun < 2 * TIMEOUT + BIT, "it also asks how the commit ended"
    proxy.swallows.clear()
    alice.apply([append(draft("tea", id="new"))])
    assert alice.count(Turn) == 2
    store.close()


def test_opening_and_looking_end_with_the_reason(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CONNECT_SECONDS", 2)
    for words in (b"user\0", b"to_regclass"):
        proxy.swallows.clear()
        proxy.cut_at(words, "swallow")
        begun = monotonic()
        with pytest.raises(StoreUnavailable):
            admin.version(proxy.url)
        with pytest.raises(StoreUnavailable):
            opened(proxy.url, timeout=TIMEOUT)
        assert monotonic() - begun < 2 * (TIMEOUT + BIT)


def test_what_takes_long_is_not_taken_for_silence(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends it and says so; work with no limit is waited for."""
    monkeypatch.setattr(session, "GRACE", 3.0)
    store = opened(database, timeout=3.0)
    sessions = store._backend._sessions  # type: ignore[attr-defined]

    def slow(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_sleep(8)")

    def unhurried(connection: Connection) -> bool:
        session.unhurried(connection)
        slow(connection)
        return True

    with pytest.raises(StoreUnavailable, match="took too long"):
        sessions.apart(slow)
    assert sessions.apart(unhurried)
    store.close()


def test_an_answer_that_comes_in_pieces_is_no_silence(database: str) -> None:
    with session.Line.connect(database, autocommit=True) as line:
        line.silence = 3.0
        rows = line.execute(
            "SELECT repeat('x', 100000), pg_sleep(0.25) FROM generate_series(1, 20)"
        ).fetchall()
        assert len(rows) == 20
        with pytest.raises(psycopg.OperationalError, match="no answer for 3 s"):
            line.execute("SELECT pg_sleep(10)")
        assert line.closed
