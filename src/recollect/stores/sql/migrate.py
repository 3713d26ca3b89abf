"""Brings a database to this release's schema. Alembic is imported only when there is work to do."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Index, inspect, text

from recollect.errors import SchemaMismatch
from recollect.text.analyse import VERSION

HEAD = "0010"
"""The newest revision in `migrations/versions`."""
_VERSION = text("SELECT version_num FROM alembic_version")
_SERVES = "serves "
"""The mark of a revision, with the oldest one whose release can go on with it. One that only adds to the
schema names it as `SERVES`, so that servers need not stop while their successors are on the way."""


def version(connection: Connection) -> str | None:
    """The database's revision; None when it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(_VERSION).scalar()


def is_served(connection: Connection) -> bool:
    """Whether this release can go on with the schema as it is: it is its own, or a newer one that says so."""
    found: str = connection.execute(_VERSION).scalar_one()
    if found == HEAD:
        return True
    serves = text("SELECT value <= :ours FROM meta WHERE key = :key")
    return bool(connection.execute(serves, {"ours": int(HEAD), "key": _SERVES + found}).scalar())


def pending(connection: Connection) -> list[str]:
    """The revisions that the database has yet to go through, in order."""
    return [step.revision.revision for step in _steps(version(connection))]


def upgrade(connection: Connection, *, until: str = "", later: bool = False) -> None:
    """Create or upgrade the schema, in the transaction that was begun: to this release's, or `until` a
    revision. Indexes of tables that are in use may be left for `later`."""
    found = version(connection)
    if found is None and inspect(connection).get_table_names():
        raise SchemaMismatch("The database holds tables of something else. Give another one.")
    if found != (until or HEAD):
        _run(connection, found, until or HEAD, later)
    if found is None:  # the index of an empty database is as new as any
        mark = text("UPDATE meta SET value = :version WHERE key = 'analyser'")
        connection.execute(mark, {"version": VERSION})


def fillings(revision: str) -> Sequence[str]:
    """The statements that fill in what a revision added, each for all users, or for one when the condition
    on `chunks` says so."""
    return _script().get_revision(revision).module.FILL


def _script() -> Any:
    from alembic.script import ScriptDirectory

    logging.getLogger("alembic").setLevel(logging.WARNING)  # its steps are no news to anybody
    return ScriptDirectory(str(Path(__file__).with_name("migrations")))


def _steps(found: str | None, until: str = "") -> list[Any]:
    from alembic.util import CommandError

    try:
        return list(_script()._upgrade_revs(until or HEAD, found))
    except CommandError:
        raise SchemaMismatch(
            f"The database has schema {found}, made by a newer release than this one (schema {HEAD}). "
            "Upgrade recollect to open it."
        ) from None


def _run(connection: Connection, found: str | None, until: str, later: bool) -> None:
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    def steps(_revision: Any, _context: Any) -> list[Any]:
        return _steps(found, until)

    context = MigrationContext.configure(connection, opts={"fn": steps})
    if later:
        _leave_indexes(context, inspect(connection).get_table_names())
    with Operations.context(context):
        context.run_migrations()
    serves = getattr(_script().get_revision(until).module, "SERVES", until)
    connection.execute(text("DELETE FROM meta WHERE key LIKE :any"), {"any": f"{_SERVES}%"})
    added = text("INSERT INTO meta (key, value) VALUES (:key, :oldest)")
    connection.execute(added, {"key": _SERVES + until, "oldest": int(serves)})


def _leave_indexes(context: Any, known: Sequence[str]) -> None:
    """Make no index of a table that was there before; one that is to go may then not be there."""
    make, drop = context.impl.create_index, context.impl.drop_index

    def create_index(index: Index, **options: Any) -> None:
        if index.unique or index.table is None or index.table.name not in known:
            make(index, **options)

    def drop_index(index: Index, **options: Any) -> None:
        drop(index, **{**options, "if_exists": True})

    context.impl.create_index, context.impl.drop_index = create_index, drop_index
