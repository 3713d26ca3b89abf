"""How a file is opened: with sqlite3, or with SQLCipher under a key.

SQLCipher keeps its salt in the first 16 bytes of the file. Ours begins with a mark, so that an encrypted
memory is told from other files without its key.
"""

import importlib
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from secrets import token_bytes
from typing import Any

from recollect.errors import RecollectError, SettingsError, StoreCorrupt
from recollect.keys import Key

PAGE_SIZE = 8192
SALT_BYTES = 16
MARK = b"RCLT\x01"
"""The last byte is the version of all below: the derivation of the key and the cipher's settings."""
PLAIN = b"SQLite format 3\x00"
"""How a database that is not encrypted begins."""
NOT_OURS = "is not a Recollect database. Nothing was changed; give another path."
SET_KEY = "set RECOLLECT_KEY or RECOLLECT_KEY_FILE"


@dataclass(frozen=True)
class Driver:
    """A DB-API module, and what it must be told first on every connection."""

    module: Any
    secret: str = field(default="", repr=False)
    """The raw key and salt, as SQLCipher reads it."""

    @property
    def encrypted(self) -> bool:
        return bool(self.secret)

    @property
    def engine(self) -> str:
        return f"SQLite {self.module.sqlite_version}" + (", encrypted by SQLCipher" if self.encrypted else "")

    def connect(self, path: Path, *, read_only: bool = False, seconds: float = 5.0) -> Any:
        """A connection to the file, which must exist, outside any transaction."""
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
        connection = self.module.connect(address, uri=True, timeout=seconds, isolation_level=None)
        self.unlock(connection)
        return connection

    def unlock(self, connection: Any) -> None:
        """Before anything is read. Nothing fails here: a wrong key shows at the first read."""
        if self.secret:
            connection.execute("PRAGMA cipher_log_level = NONE")  # else it writes to standard error
            connection.execute(f'PRAGMA key = "{self.secret}"')
            connection.execute("PRAGMA cipher_compatibility = 4")  # a later default would not open the file
            connection.execute(f"PRAGMA cipher_page_size = {PAGE_SIZE}")


STANDARD = Driver(sqlite3)


def driver_for(path: Path, key: Key | None) -> Driver:
    """What opens this file; one that is empty becomes an encrypted database when there is a key."""
    if key is None:
        return STANDARD
    while not path.stat().st_size:
        driver = with_salt(key, new_salt())
        if _made(path, driver):
            return driver
    salt = salt_of(path)
    if salt == PLAIN:
        raise SettingsError(
            f"{path} is not encrypted, but a key is set: run `recollect db encrypt`, or unset RECOLLECT_KEY "
            "and RECOLLECT_KEY_FILE."
        )
    if not salt.startswith(MARK):
        raise StoreCorrupt(f"{path} {NOT_OURS}")
    return with_salt(key, salt)


def with_salt(key: Key, salt: bytes) -> Driver:
    """The key is derived here, once: SQLCipher would derive it again for every connection."""
    return Driver(sqlcipher(), f"x'{key.derive(salt).hex()}{salt.hex()}'")


def new_salt() -> bytes:
    return MARK + token_bytes(SALT_BYTES - len(MARK))


def salt_of(path: Path) -> bytes:
    """The first bytes of the file, read by the library: closing a file of our own would end its locks."""
    blind = Driver(sqlcipher(), f"x'{bytes(32).hex()}'")
    with closing(blind.connect(path, read_only=True)) as connection:
        return bytes.fromhex(connection.execute("PRAGMA cipher_salt").fetchone()[0])


def not_a_database(path: Path, error: BaseException | None) -> RecollectError:
    """What SQLite's "not a database" means of this file."""
    if not isinstance(error, sqlite3.Error) and salt_of(path).startswith(MARK):
        return SettingsError(
            f"{path} does not open with this key. Nothing was changed: {SET_KEY} to the one that it was "
            "encrypted with. If this is the one, the file is damaged: restore it from a backup."
        )
    if isinstance(error, sqlite3.Error) and _is_marked(path):
        return SettingsError(f"{path} is encrypted: {SET_KEY}.")
    return StoreCorrupt(f"{path} {NOT_OURS}")


def _is_marked(path: Path) -> bool:
    """For a file that nothing in this process has open, be SQLCipher installed or not."""
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def errors(name: str) -> tuple[type[BaseException], ...]:
    """This class of error, sqlite3's and, when it is in use, SQLCipher's."""
    modules = (sqlite3, sys.modules.get("sqlcipher3.dbapi2"))
    return tuple(getattr(module, name) for module in modules if module is not None)


@cache
def sqlcipher() -> Any:
    """SQLCipher's DB-API module."""
    try:
        return importlib.import_module("sqlcipher3.dbapi2")
    except ImportError as error:
        raise SettingsError(
            "A key is set, but encryption is not installed: run `pip install 'recollect[encryption]'`."
        ) from error


def _made(path: Path, driver: Driver) -> bool:
    """Write the first page; False when another process did so meanwhile, with a salt of its own."""
    with closing(driver.connect(path, seconds=30.0)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except driver.module.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                return False
            raise
    return True
