"""What PostgreSQL has beyond the shared tables: two roles and the wall between users, partitions, the
text index."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, LargeBinary, Text

from recollect.errors import StoreUnavailable
from recollect.stores.postgres import storage, text
from recollect.stores.sql import migrate, schema

APP = "recollect_app"
"""Reads and writes the rows of the one user that the transaction names."""
WORKER = "recollect_worker"
"""Reads and writes everybody's rows: for the background's and operators' work."""

READY = "partitions"
"""The mark of a schema that is complete, with how many partitions each table has."""

PGVECTOR = (0, 8)
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
AUDIT_AHEAD = timedelta(days=7)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MEASURED = frozenset({"kind", "role"})
"""The only columns of text of which statistics are kept. Those of the others would hold what was said, and
who said it, also after it is erased."""

PARTITIONED = (*(t.name for t in schema.USER_TABLES if t not in (schema.users, schema.audit)), "texts")
KEYS = schema.api_keys.name
OWNED = (*(t.name for t in schema.USER_TABLES), "texts", KEYS)
UNWALLED = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s)
AND NOT (relrowsecurity AND relforcerowsecurity
    AND 2 = (SELECT count(*) FROM pg_policy WHERE polrelid = pg_class.oid AND polname IN ('own', 'every')))
"""
"""Tables without the wall between users."""
_SHARED = {
    "spaces": "SELECT",
    "meta": "SELECT, UPDATE",
    "erasures": "SELECT, UPDATE",
    "receipts": "INSERT",
    "unprojected": "INSERT",
}


_WHOLE_TABLES = """
SELECT quote_ident(relname) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
"""
"""Nobody needs rights on a partition: rights on its table are asked for."""


def create(connection: Connection) -> None:
    """Everything but the partitions, in the transaction that was begun."""
    run = connection.exec_driver_sql
    run("CREATE EXTENSION IF NOT EXISTS vector")
    _check_vectors(connection)
    for role in (APP, WORKER):
        _create_role(connection, role)
    migrate.upgrade(connection)
    run(text.TABLE)
    run(text.INDEX)
    for table in ("users", KEYS):
        run(_unmeasured(table))
    here: str = run("SELECT quote_ident(current_schema())").scalar_one()
    run(f"GRANT USAGE ON SCHEMA {here} TO {APP}, {WORKER}")
    build_walls(connection)
    _grant(connection)
    _create_function(connection)


def _check_vectors(connection: Connection) -> None:
    """An older pgvector would refuse to search by an index until enough is found, once there is an index."""
    version: str = connection.exec_driver_sql(_VERSION).scalar_one()
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
        raise StoreUnavailable(
            f"The server has pgvector {version}, and Recollect needs 0.8 or newer: install it there, and let "
            "a superuser run ALTER EXTENSION vector UPDATE in this database."
        )


def _grant(connection: Connection) -> None:
    """Who may do what with tables; giving it twice changes nothing."""
    run = connection.exec_driver_sql
    for table, rights in _SHARED.items():
        run(f"GRANT {rights} ON {table} TO {APP}")
    run(f"GRANT SELECT ON alembic_version TO {APP}")
    whole = ", ".join(name for (name,) in run(_WHOLE_TABLES))
    run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {whole} TO {WORKER}")


def extend(connection: Connection) -> None:
    """What a migration's new tables need, but for their partitions, which are found to be missing; and what
    this release asks the server for."""
    _check_vectors(connection)
    build_walls(connection)
    _grant(connection)
    connection.exec_driver_sql(_unmeasured(KEYS))
    _create_function(connection)
    connection.exec_driver_sql(f"DELETE FROM meta WHERE key = '{READY}'")


def build_walls(connection: Connection) -> list[str]:
    """A wall around each table that has none; which those were."""
    bare = [name for (name,) in connection.exec_driver_sql(UNWALLED, ([*OWNED],))]
    for table in bare:
        _build_wall(connection, table)
    return bare


def _unmeasured(table: str, part: str = "") -> str:
    """Keep no statistics of a table's texts and vectors: of none of its partitions, or of one. (A partition
    that is made later does not take this over.)"""
    columns = ["user_id", "terms"]
    if table != "texts":
        typed = [c.name for c in schema.metadata.tables[table].c if isinstance(c.type, (Text, LargeBinary))]
        columns = [name for name in typed if name not in _MEASURED]
    settings = ", ".join(f'ALTER "{name}" SET STATISTICS 0' for name in columns)
    return f"ALTER TABLE {part or table} {settings}"


def _create_role(connection: Connection, role: str) -> None:
    known = "SELECT 1 FROM pg_roles WHERE rolname = %s"
    if connection.exec_driver_sql(known, (role,)).first() is None:
        # All databases of a server share it, and another may just be making it.
        connection.exec_driver_sql(
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
    # Until PostgreSQL 15 every member could.
    member = (
        "SELECT pg_has_role(current_user, %s, "
        "CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)"
    )
    if not connection.exec_driver_sql(member, (role,)).scalar_one():
        connection.exec_driver_sql(f"GRANT {role} TO CURRENT_USER")


def _build_wall(connection: Connection, table: str) -> None:
    """Whatever a statement asks for, a user's transaction sees and writes that user's rows only; and keys
    it can only take away."""
    keys = table == KEYS
    own = f"{'owner' if keys else 'user_id'} = current_setting('recollect.user', true)"
    rights = "SELECT (owner), DELETE" if keys else "SELECT, INSERT, UPDATE, DELETE"
    for statement in (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON {table} TO {APP} USING ({own}) WITH CHECK ({own})",
        f"CREATE POLICY every ON {table} TO {WORKER} USING (true) WITH CHECK (true)",
        f"GRANT {rights} ON {table} TO {APP}",
    ):
        connection.exec_driver_sql(statement)


def _create_function(connection: Connection) -> None:
    here: str = connection.exec_driver_sql("SELECT quote_ident(current_schema())").scalar_one()
    name = "recollect_matches(text[], bigint)"
    for statement in (
        "DROP FUNCTION IF EXISTS recollect_matches(text[])",  # as an older release made it
        text.FUNCTION.replace("%", "%%"),
        f"ALTER FUNCTION {name} SET search_path = {here}, pg_temp",
        f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {name} TO {APP}",
        f"GRANT CREATE ON SCHEMA {here} TO {WORKER}",  # to be able to own something there
        f"ALTER FUNCTION {name} OWNER TO {WORKER}",
        f"REVOKE CREATE ON SCHEMA {here} FROM {WORKER}",
    ):
        connection.exec_driver_sql(statement, ())


def partition_steps(now: datetime) -> Iterator[list[str]]:
    """The statements that make what `create` left out, in transactions small enough for any server's
    table of locks. They may be run again."""
    for table in PARTITIONED:
        yield [
            f"CREATE TABLE IF NOT EXISTS {partition(table, n)} PARTITION OF {table} "
            f"FOR VALUES WITH (MODULUS {schema.PARTITIONS}, REMAINDER {n}){storage.with_storage(table)}"
            for n in range(schema.PARTITIONS)
        ] + [_unmeasured(table)]
    for table in storage.STORAGE:
        yield [storage.settle(table)]
    yield ["CREATE TABLE IF NOT EXISTS audit_other PARTITION OF audit DEFAULT", _unmeasured("audit")]
    yield audit_days(now)
    yield [f"INSERT INTO meta (key, value) VALUES ('{READY}', {schema.PARTITIONS}) ON CONFLICT DO NOTHING"]


def partition(table: str, number: int) -> str:
    return f"{table}_{number:02}"


PARTITION_OF = (
    "SELECT n FROM generate_series(0, %(count)s - 1) n "
    "WHERE satisfies_hash_partition('turns'::regclass, %(count)s, n, %(user)s::text)"
)
"""The number of the partition that a user's rows are in."""


