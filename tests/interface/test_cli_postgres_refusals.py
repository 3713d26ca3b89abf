"""What the commands say when a PostgreSQL server cannot be used: what is wrong, where, and what to do."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from sqlalchemy import make_url

from tests.contract.postgres import new_database
from tests.interface.test_cli_frame import ask, failure, run

pytestmark = pytest.mark.engine

LOGIN = "recollect_cli_low"


@pytest.fixture(scope="module")
def server(server: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP ROLE IF EXISTS {LOGIN}".encode())
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN".encode())
    return server


@pytest.fixture
def db(server: str) -> Iterator[str]:
    with new_database(server, "recollect_cli_empty") as url:
        yield url


def changed(url: str, **parts: str) -> str:
    return make_url(url).set(**parts).render_as_string(hide_password=False)  # type: ignore[arg-type]


def in_schema(url: str, name: str) -> str:
    return make_url(url).update_query_dict({"options": f"-csearch_path={name}"}).render_as_string(False)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
@pytest.mark.parametrize("command", [("record", "user", "hello"), ("list",), ("db", "create")])
def test_a_wrong_host_or_port_is_told_at_once(host: str, command: tuple[str, ...]) -> None:
    begun = monotonic()
    message = failure(*command, "--db", f"postgresql://me:secret@{host}/memory", code=1)["message"]
    assert monotonic() - begun < 9, "a second, and some for a slow machine; not PATIENCE"
    assert "cannot be reached" in message


def test_a_login_that_may_not_make_the_database(db: str) -> None:
    missing = changed(db, username=LOGIN, database="recollect_cli_unmade")
    message = failure("db", "create", "--db", missing, code=1)["message"]
    assert "/recollect_cli_unmade" in message
    assert "/postgres" not in message
    assert "CREATEDB" in message
    assert f'CREATE DATABASE "recollect_cli_unmade" OWNER "{LOGIN}"' in message


def test_a_login_that_may_not_make_the_tables(db: str) -> None:
    message = failure("db", "create", "--db", changed(db, username=LOGIN), code=1)["message"]
    assert "/recollect_cli_empty" in message
    assert "permission denied" in message
    assert f'GRANT recollect_app, recollect_worker TO "{LOGIN}"' in message


def test_tables_of_something_else(db: str) -> None:
    with psycopg.connect(db, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (a int)")
        connection.execute("CREATE SCHEMA apart")
    for command in (("db", "create"), ("record", "user", "hello")):
        message = failure(*command, "--db", db, code=1)["message"]
        assert "The schema public of postgresql://" in message
        assert "/recollect_cli_empty" in message
        assert "another database" in message
        assert "options=-csearch_path" in message
    ours = in_schema(db, "apart")
    assert ask("db", "create", "--db", ours)["created"] is True
    assert "search_path%3Dapart" in ask("db", "path", "--db", ours)["path"]


def test_a_schema_that_does_not_exist(db: str) -> None:
    elsewhere = in_schema(db, "nowhere,nor_here")
    for command in (("list",), ("db", "create"), ("record", "user", "hello")):
        message = failure(*command, "--db", elsewhere, code=1)["message"]
        assert "search_path names: nowhere,nor_here." in message
        assert "CREATE SCHEMA" in message
    assert "search_path names: nowhere" in run("doctor", "--db", elsewhere, code=1).stdout


def test_an_extension_in_another_schema(db: str) -> None:
    with psycopg.connect(db, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE SCHEMA apart")
    message = failure("db", "create", "--db", in_schema(db, "apart"), code=1)["message"]
    assert "options=-csearch_path%3Drecollect,public" in message
    both = in_schema(db, "apart,public")
    run("remember", "Tea is green", "--db", both)
    assert ask("recall", "tea", "--db", both)["hits"]


def test_encryption_in_place_is_for_files(db: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("5e" * 32)
    for command, option in {
        ("encrypt",): "--to-key-file FILE",
        ("rekey", "--new-key-file", str(tmp_path / "key")): "--to-key-file FILE",
        ("decrypt",): "--to-plain",
    }.items():
        message = failure("db", *command, "--db", db, code=1, RECOLLECT_KEY="5e" * 32)["message"]
        assert "recollect copy" in message
        assert option in message


def test_a_copy_for_somebody_unknown_makes_no_database(db: str, tmp_path: Path) -> None:
    run("remember", "Tea is green", "--user", "ana")
    target = changed(db, database="recollect_cli_target")
    assert "typo" in failure("copy", tmp_path / "recollect.db", target, "--user", "typo", code=3)["message"]
    failure("list", "--db", target, code=3)
