"""A SQLite database of an older release is brought up to date by opening it, and loses nothing."""

import sqlite3
from pathlib import Path

import pytest

from recollect.stores.sql import migrate
from recollect.stores.sqlite.backend import open_store
from tests.contract.older import TO_FIRST, TO_SECOND, check_mining, fill, ranked, stored


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
