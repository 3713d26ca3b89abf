"""What is PostgreSQL's own: connections, partitions, row-level security, search in the server."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from sqlalchemy import Connection, Select, inspect

from recollect.errors import SchemaMismatch, StoreUnavailable
from recollect.keys import Key
from recollect.model.search import Candidate, Search
from recollect.ports.clock import Clock
from recollect.stores.postgres import failures, objects, online, sealed, upkeep
from recollect.stores.postgres.numbers import Numbers
from recollect.stores.postgres.replicas import LEAST_TIMEOUT, Replicas
from recollect.stores.postgres.search import candidates
from recollect.stores.postgres.session import Sessions, driver, parsed, unhurried
from recollect.stores.postgres.standby import Standby
from recollect.stores.postgres.text import add_text, clear_text, having, remove_text, stored_words
from recollect.stores.postgres.words import Frequencies
from recollect.stores.sql import migrate
from recollect.stores.sql.fork import watch
from recollect.stores.sql.in_process import Searcher
from recollect.stores.sql.rows import UserRows
from recollect.stores.sql.store import SqlStore

T = TypeVar("T")

_LOCK = 0x7265636F6C6C6564
"""Held while the schema is made or upgraded."""
_MAKE_ROLES = "; ".join(f"CREATE ROLE {role} NOLOGIN" for role in (objects.APP, objects.WORKER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a database is used. With a key its content is sealed before it gets there."""

    pool: int
    timeout: float
    index_over: int
    cache_bytes: int
    clock: Clock
    key: Key | None = None
    pooler: str = ""
    replicas: tuple[str, ...] = ()
    replica_seconds: float = 5.0


def open_store(url: str, options: Options) -> SqlStore:
    """The store in this database. Its schema is made when the database is empty."""
    backend = PostgresBackend(url, options)
    try:
        backend.prepare()
    except BaseException:
        backend.close()
        raise
    return SqlStore(backend)


