"""Connections and transactions: whose they are, and what happens when they break.

A transaction names its user before its first statement. When the connection is lost while it commits,
nobody was told how it ended; its number is then looked up, so that nothing is done twice or not at all.
A server that crashed may have forgotten the number and given it to somebody else; so with it goes which start
of the server gave it. A connection is of one start, but behind a pooler, which keeps it while the server is
started again: there each transaction asks.
"""

import os
import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from recollect.errors import SettingsError, StoreUnavailable
from recollect.stores.postgres import failures, vectors
from recollect.stores.postgres.line import Line
from recollect.stores.postgres.objects import APP, WORKER

T = TypeVar("T")

CONNECT_SECONDS = 10
_ALIVE = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""How a server is noticed that does not even say that it is gone, in seconds."""
PAUSES = (0, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds to wait before each further try of what may pass; the last of them again and again."""
PATIENCE = 10.0
"""Seconds that a server may be gone before that is told. One that says that it is starting is given as
long as a statement: recovering from a crash takes a while."""
FIRST_PATIENCE = 1.0
"""The same for one that this process has never reached: its address may be wrong."""
GRACE = 1.0
"""Seconds that a server is given, after it should have ended a statement, to say so."""

_SEARCH_PATH = re.compile(r"(?:-c\s*|--)search_path=((?:\\.|\S)+)")
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
PLACE = "(pg_current_wal_lsn() - '0/0')::text"
"""How far the primary's log has come, as a number."""
_WRITERS = 0x7265636F6C6C6563
"""The lock that writers share, and that changes to what all of them depend on take alone."""

# A crash without a restart is told by the statistics, which are lost in it.
_SERVER = "pg_postmaster_start_time()::text, (SELECT stats_reset::text FROM pg_stat_bgwriter)"
_RECOVERED = "SELECT next_xid FROM pg_control_checkpoint()"
"""The first number that a server did not know when it started."""
_END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = %s::xid8::xid"


def parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise SettingsError(
            "That is no address of a database: write postgresql://user:password@host:5432/database, with "
            "special characters of the password percent-encoded."
        ) from None  # what it was caused by quotes the address


def address(url: URL) -> str:
    """Which database it is, without anything that is secret."""
    place = {name: value for name, value in url.query.items() if name in ("host", "port")}
    if schemas := _SEARCH_PATH.findall(str(url.query.get("options", ""))):
        place["options"] = f"-csearch_path={schemas[-1]}"
    return url.set(query=place).render_as_string(hide_password=True)


_reached: set[str] = set()
"""The databases that this process has had a connection to."""


