"""PostgreSQL says no: to a login, a database, a schema, a statement that takes too long. Each time the
message names the way out, and no password."""

import logging
import threading
import traceback
from collections.abc import Callable
from time import monotonic

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection, make_url

from recollect.errors import RecollectError, SchemaMismatch, StoreUnavailable
from recollect.model.records import Turn
from recollect.stores.postgres import session
from recollect.testing.store_samples import append, draft, question, said
from tests.contract.postgres import Server, emptied, new_database, opened

pytestmark = pytest.mark.engine

PASSWORD = "hunter2-is-secret"


@pytest.fixture(scope="module")
def server(own_server: Server) -> str:
    """It asks the logins whose name begins with `asked` for a password."""
    rules = own_server.data / "pg_hba.conf"
    rules.write_text(f"local all /^asked scram-sha-256\n{rules.read_text()}")
    with psycopg.connect(own_server.address, autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
        for name, options in {
            "asked": f"PASSWORD '{PASSWORD}' SUPERUSER",
            "asked_outsider": f"PASSWORD '{PASSWORD}'",
            "asked_member": f"PASSWORD '{PASSWORD}'",
            "asked_reader": f"PASSWORD '{PASSWORD}' SUPERUSER",
        }.items():
            connection.execute(f"CREATE ROLE {name} LOGIN {options}".encode())
        connection.execute("ALTER ROLE asked_reader SET default_transaction_read_only = on")
    return own_server.address


@pytest.fixture(scope="module")
def database(database: str) -> str:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("GRANT recollect_app, recollect_worker TO asked_member")
    return database


def login(url: str, name: str, password: str = PASSWORD, database: str | None = None) -> str:
    changed = make_url(url).set(username=name, password=password, database=database or make_url(url).database)
    return changed.render_as_string(hide_password=False)


def test_an_extension_that_is_too_old_is_told_of(server: str) -> None:
    with new_database(server, "too_old") as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
        with pytest.raises(StoreUnavailable, match=r"pgvector 0\.7\.4.*0\.8 or newer.*UPDATE"):
            opened(address)


def refusal(caplog: pytest.LogCaptureFixture, step: Callable[[], object]) -> str:
    """The message of the failure; neither it, nor what led to it, nor the log has the password."""
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreUnavailable) as caught:
        step()
    told = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert PASSWORD not in told
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "password", "elsewhere", "advice"),
    [
        ("asked", "wrong-" + PASSWORD, None, "Check the user and the password"),
        ("asked", "", None, "Check the user and the password"),
        ("nobody", PASSWORD, None, "Check the user and the password"),
        ("asked", PASSWORD, "elsewhere", "Make it with `recollect db create`"),
        ("asked_outsider", PASSWORD, None, "GRANT recollect_app, recollect_worker TO"),
    ],
)
def test_a_login_that_is_refused(
    database: str,
    caplog: pytest.LogCaptureFixture,
    name: str,
    password: str,
    elsewhere: str | None,
    advice: str,
) -> None:
    begun = monotonic()
    assert advice in refusal(caplog, lambda: opened(login(database, name, password, elsewhere)))
    assert monotonic() - begun < 9, "asking again would not help"


def test_a_password_in_the_parameters_is_kept_as_well(server: str, caplog: pytest.LogCaptureFixture) -> None:
    address = make_url(server).set(username="asked", password=None, database="elsewhere")
    url = address.update_query_dict({"password": PASSWORD}).render_as_string()
    assert "elsewhere" in refusal(caplog, lambda: opened(url))


