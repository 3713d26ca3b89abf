"""How many bytes each table has, with its indexes."""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

_TABLES = """
SELECT coalesce(inhparent::regclass::text, c.relname) AS name, sum(pg_total_relation_size(c.oid))::bigint
FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' GROUP BY 1 ORDER BY 2 DESC
"""
_SERVING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
_PAGES = """
SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat s LEFT JOIN sqlite_master m USING (name)
WHERE s.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC
"""


def server_bytes(address: str) -> dict[str, int]:
    from recollect.bench.postgres import connected

    with connected(address) as connection:
        return dict(connection.execute(_TABLES.encode()).fetchall())


@contextmanager
def serving(address: str) -> Generator[Callable[[], Sequence[int]]]:
    """What tells the processes of the server that work in this database."""
    from recollect.bench.postgres import connected

    with connected(address) as connection:
        yield lambda: [pid for (pid,) in connection.execute(_SERVING).fetchall()]


def file_bytes(path: Path) -> dict[str, int]:
    """By table where this SQLite can tell; else of the file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try:
            return dict(connection.execute(_PAGES).fetchall())
        except sqlite3.OperationalError:
            return {"file": path.stat().st_size}
