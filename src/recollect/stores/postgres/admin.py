"""What operators do to a database from outside: make it, look at it, bring it up to date."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import URL

from recollect.stores.postgres import failures, session
from recollect.stores.postgres.backend import Options, PostgresBackend, open_store

__all__ = ["Options", "address", "create_database", "open_store", "upgrade", "version"]

MAINTENANCE = "postgres"
"""The database that every server has."""


def address(url: str) -> str:
    """The database's address, without its password."""
    return session.address(session.parsed(url))


def create_database(url: str) -> bool:
    """Make an empty database of that name; False when there is one already."""
    target = session.parsed(url)
    with _connected(target.set(database=MAINTENANCE)) as connection:
        known = connection.execute("SELECT FROM pg_database WHERE datname = %s", (target.database,))
        if known.fetchone() is not None:
            return False
        name = sql.Identifier(target.database or "")
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
    return True


def version(url: str) -> str | None:
    """The schema's version; None when there is none yet."""
    with _connected(session.parsed(url)) as connection:
        known = connection.execute("SELECT to_regclass('alembic_version')").fetchone()
        if known is None or known[0] is None:
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return row[0] if row else None


def upgrade(url: str, options: Options) -> None:
    """Bring the schema to this release's; make it when there is none."""
    backend = PostgresBackend(url, options)
    try:
        backend.prepare(upgrade=True)
    finally:
        backend.close()


@contextmanager
def _connected(url: URL) -> Generator[psycopg.Connection[Any]]:
    """A plain connection, whose failures are told in our words."""
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with psycopg.connect(plain, autocommit=True, connect_timeout=session.CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.Error as error:
        raise failures.translated(error, session.address(url)) from error
