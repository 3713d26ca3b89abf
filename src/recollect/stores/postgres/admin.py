"""What operators do to a database from outside: make it, look at it, bring it up to date."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from sqlalchemy import URL

from recollect.errors import StoreError, StoreMissing, StoreUnavailable
from recollect.stores.postgres import failures, session
from recollect.stores.postgres.backend import Options, PostgresBackend, open_store
from recollect.stores.postgres.line import Line

__all__ = ["Options", "address", "create_database", "most_connections", "open_store", "upgrade", "version"]

_MOST = """
SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)::int FROM pg_settings
WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')
"""
MAINTENANCE = "postgres"
"""The database that every server has."""


def address(url: str) -> str:
    """The database's address, without its password."""
    return session.address(session.parsed(url))


def create_database(url: str) -> bool:
    """Make an empty database of that name; False when there is one already."""
    target = session.parsed(url)
    try:
        with _connected(target):
            return False
    except StoreMissing:
        _create(target)
    return True


def _create(target: URL) -> None:
    where, name = session.address(target), sql.Identifier(target.database or "")
    try:
        with _connected(target.set(database=MAINTENANCE)) as connection:
            connection.silence = None  # copying the template takes as long as it does
            connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
    except StoreError as error:
        if isinstance(error.__cause__, psycopg.errors.DuplicateDatabase):  # somebody else made it just now
            return
        if not isinstance(error, StoreMissing) and not failures.lacks_right(error):
            raise
        login = sql.Identifier(target.username).as_string() if target.username else "LOGIN"
        raise StoreUnavailable(
            f"{where} does not exist, and this login may not make it: it lacks the right CREATEDB. Let "
            f"a superuser run CREATE DATABASE {name.as_string()} OWNER {login}, or ALTER ROLE {login} "
            "CREATEDB; then run `recollect db create` again."
        ) from error


def version(url: str) -> str | None:
    """The schema's version; None when there is none yet."""
    where = session.parsed(url)
    with _connected(where) as connection:
        here, search_path, known = _row(
            connection,
            "SELECT current_schema(), current_setting('search_path'), to_regclass('alembic_version')",
        )
        if here is None:
            raise failures.no_schema(session.address(where), search_path)
        return _row(connection, "SELECT max(version_num) FROM alembic_version")[0] if known else None


def most_connections(url: str) -> int:
    """How many connections the server has room for, less those that it keeps for superusers."""
    with _connected(session.parsed(url)) as connection:
        return _row(connection, _MOST)[0]


def _row(connection: Line, statement: LiteralString) -> tuple[Any, ...]:
    return connection.execute(statement).fetchone() or ()


def upgrade(url: str, options: Options) -> None:
    """Bring the schema to this release's; make it when there is none."""
    backend = PostgresBackend(url, options)
    try:
        backend.prepare(upgrade=True)
    finally:
        backend.close()


@contextmanager
def _connected(url: URL) -> Generator[Line]:
    """A plain connection, whose failures are told in our words."""
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with Line.connect(plain, autocommit=True, connect_timeout=session.CONNECT_SECONDS) as connection:
            connection.silence = session.CONNECT_SECONDS
            yield connection
    except psycopg.Error as error:
        raise failures.translated(error, session.address(url)) from error
