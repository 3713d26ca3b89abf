"""A SQLite database of an older release is brought up to date by opening it, and loses nothing."""

import sqlite3
from pathlib import Path

import pytest

from recollect.model.changes import Put
from recollect.stores.sql import migrate
from recollect.stores.sqlite.backend import open_store
from recollect.testing.store_mining import closet
from tests.contract.older import TO_FIRST, TO_SECOND, TO_SIXTH, check_mining, fill, ranked, stored


def columns(path: Path, table: str = "chunks") -> set[str]:
    with sqlite3.connect(path) as connection:
        found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    connection.close()
    return found


def test_what_ranking_needs_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    store = open_store(path, cache_bytes=1 << 20)
    fill(store)
    before = ranked(store)
    store.close()
    with sqlite3.connect(path) as connection:
        for statement in TO_FIRST:
            connection.execute(statement)
    connection.close()
    with monkeypatch.context() as older:
        older.setattr(migrate, "HEAD", "0001")
        open_store(tmp_path / "first.db", cache_bytes=1 << 20).close()
    assert columns(path) == columns(tmp_path / "first.db")

    store = open_store(path, cache_bytes=1 << 20)
    assert ranked(store) == before
    assert {round(c.weight, 3) for c in before["alice"]} == {0.7, 0.84, 0.9, 0.96, 1.0}
    assert [c.place for c in before["alice"] if c.kind == "turn"] == [0, 0, 1]
    assert store.check() == []
    store.close()


def test_what_mining_needs_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, older = tmp_path / "memory.db", tmp_path / "second.db"
    store = open_store(path, cache_bytes=1 << 20)
    fill(store)
    before = stored(store), ranked(store)
    store.close()
    with sqlite3.connect(path) as connection:
        for statement in TO_SECOND:
            connection.execute(statement)
    connection.close()
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "HEAD", "0002")
        open_store(older, cache_bytes=1 << 20).close()
    for table in ("conversations", "memories", "entities", "closets", "spending", "links"):
        assert columns(path, table) == columns(older, table)

    store = open_store(path, cache_bytes=1 << 20)
    assert (stored(store), ranked(store)) == before
    check_mining(store)
    assert store.check() == []
    store.close()


def test_a_palace_of_an_older_release_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = open_store(path, cache_bytes=1 << 20)
    store.user("alice").apply([Put(closet(1, room, 1, 0, 3)) for room in (1, 2)])
    kept = store.user("alice").places(["_global"], None, 0, 9)
    store.close()
    with sqlite3.connect(path) as connection:
        for statement in TO_SIXTH:
            connection.execute(statement)
    connection.close()

    store = open_store(path, cache_bytes=1 << 20)
    alice = store.user("alice")
    assert alice.places(["_global"], None, 0, 9) == kept
    alice.apply([Put(closet(1, 3, 1, 0, 1))])
    (wing,) = alice.places(["_global"], None, 0, 9)
    assert (wing.rooms, wing.closets, wing.drawers) == (3, 3, 10)
    assert store.check() == []
    store.close()


def test_a_newer_schema_says_which_releases_can_go_on_with_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = open_store(path, cache_bytes=1 << 20)
    with sqlite3.connect(path, isolation_level=None) as connection:
        (mark,) = connection.execute("SELECT key FROM meta WHERE key LIKE 'serves %'").fetchall()
        assert mark == (f"serves {migrate.HEAD}",)
        connection.execute("UPDATE alembic_version SET version_num = '9998'")
        assert not store.is_current(), "it says nothing"
        connection.execute("INSERT INTO meta VALUES ('serves 9998', ?)", (int(migrate.HEAD),))
        assert store.is_current()
        connection.execute("UPDATE meta SET value = 9998 WHERE key = 'serves 9998'")
        assert not store.is_current()
    connection.close()
    store.close()
