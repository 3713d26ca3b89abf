"""PostgreSQL's errors in our words."""

import re

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from recollect.errors import StoreCorrupt, StoreError, StoreMissing, StoreUnavailable


class NoAnswer(psycopg.OperationalError):
    """The server said nothing for too long."""

    sqlstate = "08S01"


FAILURES = (DBAPIError, PoolTimeout, psycopg.Error)
"""What the driver and the pool raise."""

_AGAIN = ("40001", "40P01")
"""Serialization failure and deadlock: the same work may succeed when it is run again."""
_GONE = ("08", "57P01", "57P02", "57P03")

_MEANING: dict[str, tuple[type[StoreError], str]] = {
    "08": (StoreUnavailable, "cannot be reached. Check that it runs and that the address is right."),
    "08S01": (
        StoreUnavailable,
        "does not answer. Check the server and the line to it, or raise RECOLLECT_DB_TIMEOUT.",
    ),
    "08P01": (
        StoreUnavailable,
        "is a pooler. Set RECOLLECT_DB to the server's own address, and RECOLLECT_DB_POOLER to this one.",
    ),
    "57P": (StoreUnavailable, "is shutting down or starting up. Try again in a moment."),
    "57014": (StoreUnavailable, "took too long. Try again, or raise RECOLLECT_DB_TIMEOUT."),
    "25P03": (StoreUnavailable, "was kept waiting for too long. Try again, or raise RECOLLECT_DB_TIMEOUT."),
    "55P03": (StoreUnavailable, "is held by another transaction for too long. Try again."),
    "25006": (StoreUnavailable, "is read-only. Connect to the primary server."),
    "28": (StoreUnavailable, "refuses the login. Check the user and the password."),
    "3D": (StoreMissing, "does not exist yet. Make it with `recollect db create`."),
    "3F": (
        StoreUnavailable,
        (
            "has no such schema. Make it (CREATE SCHEMA …), or correct search_path in the address: "
            "?options=-csearch_path%3DNAME."
        ),
    ),
    "42501": (
        StoreUnavailable,
        (
            "does not let this login do that. Let its owner run `recollect db create`, then "
            "GRANT recollect_app, recollect_worker TO the login."
        ),
    ),
    "42704": (
        StoreUnavailable,
        (
            "does not find the types of pgvector: the extension is in a schema that search_path does not "
            "name. Name it there too, as in ?options=-csearch_path%3Drecollect,public."
        ),
    ),
    "0A000": (
        StoreUnavailable,
        "lacks what Recollect needs: PostgreSQL 15 or newer with the extension pgvector 0.8 or newer.",
    ),
    "58P01": (
        StoreUnavailable,
        "lacks the extension pgvector. Install it on the server (package postgresql-NN-pgvector).",
    ),
    "53100": (StoreUnavailable, "could not be written: its disk is full. Free some space and try again."),
    "53300": (StoreUnavailable, "has no connection left. Raise max_connections or lower RECOLLECT_DB_POOL."),
    "53": (StoreUnavailable, "is short of resources. Try again."),
    "40": (StoreUnavailable, "is too busy with changes to the same rows. Try again."),
    "58": (StoreUnavailable, "could not be read or written by its disk. Check the server's log."),
    "XX001": (StoreCorrupt, "is damaged. Restore it from a backup."),
    "XX002": (StoreCorrupt, "has a damaged index. Run REINDEX on the server."),
}


# While connecting, the driver passes on what the server said, but not its state.
_SAID: tuple[tuple[str, str], ...] = (
    ("unsupported startup parameter", "08P01"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
    ("recovery mode", "57P03"),
    ("too many clients", "53300"),
    ("connection slots", "53300"),
    ("authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("pg_hba.conf", "28000"),
    ("permission denied for database", "42501"),
)
_NO_DATABASE = re.compile('database ".*" does not exist')
_NO_ROLE = re.compile('role ".*" does not exist')


def _state(error: BaseException) -> str:
    """The five letters by which PostgreSQL names what went wrong."""
    if isinstance(error, StoreError):
        return "" if error.__cause__ is None else _state(error.__cause__)
    cause = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(cause, "sqlstate", None)
    if state or not isinstance(cause, psycopg.OperationalError):
        return state or ""
    said = str(cause)
    if _NO_DATABASE.search(said):
        return "3D000"
    if _NO_ROLE.search(said):
        return "28000"
    return next((state for words, state in _SAID if words in said), "08006")


def connection_lost(error: BaseException) -> bool:
    return _state(error).startswith(_GONE)


def starting(error: BaseException) -> bool:
    """Whether the server is there, but not yet ready, or for the last time."""
    return _state(error) == "57P03"


def may_pass(error: BaseException) -> bool:
    """Whether the same work may succeed when it is run again."""
    return connection_lost(error) or _state(error) in _AGAIN


def translated(error: BaseException, where: str) -> StoreError:
    """The failure with what to do about it; `where` is the database's address without its password."""
    if isinstance(error, PoolTimeout):
        return StoreUnavailable(
            f"{where}: all connections are in use. Try again, or raise RECOLLECT_DB_POOL."
        )
    state = _state(error)
    for length in (5, 3, 2):
        if found := _MEANING.get(state[:length]):
            kind, message = found
            return kind(f"{where} {message}{_detail(error, state)}")
    return StoreError(
        f"{where} failed with the error {state or type(error).__name__}{_detail(error, state)}."
    )


def no_schema(where: str, search_path: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"{where} has no schema of those that its search_path names: {search_path}. Make it (CREATE SCHEMA "
        "…), or correct the address: ?options=-csearch_path%3DNAME."
    )


def lacks_right(error: BaseException) -> bool:
    return _state(error) == "42501"


def _detail(error: BaseException, state: str) -> str:
    """What the server said, where it says more than we do and cannot hold content."""
    return f" ({first_line(error)})" if state[:2] in ("08", "28", "3D", "3F", "42", "0A", "58", "XX") else ""


def first_line(error: BaseException) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(cause).strip().partition("\n")[0].rstrip(".")
