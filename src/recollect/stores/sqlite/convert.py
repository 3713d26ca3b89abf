"""Encrypts, decrypts or rekeys a file: a copy is written beside it, checked, and put in its place.

Killed at any moment, the path holds the old database or the new one, whole.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect.errors import NotFound, SchemaMismatch, StoreCorrupt, StoreUnavailable
from recollect.keys import Key
from recollect.stores.sqlite.backend import open_here
from recollect.stores.sqlite.cipher import (
    MARK,
    NOT_OURS,
    PAGE_SIZE,
    PLAIN,
    Driver,
    driver_for,
    new_salt,
    salt_of,
    sqlcipher,
    with_salt,
)
from recollect.stores.sqlite.failures import translated

PATIENCE_SECONDS = 2.0
BLOCK = 1 << 20


def convert(path: Path, old: Key | None, new: Key | None) -> bool:
    """Put the database under another key, or none; False when it is under that one already.

    Refused while anybody has it open. The bytes of the old file are overwritten.
    """
    path = path.resolve()
    if not path.is_file() or not path.stat().st_size:
        raise NotFound(f"There is no database at {path} yet; the first `recollect record` makes it.")
    if open_here(path):
        raise _in_use(path)
    plain = Driver(sqlcipher())  # one library reads the old file and writes the new one
    with translated(path):
        if _is_under(path, new):
            return False
        source = plain if old is None else driver_for(path, old)
    target = plain if new is None else with_salt(new, new_salt())
    with translated(path), closing(source.connect(path, seconds=PATIENCE_SECONDS)) as connection:
        _take(path, connection)
        _replace(path, connection, target)
    return True


def _is_under(path: Path, key: Key | None) -> bool:
    """Whether the file is encrypted with this key, or not at all when there is none."""
    salt = salt_of(path)
    if salt != PLAIN and not salt.startswith(MARK):
        raise StoreCorrupt(f"{path} {NOT_OURS}")
    if key is None or salt == PLAIN:
        return key is None and salt == PLAIN
    with closing(with_salt(key, salt).connect(path)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlcipher().DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                return False
            raise
    return True


def _take(path: Path, connection: Any) -> None:
    """Have the file alone, all of it in one piece, until the connection is closed."""
    try:
        connection.execute("PRAGMA temp_store = MEMORY")
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("PRAGMA main.locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")  # the lock stays
        (still,) = connection.execute("PRAGMA main.journal_mode").fetchone()
    except sqlcipher().OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise _in_use(path) from None
        raise
    if (mode, still) != ("delete", "delete"):
        raise _in_use(path)
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
        raise SchemaMismatch(f"{path} holds tables of something else. Give another path.")


def _replace(path: Path, connection: Any, target: Driver) -> None:
    beside = path.with_name(path.name + ".converting")
    beside.unlink(missing_ok=True)  # of one that was killed
    beside.touch(mode=0o600)
    try:
        _copy(connection, beside, target)
        _verify(beside, target)
        beside.chmod(path.stat().st_mode & 0o777)
        _flush(beside)
        with path.open("r+b") as old:  # closed last: closing it ends the lock
            beside.replace(path)
            _flush(path.parent)
            _overwrite(old.fileno())
            connection.close()
    finally:
        beside.unlink(missing_ok=True)


def _copy(connection: Any, beside: Path, target: Driver) -> None:
    connection.execute("ATTACH ? AS copy KEY ?", (str(beside), target.secret))
    if target.encrypted:
        connection.execute("PRAGMA copy.cipher_compatibility = 4")
    connection.execute(f"PRAGMA copy.{'cipher_' if target.encrypted else ''}page_size = {PAGE_SIZE}")
    connection.execute("PRAGMA copy.journal_mode = OFF")  # a copy that fails is thrown away
    connection.execute("SELECT sqlcipher_export('copy')")
    tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0"
    for (name,) in connection.execute(tables).fetchall():
        here, there = (
            connection.execute(f'SELECT count(*) FROM {where}."{name}"').fetchone()
            for where in ("main", "copy")
        )
        if here != there:
            raise StoreCorrupt(
                f"The copy lacks rows of {name}. Nothing was changed: run `recollect db check`."
            )
    connection.execute("DETACH copy")


def _verify(beside: Path, target: Driver) -> None:
    with closing(target.connect(beside, read_only=True)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
    if found != [("ok",)]:
        raise StoreCorrupt("The copy is not sound. Nothing was changed: run `recollect db check`.")


def _flush(path: Path) -> None:
    if path.is_dir() and os.name != "posix":  # a folder cannot be flushed elsewhere
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _overwrite(file: int) -> None:
    """Whoever opened the old file and waits for it then finds no database, instead of one that is gone."""
    left = os.fstat(file).st_size
    while left > 0:
        left -= os.write(file, b"\xff" * min(left, BLOCK))
    os.fsync(file)


def _in_use(path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        f"{path} is in use. Nothing was changed: close everything that has it open, then try again."
    )
