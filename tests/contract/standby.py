"""A hot standby of a server of the tests' own, which streams from it."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
from sqlalchemy import make_url

from tests.contract.postgres import Server


class Standby:
    """Made by pg_basebackup, beside its primary and on a socket of its own."""

    def __init__(self, primary: Server, folder: Path) -> None:
        self._primary = primary
        self._folder, self._data = folder, folder / "data"
        source = ("-h", str(make_url(primary.address).query["host"]), "-U", "postgres")
        primary.execute("pg_basebackup", "-D", str(self._data), "-R", "-N", "-c", "fast", *source)
        self.start()

    def address(self, database: str) -> str:
        """That of the standby's copy of a database."""
        url = make_url(database)
        return url.update_query_dict({"host": str(self._folder)}).render_as_string(hide_password=False)

    def start(self) -> None:
        sockets = f'-h "" -k {self._folder}'
        self._ctl("-o", sockets, "-l", str(self._data / "log"), "start")

    def kill(self) -> None:
        self._ctl("-m", "immediate", "stop")

    def _ctl(self, *arguments: str) -> None:
        self._primary.execute("pg_ctl", "-D", str(self._data), "-w", *arguments)

    def ask(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        with psycopg.connect(self.address(self._primary.address), autocommit=True) as connection:
            return (connection.execute(statement.encode(), values).fetchone() or (None,))[0]

    def pause(self) -> None:
        self.ask("SELECT pg_wal_replay_pause()")
        until(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        self.ask("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Wait until it has replayed all that there is."""
        with psycopg.connect(self._primary.address, autocommit=True) as connection:
            (place,) = connection.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        until(lambda: self.ask("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (place,)))


def until(found: Callable[[], Any]) -> None:
    """Look until there is something to be found."""
    for _ in range(2000):
        if found():
            return
        Event().wait(0.01)
    raise AssertionError("it did not come to that")


@contextmanager
def standby_of(primary: Server) -> Iterator[Standby]:
    with tempfile.TemporaryDirectory(prefix="recollect-standby-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o777)
        standby = Standby(primary, Path(folder))
        try:
            yield standby
        finally:
            standby.kill()