class PostgresBackend:
    """Implements `stores.sql.backend.Backend`."""

    def __init__(self, url: str, options: Options) -> None:
        pooler = parsed(options.pooler) if options.pooler else None
        self._sessions = Sessions(parsed(url), pool=options.pool, timeout=options.timeout, pooler=pooler)
        self._options = options
        self._numbers = Numbers(self._sessions)
        self._frequencies = Frequencies()
        self._searcher: Searcher | None = None
        self._replicas = self._standbys() if options.replicas else None
        watch(self._sessions)

    def _standbys(self) -> Replicas:
        options = self._options
        timeout = min(options.timeout, max(options.replica_seconds, LEAST_TIMEOUT))
        standbys = [Standby(parsed(url), pool=options.pool, timeout=timeout) for url in options.replicas]
        return Replicas(self._sessions, standbys, options.replica_seconds)

    def prepare(self, *, upgrade: bool = False) -> None:
        """Make the schema in an empty database; with `upgrade` also bring an older one up to date."""
        sessions = self._sessions
        if upgrade or not sessions.again(lambda: sessions.apart(_is_ready)):
            sessions.again(lambda: sessions.apart(lambda connection: self._migrate(connection, upgrade)))
            sessions.engine.dispose()  # connections made before do not know vectors
        key, where = self._options.key, sessions.where
        seal = sessions.again(
            lambda: sessions.apart(lambda connection: sealed.seal_of(connection, key, where))
        )
        if seal is not None:
            for engine in (sessions.engine, *(self._replicas.engines() if self._replicas else ())):
                engine.update_execution_options(seal=seal)
            self._searcher = Searcher(self._options.cache_bytes, sealed.read_terms)

    def _migrate(self, connection: Connection, upgrade: bool) -> None:
        """What is cut off is undone with its connection, and begun again where it stopped."""
        run = connection.exec_driver_sql
        unhurried(connection)
        run(f"SELECT pg_advisory_lock({_LOCK})")
        found = migrate.version(connection)
        if found is None:
            online.patiently(connection, lambda: self._create(connection))
        elif found != migrate.HEAD:
            if not upgrade and found < migrate.HEAD:
                raise SchemaMismatch(
                    f"The database has schema {found}, this release needs {migrate.HEAD}: "
                    "run `recollect db migrate`."
                )
            online.upgrade(connection)
        if not _is_ready(connection):
            for step in objects.partition_steps(self._options.clock.now()):
                online.patiently(connection, lambda s=step: [run(statement) for statement in s])
        if upgrade:
            online.finish(connection)

    def _create(self, connection: Connection) -> None:
        _refuse_elsewhere(connection, self._sessions.where)
        try:
            objects.create(connection)
        except failures.FAILURES as error:
            if not failures.lacks_right(error):
                raise
            login = sql.Identifier(driver(connection).info.user).as_string()
            raise StoreUnavailable(
                f"{self._sessions.where} does not let this login make the tables "
                f"({failures.first_line(error)}). Use the login that owns the database, and let a superuser "
                f"run there once: CREATE EXTENSION vector; {_MAKE_ROLES}; "
                f"GRANT {objects.APP}, {objects.WORKER} TO {login}. Then run `recollect db create`."
            ) from error
        if self._options.key is not None:
            sealed.seal_new(connection, self._options.key)

    def read(self, user: str | None = None, *, latest: bool = True) -> AbstractContextManager[Connection]:
        return (self._sessions if latest or self._replicas is None else self._replicas).read(user)

    def again(self, step: Callable[[], T]) -> T:
        return self._sessions.again(step)

    def write(self, work: Callable[[Connection], T], user: str | None = None, *, durable: bool = True) -> T:
        # All of it is durable: a server flushes for many at once.
        return self._sessions.write(work, user)

    def write_alone(self, work: Callable[[Connection], T]) -> T:
        return self._sessions.write(work, alone=True)

    def locked(self, statement: Select[Any]) -> Select[Any]:
        return statement.with_for_update()

    def user_number(self, rows: UserRows) -> int:
        return self._numbers.take()

    def partition_of(self, rows: UserRows) -> int:
        asked = rows.connection.exec_driver_sql(objects.PARTITION_OF, objects.partition_key(rows.user))
        return asked.scalar_one()

    def add_text(self, rows: UserRows, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
        add_text(rows, number, documents)

    def remove_text(self, rows: UserRows, number: int, documents: Sequence[int]) -> None:
        remove_text(rows, documents)

    def clear_text(self, connection: Connection) -> None:
        clear_text(connection)

    def having(
        self, rows: UserRows, number: int, terms: Sequence[str], most: int
    ) -> Iterable[NDArray[np.int64]]:
        with driver(rows.connection).cursor() as cursor:
            return having(cursor, number, stored_words(rows, terms), most)

    def search(self, rows: UserRows, search: Search) -> list[Candidate]:
        if self._searcher is None:
            with driver(rows.connection).cursor() as cursor:
                return candidates(cursor, rows.user, search, self._options.index_over, self._frequencies)
        snapshot = self._searcher.snapshot(rows, search)
        return [] if snapshot is None else snapshot.candidates(search)

    def scrub(self, partition: int) -> bool:
        return self._sessions.apart(lambda connection: upkeep.scrub(connection, partition))

    def maintain(self) -> int:
        now = self._options.clock.now()
        self._sessions.apart(lambda connection: upkeep.make_audit_days(connection, now))
        if self._searcher is not None:  # sealed vectors cannot be indexed
            return 0
        over = self._options.index_over
        return self._sessions.apart(lambda connection: upkeep.index_large_users(connection, over))

    def drop_audit(self, before: datetime) -> int:
        return self._sessions.apart(lambda connection: upkeep.drop_audit(connection, before))

    def stats(self) -> dict[str, Any]:
        size = "SELECT current_setting('server_version'), pg_database_size(current_database())"
        with self.read() as connection:
            version, size = connection.exec_driver_sql(size).one()
        stats = {"engine": f"PostgreSQL {version}", "path": self._sessions.where, "bytes": size}
        return stats if self._replicas is None else {**stats, "replicas": self._replicas.states()}

    def tally(self) -> dict[str, int]:
        return {} if self._searcher is None else self._searcher.tally()

    def check(self) -> Iterator[str]:
        with self.read() as connection:
            yield from upkeep.problems(connection)

    def close(self) -> None:
        self._sessions.close()
        if self._replicas is not None:
            self._replicas.close()


def _refuse_elsewhere(connection: Connection, where: str) -> None:
    """Refuse a schema that does not exist, or that something else lives in."""
    asked = "SELECT current_schema(), current_setting('search_path')"
    here, search_path = connection.exec_driver_sql(asked).one()
    if here is None:
        raise failures.no_schema(where, search_path)
    if inspect(connection).get_table_names():
        raise SchemaMismatch(
            f"The schema {here} of {where} holds tables of something else. Give Recollect another database, "
            "or a schema of its own: CREATE SCHEMA recollect, and ?options=-csearch_path%3Drecollect at the "
            "end of the address."
        )


def _is_ready(connection: Connection) -> bool:
    if migrate.version(connection) != migrate.HEAD:
        return False
    done = f"SELECT value FROM meta WHERE key = '{objects.READY}'"
    return connection.exec_driver_sql(done).scalar() is not None
