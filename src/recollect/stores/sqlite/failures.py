"""What SQLite's errors mean."""

import sqlite3
from pathlib import Path
from types import TracebackType

from sqlalchemy.exc import DBAPIError

from recollect.errors import RecollectError, StoreCorrupt, StoreError, StoreUnavailable
from recollect.stores.sqlite.cipher import errors, not_a_database

_MEANING: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_CORRUPT: (
        StoreCorrupt,
        (
            "is damaged. Nothing was changed: restore it from a backup, or save what can be read with "
            "`recollect export`."
        ),
    ),
    sqlite3.SQLITE_FULL: (
        StoreUnavailable,
        "could not be written: the disk is full. Free some space and try again.",
    ),
    sqlite3.SQLITE_READONLY: (StoreUnavailable, "is read-only. Make the file and its folder writable."),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailable,
        "could not be opened. Check that the folder exists and may be read and written.",
    ),
    sqlite3.SQLITE_BUSY: (StoreUnavailable, "is being written by another process for too long. Try again."),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "could not be read or written by the disk. Check the disk."),
}


class translated:  # noqa: N801 - as a function is: it is entered for every statement
    """SQLite's errors in our words."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        match error:
            case None:
                return
            case DBAPIError():
                raise _error(self._path, error.orig) from error
            case OSError():
                raise StoreUnavailable(f"{self._path} could not be opened: {error.strerror}.") from error
            case _ if isinstance(error, errors("Error")):
                raise _error(self._path, error) from error
            case _:
                return


def _error(path: Path, error: BaseException | None) -> RecollectError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_database(path, error)
    if not code and isinstance(error, errors("OperationalError")):
        code = sqlite3.SQLITE_CORRUPT  # Python's own: stored text that is not UTF-8
    kind, message = _MEANING.get(code, (StoreError, f"failed: {error}."))
    return kind(f"{path} {message}")
