"""A database that is in use is brought up to date without stopping who uses it.

A change of a table waits for others only so long, because all who come after it wait with it; then it gives
way and is tried again. An index is made partition by partition beside those who write, and what a revision
fills in is filled in user by user. What was cut off is found to be missing, and gone on with.
"""

import time
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

from psycopg.errors import DeadlockDetected, LockNotAvailable
from sqlalchemy import Connection, Index
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateIndex

from recollect.errors import StoreUnavailable
from recollect.stores.postgres import objects
from recollect.stores.sql import migrate, schema

LOCK_SECONDS = 0.5
"""How long a change of a table waits for others; who comes after it waits as long."""
PAUSES = (0.1, 0.2, 0.5, 1.0)
"""Seconds in which others get through before it is tried again; the last of them again and again."""
PATIENCE = 600.0
"""Seconds for which it is tried."""
PAGE = 100

_INDEXES = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace
"""
_PARTS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY 1"
_COVERED = """
SELECT i.indrelid::regclass::text FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid
WHERE h.inhparent = %s::regclass
"""
_USERS = "SELECT user_id FROM users WHERE user_id > %s ORDER BY user_id LIMIT %s"
_FILLING = "fill "
_IN_THE_WAY = """
SELECT string_agg(DISTINCT format('%%s (%%s)', coalesce(nullif(application_name, ''), usename), pid), ', ')
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'relation' AND l.granted AND a.datname = current_database()
    AND pid <> pg_backend_pid() AND a.xact_start < clock_timestamp() - interval '10 s'
"""


def upgrade(connection: Connection) -> None:
    """Take the schema through its revisions, each at once or not at all. What the new tables need comes with
    the last of them: until then nobody has a right to them."""
    steps = migrate.pending(connection)
    for revision in steps:
        last = revision == steps[-1]

        def step(revision: str = revision, last: bool = last) -> None:
            migrate.upgrade(connection, until=revision, later=True)
            if last:
                objects.extend(connection)

        patiently(connection, step)


def finish(connection: Connection) -> None:
    """Make the indexes that are missing and fill in what a revision left to be filled in."""
    for index in missing_indexes(connection):
        _make(connection, index)
    _fill(connection)


def patiently(connection: Connection, work: Callable[[], Any]) -> None:
    """`work` in a transaction that gives way to others, tried again and again."""
    run = connection.exec_driver_sql
    begun, pauses = time.monotonic(), chain(PAUSES, repeat(PAUSES[-1]))
    while True:
        run("BEGIN")
        run(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        try:
            work()
        except OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable | DeadlockDetected):
                raise
            run("ROLLBACK")
            if time.monotonic() - begun > PATIENCE:
                who: str | None = run(_IN_THE_WAY).scalar()
                raise StoreUnavailable(
                    f"The schema could not be changed for {PATIENCE:g} s: the tables are in use by "
                    f"{who or 'others'}. End what takes so long, and run `recollect db migrate` again."
                ) from error
            time.sleep(next(pauses))
        else:
            run("COMMIT")
            return


def missing_indexes(connection: Connection) -> list[Index]:
    """Those of the schema that are not there, or not finished."""
    found = {name for name, valid in connection.exec_driver_sql(_INDEXES) if valid}
    indexes = [index for table in schema.metadata.sorted_tables for index in table.indexes]
    return [index for index in indexes if not index.unique and index.name not in found]


def _make(connection: Connection, index: Index) -> None:
    run, table, name = connection.exec_driver_sql, str(index.table), str(index.name)
    if table not in (*objects.PARTITIONED, schema.audit.name):
        _make_beside(connection, index, name, table)
        return
    # An index of the table itself, of none of its partitions; it is valid once each has its part of it.
    patiently(connection, lambda: run(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {_of(connection, index)}"))
    covered = {part for (part,) in run(_COVERED, (name,))}
    for (part,) in run(_PARTS, (table,)).all():
        if part not in covered:
            own = f"{name}{part.removeprefix(table)}"
            _make_beside(connection, index, own, part)
            patiently(connection, lambda own=own: run(f"ALTER INDEX {name} ATTACH PARTITION {own}"))


def _make_beside(connection: Connection, index: Index, name: str, part: str) -> None:
    """Make an index while others write. One that is not valid was left behind when its making was cut off."""
    run = connection.exec_driver_sql
    if run(f"{_INDEXES} AND c.relname = %s AND NOT i.indisvalid", (name,)).first():
        run(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    run(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {_of(connection, index, part)}")


def _of(connection: Connection, index: Index, part: str = "") -> str:
    """What of which table an index is of."""
    made = str(CreateIndex(index).compile(dialect=connection.dialect))
    return f"{part or index.table} {made.partition(f' ON {index.table} ')[2]}".replace("%", "%%")


def _fill(connection: Connection) -> None:
    run = connection.exec_driver_sql
    for (key,) in run("SELECT key FROM meta WHERE key LIKE %s ORDER BY key", (f"{_FILLING}%",)).all():
        statements = migrate.fillings(key.removeprefix(_FILLING))
        last = ""
        while users := [row.user_id for row in _as_worker(connection, [_USERS], (last, PAGE))]:
            last = users[-1]
            for user in users:
                own = [f"{statement} AND chunks.user_id = %s" for statement in statements]
                _as_worker(connection, own, (user,))
        run("DELETE FROM meta WHERE key = %s", (key,))


def _as_worker(connection: Connection, statements: Sequence[str], values: tuple[Any, ...]) -> list[Any]:
    """What statements find with the workers' rights: the wall keeps everybody else from others' rows, the
    owner of the tables included."""
    run = connection.exec_driver_sql
    run(f"BEGIN; SET LOCAL ROLE {objects.WORKER}")
    answers = [run(statement, values) for statement in statements]
    rows = [row for answer in answers if answer.returns_rows for row in answer]
    run("COMMIT")
    return rows
