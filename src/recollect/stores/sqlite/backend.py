"""What is SQLite's own: one file, one writer, FTS5, vectors searched in process."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import URL, Connection, Engine, Select, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from recollect.errors import (
    SchemaMismatch,
    SettingsError,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from recollect.keys import Key
from recollect.model.search import Candidate, Search
from recollect.stores.sql import migrate
from recollect.stores.sql.codec import encode_time
from recollect.stores.sql.fork import watch
from recollect.stores.sql.in_process import Searcher
from recollect.stores.sql.locking import next_number
from recollect.stores.sql.rows import UserRows
from recollect.stores.sql.store import SqlStore
from recollect.stores.sqlite.cipher import (
    NOT_OURS,
    PAGE_SIZE,
    Driver,
    driver_for,
    errors,
)
from recollect.stores.sqlite.commit import GroupCommit, roll_back
from recollect.stores.sqlite.failures import translated
from recollect.stores.sqlite.figures import has_figures, set_figures
from recollect.stores.sqlite.postings import KeptPostings
from recollect.stores.sqlite.ready import Ready
from recollect.stores.sqlite.text import (
    add_text,
    clear_text,
    create_text,
    occurrences,
    remove_text,
    text_disagreements,
)

T = TypeVar("T")

BUSY_SECONDS = 30
SCRUB_CACHE_KIB = 2048
"""How much of the file, and how much of its copy, is in memory while it is rewritten, which is from start to
end: with as much as other connections have, that peak would be kept, and it is no quicker."""
SCRUB_PATIENCE_MS = 500
LOG_PAGES = 4000
"""How long the log gets, 32 MB, before its pages go where they belong: one that changed often goes once."""
STATEMENTS = 1024
"""How many statements a connection keeps prepared: recording, recall and the background ask some 400
different ones, and to prepare one takes SQLite longer than to run it."""
SMALLEST = 512
"""Bytes of the smallest SQLite database."""

_PRAGMAS = (
    f"PRAGMA page_size = {PAGE_SIZE}",  # a vector and its key fit a leaf
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # an acknowledged turn survives a power cut
    "PRAGMA secure_delete = ON",  # freed bytes are overwritten
    "PRAGMA cache_size = -16384",  # of each connection, and a server has dozens; the system keeps the rest
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA wal_autocheckpoint = {LOG_PAGES}",
)


def open_store(path: Path, *, cache_bytes: int, key: Key | None = None) -> SqlStore:
    """The store in this file; the file and its schema are made when missing. With a key it is encrypted."""
    return SqlStore(SqliteBackend(path, cache_bytes, key))


AUDIT_BATCH = 5000
_OLD = text(
    "DELETE FROM audit WHERE rowid IN (SELECT a.rowid FROM users u JOIN audit a "
    f"ON a.user_id = u.user_id AND a.at < :before LIMIT {AUDIT_BATCH})"
)
"""User by user, for there is an index for that; some at a time, so that others can write meanwhile."""


class _Reading:
    """A connection on loan, with its errors in our words. Written out, as the loan is."""

    __slots__ = ("_loan", "_translated")

    def __init__(self, path: Path, loan: AbstractContextManager[Connection]) -> None:
        self._loan = loan
        self._translated = translated(path)

    def __enter__(self) -> Connection:
        with self._translated:
            return self._loan.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._translated:
            self._loan.__exit__(kind, error, trace)
        self._translated.__exit__(kind, error, trace)


class SqliteBackend:
    """Implements `stores.sql.backend.Backend`."""

    def __init__(self, path: Path, cache_bytes: int, key: Key | None = None) -> None:
        self._path = path
        with translated(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_scrap(path)
            _refuse_mixing(path, encrypted=key is not None)
            if not path.exists():
                path.touch(mode=0o600)  # memories are nobody else's to read; the log inherits it
            self._driver = driver_for(path, key)
            _refuse_foreign(path, self._driver)
            self._engine = _engine(path, self._driver)
            _migrate(self._engine)
            self._file = _identity(path)
        self._ready = Ready(self._engine.connect)
        self._commits = GroupCommit(self._ready.lent)
        self._searcher = Searcher(cache_bytes, KeptPostings(cache_bytes // 8).read)
        self._closed = False
        watch(self)
        _backends.add(self)

    def read(self, user: str | None = None, *, latest: bool = True) -> AbstractContextManager[Connection]:
        self._check_open()
        return _Reading(self._path, self._ready.reading())

    def again(self, step: Callable[[], T]) -> T:
        return step()  # there is no connection to lose

    def write(self, work: Callable[[Connection], T], user: str | None = None, *, durable: bool = True) -> T:
        self._check_open()
        self._check_there()
        with translated(self._path):
            return self._commits.run(work, durable=durable)

    def write_alone(self, work: Callable[[Connection], T]) -> T:
        return self.write(work)

    def locked(self, statement: Select[Any]) -> Select[Any]:
        return statement  # BEGIN IMMEDIATE holds the whole file

    def user_number(self, rows: UserRows) -> int:
        return next_number(rows.connection)

    def partition_of(self, rows: UserRows) -> int:
        return 0

    def add_text(self, rows: UserRows, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
        add_text(rows.connection, number, documents)

    def remove_text(self, rows: UserRows, number: int, documents: Sequence[int]) -> None:
        remove_text(rows.connection, number, documents)

    def clear_text(self, connection: Connection) -> None:
        clear_text(connection)

    def having(
        self, rows: UserRows, number: int, terms: Sequence[str], most: int
    ) -> Iterable[NDArray[np.int64]]:
        return occurrences(rows, number, terms, most)

    def search(self, rows: UserRows, search: Search) -> list[Candidate]:
        snapshot = self._searcher.snapshot(rows, search)
        return [] if snapshot is None else snapshot.candidates(search)

    def scrub(self, partition: int) -> bool:
        """Rewrites the file, which takes about half a second for each 100 MB.

        FTS5 keeps deleted words until its segments are merged. `secure_delete` overwrites a deleted
        row, but not the copy that was left behind when the row had moved to another page before; only
        VACUUM leaves no such copies. The log keeps every old page until it is truncated.
        """
        with translated(self._path):
            return self._commits.alone(partial(_scrub, self._engine, in_memory=self._driver.encrypted))

    def maintain(self) -> int:
        return 0

    def drop_audit(self, before: datetime) -> int:
        done, went, given = 0, AUDIT_BATCH, {"before": encode_time(before)}
        while went == AUDIT_BATCH:
            went = self.write(lambda connection: connection.execute(_OLD, given).rowcount)
            done += went
        return done

    def stats(self) -> dict[str, Any]:
        files = [self._path, *(self._path.with_name(self._path.name + end) for end in ("-wal", "-shm"))]
        return {
            "engine": self._driver.engine,
            "path": str(self._path),
            "bytes": sum(file.stat().st_size for file in files if file.exists()),
            "cached_bytes": self._searcher.cached_bytes,
        }

    def tally(self) -> dict[str, int]:
        return self._searcher.tally()

    def check(self) -> Iterator[str]:
        self._check_open()
        # A used connection may go by an older state of FTS5 and find damage where there is none.
        with translated(self._path), closing(self._driver.connect(self._path)) as fresh:
            for (line,) in fresh.execute("PRAGMA integrity_check"):
                if line != "ok":
                    yield line
        with self.read() as connection:
            for what, count in text_disagreements(connection):
                yield f"{count:,} {what}: run `recollect rebuild text`."
        yield from self._check_text()

    def _check_text(self) -> Iterator[str]:
        try:
            self.write(
                lambda connection: (
                    connection.exec_driver_sql("INSERT INTO texts(texts) VALUES ('integrity-check')").rowcount
                )
            )
        except StoreError as error:
            yield f"The text index is damaged ({error}): run `recollect rebuild text`."

    def close(self) -> None:
        self._closed = True
        self._ready.clear()
        self._engine.dispose()

    def before_fork(self) -> None:
        # The child would write to a log that the parent deletes.
        self._commits.pause()
        self._ready.clear()
        self._engine.dispose()

    def after_fork(self) -> None:
        self._commits.resume()

    def holds(self, path: Path) -> bool:
        """Whether this file is open here."""
        return not self._closed and self._path.exists() and path.exists() and self._path.samefile(path)

    @property
    def encrypted(self) -> bool:
        return self._driver.encrypted

    def _check_there(self) -> None:
        """What is written to a file that was deleted is lost, and SQLite does not notice."""
        try:
            there = _identity(self._path) == self._file
        except OSError:
            there = False
        if not there:
            raise StoreUnavailable(
                f"{self._path} was deleted or replaced while it was open, and nothing is written to it any "
                "more. What was in it can still be exported from here; then start again."
            )

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The memory was closed: open it again.")


_backends: WeakSet[SqliteBackend] = WeakSet()


def open_here(path: Path) -> list[SqliteBackend]:
    """Who in this process has the file open."""
    return [backend for backend in list(_backends) if backend.holds(path)]


def _identity(path: Path) -> tuple[int, int]:
    """Which file there is at a path."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _refuse_mixing(path: Path, *, encrypted: bool) -> None:
    """sqlite3 and SQLCipher on the same file in one process would end each other's locks."""
    if any(backend.encrypted != encrypted for backend in open_here(path)):
        raise SettingsError(f"{path} is open here already, {'without' if encrypted else 'with'} a key.")


