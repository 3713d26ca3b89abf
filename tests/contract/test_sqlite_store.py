"""The store's contract, on SQLite."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from recollect.stores.sqlite.backend import open_store as open_sqlite
from recollect.testing.store_contract import StoreContract
from recollect.testing.store_suite import Opener

CACHE_BYTES = 1 << 26


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrated once; copying it is quicker than migrating again."""
    path = tmp_path_factory.mktemp("empty") / "recollect.db"
    open_sqlite(path, cache_bytes=CACHE_BYTES).close()
    return path


@pytest.fixture
def open_store(tmp_path: Path, empty_database: Path) -> Opener:
    path = tmp_path / "memory.db"
    shutil.copyfile(empty_database, path)
    return partial(open_sqlite, path, cache_bytes=CACHE_BYTES)


class TestSqliteStore(StoreContract):
    pass


def test_no_test_of_the_suite_hides_another() -> None:
    names = [name for part in StoreContract.__bases__ for name in vars(part) if name.startswith("test_")]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))
