"""A PostgreSQL database of an older release is brought up to date by `db migrate`, also by an owner that is
no superuser and to whom row-level security applies."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

from recollect.errors import SchemaMismatch
from recollect.stores.postgres.admin import upgrade
from tests.contract.older import TO_FIRST, fill, ranked
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