def _migrate(engine: Engine) -> None:
    """Create or upgrade the schema; one look when there is nothing to do."""
    with engine.connect() as connection:
        if migrate.version(connection) == migrate.HEAD and has_figures(connection):
            return
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            migrate.upgrade(connection)
            create_text(connection)
            set_figures(connection)
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            with suppress(DBAPIError):  # already done when the disk is full or Ctrl-C was pressed
                roll_back(connection)
            raise


def _refuse_scrap(path: Path) -> None:
    """SQLite would take a file of a few bytes for an empty database and write over it."""
    if path.is_file() and 0 < path.stat().st_size < SMALLEST:
        raise StoreCorrupt(f"{path} {NOT_OURS}")


def _refuse_foreign(path: Path, driver: Driver) -> None:
    """Another program's database stays as it is: looked at before a connection of ours sets its journal.
    One in that journal mode already may not be readable this way; the migration will look again."""
    if not path.is_file() or not path.stat().st_size:
        return
    names: set[str] = set()
    with (
        suppress(driver.module.OperationalError),
        closing(driver.connect(path, read_only=True)) as look,
    ):
        names = {name for (name,) in look.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names and "alembic_version" not in names:
        raise SchemaMismatch(f"{path} holds tables of something else. Give another path.")


def _scrub(engine: Engine, *, in_memory: bool) -> bool:
    with engine.connect() as connection:
        connection.detach()  # what is set here is not for others
        return _rewritten(connection, in_memory)


def _rewritten(connection: Connection, in_memory: bool) -> bool:
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {SCRUB_PATIENCE_MS}")
    if not _truncate_log(connection):
        return False  # somebody reads an old state: try again before doing the work in vain
    connection.exec_driver_sql(f"PRAGMA cache_size = -{SCRUB_CACHE_KIB}")
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    connection.exec_driver_sql("INSERT INTO texts(texts) VALUES ('optimize')")
    if not in_memory:  # SQLCipher leaves temporary files in the clear, and VACUUM by way of one does damage
        connection.exec_driver_sql("PRAGMA temp_store = FILE")  # the whole file goes through it
    connection.exec_driver_sql("VACUUM")
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {SCRUB_PATIENCE_MS}")
    return _truncate_log(connection)


def _truncate_log(connection: Connection) -> bool:
    busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    return not busy


def _engine(path: Path, driver: Driver) -> Engine:
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=str(path.absolute())),
        isolation_level="AUTOCOMMIT",  # transactions are begun and ended here, by name
        module=driver.module,
        connect_args={"timeout": BUSY_SECONDS, "cached_statements": STATEMENTS},
        pool_reset_on_return=None,
        hide_parameters=True,  # no content in tracebacks and logs
        pool_size=8,
        max_overflow=-1,
    )

    def prepare(connection: Any, _: Any) -> None:
        driver.unlock(connection)
        for pragma in _PRAGMAS:
            _once_free(partial(connection.execute, pragma))

    event.listen(engine, "connect", prepare, insert=True)  # the key comes before anything else
    return engine


def _once_free(run: Callable[[], Any]) -> None:
    """Run it while another opens the same new file: for the switch to a log SQLite itself does not wait."""
    until = monotonic() + BUSY_SECONDS
    while True:
        try:
            run()
        except errors("OperationalError") as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(0.005)
        else:
            return
