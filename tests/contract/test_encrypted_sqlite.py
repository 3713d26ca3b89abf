"""The store's contract, on an encrypted SQLite file."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from recollect.keys import Key
from recollect.stores.sqlite.backend import open_store as open_sqlite
from recollect.testing.store_contract import StoreContract
from recollect.testing.store_suite import Opener

CACHE_BYTES = 1 << 26
KEY = Key(b"5e" * 32)


@pytest.fixture(scope="session")
def empty_encrypted_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrated once; copying it is quicker than migrating again."""
    path = tmp_path_factory.mktemp("empty") / "recollect.db"
    open_sqlite(path, cache_bytes=CACHE_BYTES, key=KEY).close()
    return path


@pytest.fixture
def open_store(tmp_path: Path, empty_encrypted_database: Path) -> Opener:
    path = tmp_path / "memory.db"
    shutil.copyfile(empty_encrypted_database, path)
    return partial(open_sqlite, path, cache_bytes=CACHE_BYTES, key=KEY)


class TestEncryptedSqliteStore(StoreContract):
    pass
