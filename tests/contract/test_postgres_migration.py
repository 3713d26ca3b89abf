"""A PostgreSQL database of an older release is brought up to date by `db migrate`, also by an owner that is
no superuser and to whom row-level security applies."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

from recollect.errors import SchemaMismatch
from recollect.stores.postgres import objects
from recollect.stores.postgres.admin import upgrade
from tests.contract.older import TO_FIRST, TO_SECOND, check_mining, fill, ranked, stored
from tests.contract.postgres import new_database, opened, options, started

pytestmark = pytest.mark.engine

OWNER = "recollect_plain_owner"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with started() as server:
        yield server


@pytest.fixture
def login(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database, for the superuser or for a plain owner of it."""
    with new_database(server, "older") as url:
        if request.param == "superuser":
            yield url
            return
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            for role in ("recollect_app", "recollect_worker", OWNER):
                known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
                if known is None:
                    connection.execute(f"CREATE ROLE {role}".encode())
            connection.execute(f"ALTER ROLE {OWNER} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD 'plain'".encode())
            connection.execute(f"GRANT recollect_app, recollect_worker TO {OWNER}".encode())
            connection.execute(f"ALTER DATABASE older OWNER TO {OWNER}".encode())
            connection.execute(f"ALTER SCHEMA public OWNER TO {OWNER}".encode())
        yield make_url(url).set(username=OWNER, password="plain").render_as_string(hide_password=False)


@pytest.mark.parametrize("login", ["superuser", "plain owner"], indirect=True)
def test_what_ranking_needs_is_filled_in(login: str) -> None:
    store = opened(login)
    fill(store)
    before = ranked(store)
    store.close()
    with psycopg.connect(login, autocommit=True) as connection:
        for statement in TO_FIRST:
            connection.execute(statement.encode())
    with pytest.raises(SchemaMismatch, match="recollect db migrate"):
        opened(login)

    upgrade(login, options())
    store = opened(login)
    assert ranked(store) == before
    assert {c.place for c in before["bob"] if c.kind == "turn"} == {0, 1}
    assert store.check() == []
    store.close()


SHAPES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text,
    (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid),
    (SELECT array_agg(polname::text ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid),
    (SELECT array_agg(a.attname || ' ' || a.attstattarget ORDER BY a.attname) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
"""
"""The tables with their walls, rights, partitions, and of what statistics are kept."""


@pytest.mark.parametrize("login", ["superuser", "plain owner"], indirect=True)
def test_what_mining_needs_is_made(login: str) -> None:
    store = opened(login)
    fill(store)
    before = stored(store), ranked(store)
    store.close()
    with psycopg.connect(login, autocommit=True) as connection:
        made = connection.execute(SHAPES).fetchall()
        for statement in TO_SECOND:
            connection.execute(statement.encode())
    with pytest.raises(SchemaMismatch, match="recollect db migrate"):
        opened(login)

    upgrade(login, options())
    with psycopg.connect(login) as connection:
        assert connection.execute(SHAPES).fetchall() == made
    store = opened(login)
    assert (stored(store), ranked(store)) == before
    check_mining(store)
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("login", ["superuser"], indirect=True)
def test_an_upgrade_that_was_cut_off_is_finished(login: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(login)
    fill(store)
    before = stored(store)
    store.close()
    with psycopg.connect(login, autocommit=True) as connection:
        for statement in TO_SECOND:
            connection.execute(statement.encode())

    def cut_off(*given: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(objects, "partition_steps", cut_off)
        with pytest.raises(KeyboardInterrupt):
            upgrade(login, options())
    store = opened(login)
    assert stored(store) == before
    check_mining(store)
    assert {problem.split(": ")[1] for problem in store.check()} == {"run `recollect db migrate`."}
    upgrade(login, options())
    assert store.check() == []
    store.close()
