"""Brings a database to this release's schema. Alembic is imported only when there is work to do."""

import logging
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from recollect.errors import SchemaMismatch
from recollect.text.analyse import VERSION

HEAD = "0009"
"""The newest revision in `migrations/versions`."""


def version(connection: Connection) -> str | None:
    """The database's revision; None when it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection) -> None:
    """Create or upgrade the schema, in the transaction that was begun."""
    found = version(connection)
    if found is None and inspect(connection).get_table_names():
        raise SchemaMismatch("The database holds tables of something else. Give another one.")
    if found != HEAD:
        _run(connection, found)
    if found is None:  # the index of an empty database is as new as any
        mark = text("UPDATE meta SET value = :version WHERE key = 'analyser'")
        connection.execute(mark, {"version": VERSION})


def _run(connection: Connection, found: str | None) -> None:
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    logging.getLogger("alembic").setLevel(logging.WARNING)  # its steps are no news to anybody
    script = ScriptDirectory(str(Path(__file__).with_name("migrations")))

    def steps(revision: Any, context: Any) -> list[Any]:
        try:
            return list(script._upgrade_revs(HEAD, revision))  # pyright: ignore[reportPrivateUsage]
        except CommandError:
            raise SchemaMismatch(
                f"The database has schema {found}, made by a newer release than this one (schema {HEAD}). "
                "Upgrade recollect to open it."
            ) from None

    context = MigrationContext.configure(connection, opts={"fn": steps})
    with Operations.context(context):
        context.run_migrations()