class Sessions:
    """Transactions on one database, from a pool of connections."""

    def __init__(self, url: URL, *, pool: int, timeout: float, pooler: URL | None = None) -> None:
        self.where = address(url)
        self._direct = _engine(url, pool, timeout)
        self.engine = self._direct if pooler is None else _engine(pooler, pool, timeout, pooled=True)
        self._set = "" if pooler is None else _set_locally(url, timeout)
        self._beside = _engine(url, 1, timeout)
        self._timeout = timeout
        self._process = os.getpid()
        self._closed = False
        self._lost = 0.0
        self.told: Callable[[str | None, int | None], None] | None = None
        """Who is told of whom something was committed, and how far the log had come by then."""

    @contextmanager
    def read(self, user: str | None = None) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self._translated():
            connection, _ = self._persist(lambda: self._begun(f"{READ}; {self._set}{whose(user)}"))
            with ended(connection):
                yield connection

    def write(self, work: Callable[[Connection], T], user: str | None = None, *, alone: bool = False) -> T:
        """What `work` returns, once it is durable."""
        lock = f"pg_advisory_xact_lock{'' if alone else '_shared'}({_WRITERS})"
        opening = f"BEGIN; {self._set}{whose(user)}; SELECT pg_current_xact_id()::text, {lock}::text"
        if self.engine is not self._direct:
            opening += f", {_SERVER}"

        def transaction() -> T:
            connection, (number, _, *told) = self._begun(opening)
            server = tuple(told) or connection.info["server"]
            with ended(connection):
                result = work(connection)
                place, lost = _committed(connection, placed=self.told is not None)
            # The connection is given back by now: the question needs one, and there may be no other.
            if lost and not self._persist(lambda: self._was_committed(number, server)):
                raise lost
            if self.told is not None:
                self.told(user, place)
            return result

        with self._translated():
            return self._persist(transaction)

    def again(self, step: Callable[[], T]) -> T:
        """What a step that only reads returns, taken again should its connection be lost."""
        return self._persist(step)

    def apart(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, outside a transaction, with all the rights of the login, and on a
        connection of its own, so that what is set there is not for others."""
        with self._translated(), self._persist(lambda: self._connected(self._direct)) as connection:
            connection.detach()
            return work(connection)

    def asked(self, *wanted: str) -> tuple[str, ...]:
        """What the server says of itself, with all the rights of the login."""
        with self._translated():
            connection, answer = self._begun(f"SELECT {', '.join(wanted)}")
            connection.close()
            return answer

    def beside(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, in a short transaction of the operators' beside one that is open here, on a
        connection that is not the pool's: all of those may be held by others who want this too."""
        with self._beside.connect() as connection:
            connection.detach()  # wanted too seldom to be kept
            driver(connection).execute(f"BEGIN; {whose(None)}".encode())
            with ended(connection):
                result = work(connection)
                driver(connection).execute("COMMIT")
                return result

    def close(self) -> None:
        self._closed = True
        for engine in {self.engine, self._direct, self._beside}:
            engine.dispose()

    def mistrust(self) -> None:
        """Take all connections that there are for dead. To dispose of them would leave those open that others
        have just now."""
        self._lost = time.monotonic()

    def before_fork(self) -> None: ...

    def after_fork(self) -> None:
        if os.getpid() != self._process:
            self._process = os.getpid()
            for engine in {self.engine, self._direct, self._beside}:
                engine.dispose(close=False)  # they are still the parent's

    def _persist(self, step: Callable[[], T]) -> T:
        """What `step` returns, tried again for a while when what fails it may pass."""
        begun = time.monotonic()
        pauses = chain(PAUSES, repeat(PAUSES[-1]))
        while True:
            try:
                return step()
            except (*failures.FAILURES, StoreUnavailable) as error:
                now, pause = time.monotonic(), next(pauses)
                if failures.connection_lost(error):
                    self._lost = now
                patience = self._patience(error)
                longest = min(PAUSES[-1], patience / 10)
                # By the longest pause, so that a step which has itself given up is not tried once more.
                if not failures.may_pass(error) or now + longest > begun + patience:
                    raise
                time.sleep(min(pause, longest))

    def _patience(self, error: BaseException) -> float:
        if failures.starting(error):
            return self._timeout
        return min(PATIENCE if self.where in _reached else FIRST_PATIENCE, self._timeout)

    def _begun(self, opening: str) -> tuple[Connection, tuple[str, ...]]:
        """A connection in a new transaction, and what its opening answered."""
        connection = self._connected()
        try:
            return connection, last(driver(connection).execute(opening.encode()))
        except BaseException:
            connection.invalidate()
            connection.close()
            raise

    def _connected(self, engine: Engine | None = None) -> Connection:
        """A connection made since one was last lost: the older ones are as dead."""
        if self._closed:
            raise StoreUnavailable("The memory was closed: open it again.")
        while True:
            connection = (engine or self.engine).connect()
            _reached.add(self.where)
            if connection.info["made"] >= self._lost:
                return connection
            connection.invalidate()
            connection.close()

    def _was_committed(self, number: str, server: tuple[str, ...]) -> bool:
        """Whether the transaction that had this number, at that start of the server, was committed."""
        connection, now = self._begun(f"BEGIN; {self._set}SELECT {_SERVER}")  # all is asked of one start
        with ended(connection):
            ask = driver(connection).execute
            if now != server:
                epoch, next_number = str(_only(ask(_RECOVERED))).split(":")
                if int(number) >= int(epoch) << 32 | int(next_number):
                    return False
            try:
                state = _only(ask("SELECT pg_xact_status(%s::xid8)", (number,)))
            except psycopg.errors.InvalidParameterValue:
                return False  # a server that crashed does not know of it
            if state == "in progress":  # the server has not noticed yet that we are gone
                ask(_END, (number,))
                raise psycopg.errors.SerializationFailure("The transaction has not ended yet.")
        return state == "committed"

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except failures.FAILURES as error:
            raise failures.translated(error, self.where) from error


def driver(connection: Connection) -> Line:
    """The driver's own connection, for statements that every recall makes."""
    return connection.connection.dbapi_connection  # pyright: ignore[reportReturnType]


def unhurried(connection: Connection) -> None:
    """Let what is done on this connection take as long as it does."""
    driver(connection).silence = None
    for limit in ("statement_timeout", "lock_timeout"):
        connection.exec_driver_sql(f"SET {limit} = 0")


def whose(user: str | None) -> str:
    if user is None:
        return f"SET LOCAL ROLE {WORKER}"
    return f'SET LOCAL ROLE {APP}; SET LOCAL recollect."user" = {sql.Literal(user).as_string()}'


def _only(answer: psycopg.Cursor[Any]) -> Any:
    return (answer.fetchone() or (None,))[0]


def _committed(connection: Connection, *, placed: bool) -> tuple[int | None, psycopg.Error | None]:
    """Commits: how far the log had come by then, if that is asked; and the failure, if it is one after which
    nobody knows whether that was done."""
    try:
        answer = driver(connection).execute(f"COMMIT; SELECT {PLACE}".encode() if placed else b"COMMIT")
        return int(last(answer)[0]) if placed else None, None
    except psycopg.Error as error:
        if not failures.connection_lost(error):
            raise
        return None, error


def last(cursor: psycopg.Cursor[Any]) -> tuple[str, ...]:
    """What the last of several statements answered."""
    while cursor.nextset():
        pass
    return (cursor.fetchone() if cursor.description else None) or ()


@contextmanager
def ended(connection: Connection) -> Generator[None]:
    """Gives the connection back with its transaction ended, or not at all."""
    raw = driver(connection)  # which the connection does not give any more once it is lost
    try:
        yield
    finally:
        try:
            if raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                raw.execute("ROLLBACK")
        except BaseException as error:
            with suppress(Exception):
                connection.invalidate()
            if not isinstance(error, psycopg.Error):  # a dead connection takes nothing from what was done
                raise
        finally:
            connection.close()


def _settings(timeout: float) -> dict[str, str]:
    milliseconds = str(round(timeout * 1000))
    return {
        "statement_timeout": milliseconds,
        "idle_in_transaction_session_timeout": milliseconds,
        "jit": "off",
        "TimeZone": "UTC",
        # Statements that are made again and again are prepared, which spares the server reading them: about a
        # third of what a small write takes. To plan them once for all users would lock all 64 partitions.
        "plan_cache_mode": "force_custom_plan",
    }


def _set_locally(url: URL, timeout: float) -> str:
    """The same for one transaction: behind a pooler the next may be on another connection."""
    values = _settings(timeout)
    if schemas := _SEARCH_PATH.findall(str(url.query.get("options", ""))):
        values["search_path"] = schemas[-1]
    return "".join(f"SET LOCAL {name} = {value}; " for name, value in values.items())


def _engine(url: URL, pool: int, timeout: float, *, pooled: bool = False) -> Engine:
    options = " ".join(f"-c {name}={value}" for name, value in _settings(timeout).items())
    given = {} if pooled else {"options": f"{options} {url.query.get('options', '')}".strip()}
    arguments = {
        "connect_timeout": max(2, min(CONNECT_SECONDS, round(timeout))),
        **_ALIVE,
        **({"prepare_threshold": None} if pooled else {}),  # what is prepared stays with its connection
    }
    engine = create_engine(
        url.set(drivername="postgresql+psycopg").update_query_dict(
            {**given, "application_name": "recollect"}
        ),
        isolation_level="AUTOCOMMIT",  # transactions are begun and ended here, by name
        connect_args={name: value for name, value in arguments.items() if name not in url.query},
        hide_parameters=True,  # no content in tracebacks and logs
        pool_size=pool,
        max_overflow=0,
        pool_timeout=timeout,
        pool_reset_on_return=None,
    )

    def connect(_dialect: Any, _record: Any, args: Sequence[Any], parameters: dict[str, Any]) -> Line:
        line = Line.connect(*args, **parameters)
        line.silence = timeout + GRACE
        return line

    def prepare(connection: psycopg.Connection[Any], record: Any) -> None:
        made = time.monotonic()
        vectors.register(connection)
        record.info.update(made=made, server=connection.execute(f"SELECT {_SERVER}".encode()).fetchone())

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", prepare)
    return engine