@pytest.mark.parametrize("address", [f"postgresql://me:{PASSWORD}:x@host:port/db", "postgresql://[::1/db"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(RecollectError, match="postgresql://") as caught:
        opened(address)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_a_member_reads_and_writes_but_does_not_own(database: str, caplog: pytest.LogCaptureFixture) -> None:
    emptied(database)
    store = opened(login(database, "asked_member"))
    alice = store.user("alice")
    alice.apply([said(2)])
    assert len(alice.search(question("number1"))) == 1
    assert store.check() == []
    alice.erase()
    assert "owner" in refusal(caplog, store.scrub), "VACUUM merely warns, and leaves the bytes"
    assert store.needs_scrub()
    store.close()


@pytest.mark.parametrize("name", ["asked_outsider", "asked_reader"])
def test_a_login_that_may_not_make_a_database(
    empty: str, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    message = refusal(caplog, lambda: opened(login(empty, name)))
    assert "recollect db create" in message or "read-only" in message


def test_a_login_that_only_reads(database: str, caplog: pytest.LogCaptureFixture) -> None:
    emptied(database)
    owner, store = opened(database), opened(login(database, "asked_reader"))
    owner.user("alice").apply([said(2)])
    assert store.user("alice").count(Turn) == 2
    assert "read-only" in refusal(caplog, lambda: store.user("alice").apply([said(2)]))
    assert store.user("alice").count(Turn) == 2
    owner.close()
    store.close()


def test_a_server_without_pgvector(empty: str, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(empty, autocommit=True) as connection:
        if connection.info.server_version < 180000:
            pytest.skip("before 18 an extension cannot be hidden")
        connection.execute("ALTER DATABASE recollect_nothing_yet SET extension_control_path = '/nowhere'")
    assert "pgvector" in refusal(caplog, lambda: opened(empty))


def test_the_schema_of_a_newer_release(empty: str) -> None:
    opened(empty).close()
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch, match="9999, made by a newer release"):
        opened(empty)


def test_somebody_elses_database_is_not_touched(empty: str) -> None:
    everything = "SELECT oid, relname FROM pg_class UNION SELECT oid, extname FROM pg_extension ORDER BY 1, 2"
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (a int)")
        before = connection.execute(everything).fetchall()
        with pytest.raises(SchemaMismatch, match="something else"):
            opened(empty)
        assert connection.execute(everything).fetchall() == before


# Too long, too many


def test_all_connections_are_in_use(database: str, caplog: pytest.LogCaptureFixture) -> None:
    store = opened(database, pool=1, timeout=3.0)
    with store.user("alice").snapshot():
        for step in (lambda: store.user("bob").count(Turn), lambda: store.user("bob").apply([])):
            assert "raise RECOLLECT_DB_POOL" in refusal(caplog, step)
    assert store.user("bob").count(Turn) == 0
    store.close()


def test_a_statement_that_takes_too_long(database: str, caplog: pytest.LogCaptureFixture) -> None:
    emptied(database)
    store = opened(database, timeout=3.0)
    backend = store._backend  # type: ignore[attr-defined]

    def slow(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_sleep(30)")

    assert "raise RECOLLECT_DB_TIMEOUT" in refusal(caplog, lambda: backend.write(slow, "alice"))
    assert store.user("alice").count(Turn) == 0
    store.close()


def test_work_that_dawdles_in_a_transaction(database: str, caplog: pytest.LogCaptureFixture) -> None:
    emptied(database)
    store = opened(database, timeout=3.0)
    backend = store._backend  # type: ignore[attr-defined]

    def dawdles(connection: Connection) -> None:
        threading.Event().wait(5)
        connection.exec_driver_sql("SELECT 1")

    assert "RECOLLECT_DB_TIMEOUT" in refusal(caplog, lambda: backend.write(dawdles, "alice"))
    assert store.user("alice").count(Turn) == 0
    store.close()


# Again


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_the_server_asks_to_repeat_is_repeated(database: str, state: str) -> None:
    emptied(database)
    store = opened(database)
    tries = 0

    def work(connection: Connection) -> int:
        nonlocal tries
        tries += 1
        connection.exec_driver_sql("INSERT INTO leases VALUES ('l', 'me', 1)")
        if tries < 4:
            connection.exec_driver_sql(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")
        return tries

    assert store._backend.write(work) == 4  # type: ignore[attr-defined]
    assert store.stats()["rows"]["users"] == 0
    store.release("l", "me")
    store.close()


def test_what_never_passes_is_told(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.3)
    store = opened(database)

    def work(connection: Connection) -> None:
        connection.exec_driver_sql("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")

    message = refusal(caplog, lambda: store._backend.write(work))  # type: ignore[attr-defined]
    assert "too busy" in message
    store.close()


def test_two_who_lock_in_opposite_order_both_get_through(database: str) -> None:
    emptied(database)
    store = opened(database)
    for lease in "ab":
        store._backend.write(  # type: ignore[attr-defined]
            lambda c, name=lease: c.exec_driver_sql("INSERT INTO leases VALUES (%s, '', 0)", (name,)).rowcount
        )
    both = threading.Barrier(2)

    def work(order: str) -> Callable[[Connection], int]:
        waited: list[bool] = []

        def run(connection: Connection) -> int:
            add = "UPDATE leases SET until = until + 1 WHERE name = %s"
            connection.exec_driver_sql(add, (order[0],))
            if not waited:
                waited.append(True)
                both.wait(30)
            return connection.exec_driver_sql(add, (order[1],)).rowcount

        return run

    threads = [
        threading.Thread(target=store._backend.write, args=(work(order),))  # type: ignore[attr-defined]
        for order in ("ab", "ba")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT until FROM leases").fetchall() == [(2,), (2,)]
    store.close()


def test_content_is_in_no_message(database: str) -> None:
    """What the server quotes of a row that is refused stays with the server."""
    store = opened(database)

    def work(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT %s::text::integer", ("the secret recipe",))

    with pytest.raises(RecollectError) as caught:
        store._backend.write(work, "alice")  # type: ignore[attr-defined]
    assert "recipe" not in str(caught.value)
    store.user("alice").apply([append(draft("tea", id="x"))])
    store.close()


def test_names_are_quoted(server: str) -> None:
    name = 'a "quoted" database; DROP TABLE x'
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
    with pytest.raises(StoreUnavailable, match="recollect db create"):
        opened(login(server, "postgres", "", database=name))