def partition_key(user: str) -> dict[str, Any]:
    """The parameters of `PARTITION_OF`."""
    return {"count": schema.PARTITIONS, "user": user}


def audit_days(now: datetime) -> list[str]:
    """Partitions of the audit for today and the days ahead. What is in the way of one, because it was
    missing when it was due, is moved into it."""
    days = [now.astimezone(UTC).date() + n * _DAY for n in range(AUDIT_AHEAD.days + 1)]
    return [_audit_day(day) for day in days]


AUDIT_DAY = re.compile(r"audit_\d{8}")


def audit_name(day: date) -> str:
    """The partition of one day's audit; by name they are in order."""
    return f"audit_{day:%Y%m%d}"


def day_start(day: date) -> int:
    """As columns of times have it."""
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def _audit_day(day: date) -> str:
    name, start, stop = audit_name(day), day_start(day), day_start(day + _DAY)
    return f"""
        DO $$ BEGIN
            IF to_regclass('{name}') IS NULL THEN
                LOCK TABLE audit IN SHARE UPDATE EXCLUSIVE MODE;  -- one at a time
            END IF;
            IF to_regclass('{name}') IS NULL THEN
                CREATE TABLE {name} (LIKE audit INCLUDING ALL);
                {_unmeasured("audit", name)};
                WITH moved AS (
                    DELETE FROM audit_other WHERE at >= {start} AND at < {stop} RETURNING *
                ) INSERT INTO {name} SELECT * FROM moved;
                ALTER TABLE audit ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({stop});
            END IF;
        END $$"""
