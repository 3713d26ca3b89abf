"""Connections and transactions: whose they are, and what happens when they break.

A transaction names its user before its first statement. When the connection is lost while it commits,
nobody was told how it ended; its number is then looked up, so that nothing is done twice or not at all.
"""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, Engine, create_engine, event

from recollect.errors import StoreUnavailable
from recollect.stores.postgres import failures, vectors
from recollect.stores.postgres.objects import APP, WORKER

T = TypeVar("T")

CONNECT_SECONDS = 10
PAUSES = (0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds to wait before each further try of what may pass: a restart of the server takes a few."""

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITERS = 0x7265636F6C6C6563
"""The lock that writers share, and that changes to what all of them depend on take alone."""


class Sessions:
    """Transactions on one database, from a pool of connections."""

    def __init__(
        self, url: URL, *, pool: int, timeout: float, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.where = url.render_as_string(hide_password=True)
        self.engine = _engine(url, pool, timeout)
        self._pause = pause
        self._process = os.getpid()
        self._closed = False

    @contextmanager
    def read(self, user: str | None = None) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self._translated():
            connection, _ = self._persist(lambda: self._begun(f"{_READ}; {_whose(user)}"))
            with _ended(connection):
                yield connection

    def write(self, work: Callable[[Connection], T], user: str | None = None, *, alone: bool = False) -> T:
        """What `work` returns, once it is durable."""
        lock = f"pg_advisory_xact_lock{'' if alone else '_shared'}({_WRITERS})"
        opening = f"BEGIN; {_whose(user)}; SELECT pg_current_xact_id()::text, {lock}::text"

        def transaction() -> T:
            connection, number = self._begun(opening)
            with _ended(connection):
                result = work(connection)
                self._commit(connection, number)
                return result

        with self._translated():
            return self._persist(transaction)

    def apart(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, outside a transaction, with all the rights of the login, and on a
        connection of its own, so that what is set there is not for others."""
        with self._translated(), self.engine.connect() as connection:
            connection.detach()
            return work(connection)

    def close(self) -> None:
        self._closed = True
        self.engine.dispose()

    def before_fork(self) -> None: ...

    def after_fork(self) -> None:
        if os.getpid() != self._process:
            self._process = os.getpid()
            self.engine.dispose(close=False)  # they are still the parent's

    def _persist(self, step: Callable[[], T]) -> T:
        """What `step` returns, tried again while what fails it may pass."""
        for pause in PAUSES:
            try:
                return step()
            except failures.FAILURES as error:
                if not failures.may_pass(error):
                    raise
                if failures.connection_lost(error):
                    self.engine.dispose()  # the others are as dead
                self._pause(pause)
        return step()

    def _begun(self, opening: str) -> tuple[Connection, str]:
        """A connection in a new transaction, and what its opening answered."""
        if self._closed:
            raise StoreUnavailable("The memory was closed: open it again.")
        connection = self.engine.connect()
        try:
            cursor = driver(connection).execute(opening.encode())
            while cursor.nextset():
                pass
            answer = cursor.fetchone() if cursor.description else None
            return connection, answer[0] if answer else ""
        except BaseException:
            connection.invalidate()
            connection.close()
            raise

    def _commit(self, connection: Connection, number: str) -> None:
        try:
            driver(connection).execute("COMMIT")
        except psycopg.Error as error:
            if not failures.connection_lost(error) or not self._persist(lambda: self._committed(number)):
                raise

    def _committed(self, number: str) -> bool:
        """Whether the transaction of this number was committed."""
        with self.engine.connect() as connection:
            try:
                asked = driver(connection).execute("SELECT pg_xact_status(%s::xid8)", (number,))
            except psycopg.errors.InvalidParameterValue:
                return False  # a server that crashed does not know of it
            (state,) = asked.fetchone() or (None,)
        if state == "in progress":  # the server has not noticed yet that we are gone
            raise psycopg.errors.SerializationFailure("The transaction has not ended yet.")
        return state == "committed"

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except failures.FAILURES as error:
            raise failures.translated(error, self.where) from error


def driver(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's own connection, for statements that every recall makes."""
    return connection.connection.dbapi_connection  # pyright: ignore[reportReturnType]


def _whose(user: str | None) -> str:
    if user is None:
        return f"SET LOCAL ROLE {WORKER}"
    return f'SET LOCAL ROLE {APP}; SET LOCAL recollect."user" = {sql.Literal(user).as_string()}'


@contextmanager
def _ended(connection: Connection) -> Generator[None]:
    """Gives the connection back with its transaction ended, or not at all."""
    try:
        yield
    finally:
        try:
            raw = driver(connection)
            if raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                raw.execute("ROLLBACK")
        except BaseException:
            with suppress(Exception):
                connection.invalidate()
            raise
        finally:
            connection.close()


def _engine(url: URL, pool: int, timeout: float) -> Engine:
    milliseconds = round(timeout * 1000)
    options = (
        f"-c statement_timeout={milliseconds} -c idle_in_transaction_session_timeout={milliseconds} "
        "-c jit=off -c TimeZone=UTC"
    )
    given = url.query.get("options", "")
    engine = create_engine(
        url.set(drivername="postgresql+psycopg").update_query_dict(
            {"options": f"{options} {given}".strip(), "application_name": "recollect"}
        ),
        isolation_level="AUTOCOMMIT",  # transactions are begun and ended here, by name
        connect_args={"connect_timeout": CONNECT_SECONDS},
        hide_parameters=True,  # no content in tracebacks and logs
        pool_size=pool,
        max_overflow=0,
        pool_timeout=timeout,
        pool_reset_on_return=None,
    )

    def prepare(connection: psycopg.Connection[Any], _: Any) -> None:
        vectors.register(connection)

    event.listen(engine, "connect", prepare)
    return engine
