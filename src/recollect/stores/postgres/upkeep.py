"""What is done to the database now and then, with the rights of its owner: bytes of what was erased,
partitions for the days to come, indexes for very large users, soundness."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic, sleep

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from recollect.errors import StoreUnavailable
from recollect.stores.postgres import objects, online
from recollect.stores.postgres.session import unhurried
from recollect.stores.sql import schema

SCRUB_PATIENCE = 2.0
"""Seconds that a scrub waits for others before it gives way."""

AUDIT_PATIENCE = 0.5
"""Seconds that making and dropping days of the audit waits for others; who writes waits as long."""

_UNPARTITIONED = ("users", "api_keys")
_AUDIT_PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit'::regclass"

_OWNS = """
SELECT bool_and(pg_has_role(current_user, relowner, 'USAGE')) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%s)
"""

_OTHERS = """
SELECT virtualtransaction FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'virtualxid' AND granted AND datname = current_database() AND pid <> pg_backend_pid()
"""

_LARGE = """
SELECT u.user_id, u.number, s.id AS space, s.dimensions
FROM users u, spaces s WHERE u.documents > %s AND s.active
"""
_INDEXES = """
SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname ~ '^large_[0-9]+_[0-9]+$' AND c.relnamespace = current_schema()::regnamespace
"""
OWNER = "hashtextextended(%(user)s::text, 0)"
"""What an index of one user names its owner by. Their name would stay in the catalogue when they are
erased, and cannot be scrubbed there."""
LARGEST_INDEXED = 4000
"""Dimensions that pgvector indexes at most, of 16 bits each."""
CARE = 128
"""How widely each vector's neighbours are looked for while an index is made. With pgvector's 64 whole
groups of vectors that are like one another cannot be reached from others: of 200,000 in 200 groups .98 of
the nearest ten are found however widely one searches, with this all of them."""


def scrub(connection: Connection, number: int) -> bool:
    """Write the tables of a partition anew. Vacuum alone frees the rows, but leaves their bytes in the
    pages until others are written over them."""
    run = connection.exec_driver_sql
    unhurried(connection)
    run(f"SET lock_timeout = '{SCRUB_PATIENCE}s'")
    audit = [name for (name,) in run(_AUDIT_PARTITIONS)]
    tables = [*(objects.partition(t, number) for t in objects.PARTITIONED), *_UNPARTITIONED, *audit]
    if not run(_OWNS, (tables,)).scalar():  # the server would merely warn, and leave the bytes
        raise StoreUnavailable(
            "Only the owner of the database's tables can scrub them: run `recollect tend` as that login."
        )
    if not _nobody_sees_the_old(connection):
        return False
    try:
        for table in tables:
            run(f"VACUUM (FULL) {table}")
    except OperationalError as error:
        if isinstance(error.orig, LockNotAvailable):
            return False
        raise
    return True


def _nobody_sees_the_old(connection: Connection) -> bool:
    """Whether all that could still see what was erased have ended: for them the server keeps it, whichever
    tables they read. Twice, as those who begin while one of them lasts may see what it sees."""
    end = monotonic() + SCRUB_PATIENCE
    for _ in range(2):
        before = {name for (name,) in connection.exec_driver_sql(_OTHERS)}
        while before:
            if monotonic() > end:
                return False
            sleep(0.02)
            before &= {name for (name,) in connection.exec_driver_sql(_OTHERS)}
    return True


def drop_audit(connection: Connection, before: datetime) -> int:
    """Drop the audit of whole days before this one; how many days, and entries of days that have no partition
    of their own, such as imported ones. Gives way to whoever is reading it: all who come after would wait
    for them too."""
    run = connection.exec_driver_sql
    day = before.astimezone(UTC).date()
    parts = [name for (name,) in run(_AUDIT_PARTITIONS) if objects.AUDIT_DAY.fullmatch(name)]
    done = 0
    with _patient(connection, AUDIT_PATIENCE):
        for name in sorted(name for name in parts if name < objects.audit_name(day)):
            run(f"DROP TABLE IF EXISTS {name}")
            done += 1
        done += run(f"DELETE FROM audit_other WHERE at < {objects.day_start(day)}").rowcount
    return done


def make_audit_days(connection: Connection, now: datetime) -> None:
    """Partitions for the days to come; those that somebody is in the way of are made another time."""
    with _patient(connection, AUDIT_PATIENCE):
        for statement in objects.audit_days(now):
            connection.exec_driver_sql(statement)


@contextmanager
def _patient(connection: Connection, seconds: float) -> Generator[None]:
    """Wait for others only so long, and then leave it."""
    unhurried(connection)
    connection.exec_driver_sql(f"SET lock_timeout = '{seconds}s'")
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.orig, LockNotAvailable):
            raise


def large_index(number: int, space: int) -> str:
    """The name of the index of one very large user. It tells nothing of who that is."""
    return f"large_{number}_{space}"


def index_large_users(connection: Connection, over: int) -> int:
    """Give each user with more chunks than this an index of their own, without keeping anybody from
    writing, and drop those that are not needed any more; how many were made or dropped."""
    run = connection.exec_driver_sql
    unhurried(connection)
    large = {large_index(row.number, row.space): row for row in run(_LARGE, (over,))}
    large = {name: row for name, row in large.items() if row.dimensions <= LARGEST_INDEXED}
    known = {row.name: row.valid for row in run(_INDEXES)}
    # One that is not valid was left behind when its making was cut off.
    gone = [name for name, valid in known.items() if name not in large or not valid]
    for name in gone:
        run(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    new = [name for name in large if name not in known or name in gone]
    for name in new:
        row = large[name]
        user: int = run(f"SELECT {OWNER}", {"user": row.user_id}).scalar_one()
        number: int = run(objects.PARTITION_OF, objects.partition_key(row.user_id)).scalar_one()
        run(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {objects.partition('vectors', number)} "
            f"USING hnsw ((vector::halfvec({row.dimensions})) halfvec_ip_ops) "
            f"WITH (ef_construction = {CARE}) "
            f"WHERE hashtextextended(user_id, 0) = {user} AND space = {row.space}"
        )
        run(f"ALTER INDEX {name} ALTER 1 SET STATISTICS 0")
    return len(gone) + len(new)


_DISAGREEMENTS = {
    "chunks are not in the text index: run `recollect rebuild text`.": (
        "SELECT user_id, doc FROM chunks EXCEPT SELECT user_id, doc FROM texts"
    ),
    "texts in the index belong to no chunk: run `recollect rebuild text`.": (
        "SELECT user_id, doc FROM texts EXCEPT SELECT user_id, doc FROM chunks"
    ),
}
_ROLES = "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND (rolsuper OR rolbypassrls)"
_BROKEN = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace AND c.relname NOT LIKE 'ix\\_%%'
"""
_SHARED_NUMBERS = "SELECT count(*) - count(DISTINCT number) FROM users"
_PARTS = """
SELECT inhparent::regclass::text, count(*) FROM pg_inherits
WHERE inhparent = ANY(%s::regclass[]) GROUP BY 1 HAVING count(*) <> %s
"""


def problems(connection: Connection) -> Iterator[str]:
    run = connection.exec_driver_sql
    for what, statement in _DISAGREEMENTS.items():
        if count := run(f"SELECT count(*) FROM ({statement}) AS different").scalar():
            yield f"{count:,} {what}"
    for (name,) in run(objects.UNWALLED, ([*objects.OWNED],)):
        yield f"The table {name} has no wall between users: its row-level security was changed."
    for (name,) in run(_ROLES, ([objects.APP, objects.WORKER],)):
        yield f"The role {name} is above row-level security: take SUPERUSER and BYPASSRLS from it."
    for (name,) in run(_BROKEN):
        yield f"The index {name} is not valid: run `recollect tend`, or REINDEX it."
    for index in online.missing_indexes(connection):
        yield f"The index {index.name} is not there or not finished: run `recollect db migrate`."
    if count := run(_SHARED_NUMBERS).scalar():
        yield f"{count:,} users share their number with another: restore the table users from a backup."
    for name, count in run(_PARTS, ([*objects.PARTITIONED], schema.PARTITIONS)):
        yield f"The table {name} has {count} partitions instead of {schema.PARTITIONS}."
