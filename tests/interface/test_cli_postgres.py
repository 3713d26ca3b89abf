"""The commands on a PostgreSQL database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from recollect.stores.sql.migrate import HEAD
from tests.contract.postgres import new_database
from tests.interface.test_cli_frame import ask, failure, run

pytestmark = pytest.mark.engine

KEY = "5e" * 32


@pytest.fixture
def db(server: str) -> Iterator[str]:
    with new_database(server, "recollect_cli") as url:
        yield url


def test_made_used_checked_and_looked_after(db: str, server: str) -> None:
    missing = make_url(server).set(database="recollect_cli_new").render_as_string(hide_password=False)
    for command in (("list",), ("record", "user", "hello")):
        refused = failure(*command, "--db", missing, code=3)
        assert (refused["type"], "db create" in refused["message"]) == ("StoreMissing", True)
    (checked,) = [c for c in ask("doctor", "--db", missing, code=1)["checks"] if c["state"] == "fail"]
    assert checked["fix"] == "Run `recollect db create`."
    assert ask("db", "create", "--db", missing)["created"] is True
    assert ask("db", "create", "--db", missing)["created"] is False
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE recollect_cli_new WITH (FORCE)")

    assert "db create" in failure("list", "--db", db, code=3)["message"]
    assert ask("db", "path", "--db", db)["exists"] is False
    assert "db create" in run("doctor", "--db", db).stdout
    assert ask("db", "migrate", "--db", db)["after"] == HEAD
    run("record", "user", "Xylophone lessons are on Monday", "--db", db)
    assert ask("recall", "xylophone", "--db", db)["hits"]
    assert ask("db", "check", "--db", db) == {
        "path": ask("db", "path", "--db", db)["path"],
        "ok": True,
        "problems": [],
    }
    assert ask("db", "stats", "--db", db)["engine"].startswith("PostgreSQL")
    found = ask("doctor", "--db", db)
    assert found["ok"], found
    assert {job["problem"] for job in ask("tend", "--db", db)["jobs"]} == {None}
    assert ask("demo", "--db", db)["ok"]


def test_copied_there_sealed_and_back(tmp_path: Path, db: str, server: str) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    first, last = tmp_path / "first.db", tmp_path / "last.db"
    run("record", "user", "Xylophone lessons are on Monday", "--db", first)
    run("remember", "The xylophone is green", "--db", first)
    assert ask("copy", first, db)["verified"]
    with new_database(server, "recollect_cli_sealed") as sealed:
        assert ask("copy", db, sealed, "--to-key-file", key)["verified"]
        with psycopg.connect(sealed) as connection:
            stored = str(
                connection.execute("SELECT content FROM turns UNION SELECT content FROM memories").fetchall()
            )
        assert "ylophone" not in stored
        assert "RECOLLECT_KEY" in failure("list", "--db", sealed, code=1)["message"]
        assert ask("recall", "xylophone", "--db", sealed, RECOLLECT_KEY_FILE=str(key))["hits"]
        assert ask("copy", sealed, last, RECOLLECT_KEY_FILE=str(key))["verified"]
        for given in ({}, {"RECOLLECT_KEY": "a7" * 32}, {"RECOLLECT_KEY_FILE": str(tmp_path / "none")}):
            (failed,) = [
                c for c in ask("doctor", "--db", sealed, code=1, **given)["checks"] if c["state"] == "fail"
            ]
            assert failed["fix"].startswith("Correct RECOLLECT_KEY or RECOLLECT_KEY_FILE"), failed
        with new_database(server, "recollect_cli_readable") as readable:
            assert ask("copy", sealed, readable, "--to-plain", RECOLLECT_KEY_FILE=str(key))["verified"]
            assert ask("recall", "xylophone", "--db", readable)["hits"]
            refused = failure("copy", sealed, readable, code=1, RECOLLECT_KEY_FILE=str(key))
            assert "--to-plain" in refused["message"]
    there, back = ask("export", "--db", first), ask("export", "--db", last, RECOLLECT_KEY_FILE=str(key))
    assert there[1:] == back[1:]  # the first line says when it was written


def told(db: str, name: str, *command: str, **given: str) -> tuple[str, str]:
    """What a check says, and what to do about it."""
    code = 1 if "--check" in command else 0  # nobody has a key, which a server needs
    checks = ask(*command, "--db", db, code=code, **given)["checks"]
    (check,) = [one for one in checks if one["name"] == name]
    return check["state"], check["fix"]


def test_room_for_connections_and_standbys(db: str) -> None:
    assert ask("db", "create", "--db", db)["created"] is True
    assert told(db, "connections", "doctor") == ("ok", "")
    many = {"RECOLLECT_PROCESSES": "8", "RECOLLECT_DB_POOL": "20"}
    state, fix = told(db, "connections", "doctor", **many)
    assert (state, "Lower RECOLLECT_DB_POOL to 11, raise max_connections" in fix) == ("warn", True), fix
    everywhere = {**many, "RECOLLECT_HOST": "0.0.0.0", "RECOLLECT_PORT": "0"}
    assert told(db, "connections", "config", "--check", **everywhere) == (state, fix)
    assert told(db, "connections", "doctor", **many, RECOLLECT_DB_POOLER=db)[0] == "ok"
    nowhere: dict[str, Any] = {"RECOLLECT_DB_REPLICA": "postgresql://me:xyzzy@/memory?host=/nowhere"}
    assert told(db, "replica", "doctor", **nowhere)[0] == "warn"
    assert "xyzzy" not in run("doctor", "--db", db, **nowhere).stdout
    assert "xyzzy" not in run("config", "--db", db, **nowhere).stdout
    state, fix = told(db, "replica", "doctor", **nowhere, RECOLLECT_AUDIT="reads")
    assert (state, "RECOLLECT_AUDIT" in fix) == ("warn", True)


def test_no_answer_shows_the_password(db: str) -> None:
    secret = make_url(db).set(username="postgres", password="hunter2hunter2")
    address = secret.render_as_string(hide_password=False)
    for command in (("db", "path"), ("doctor",), ("db", "create"), ("demo",), ("tend", "--dry-run")):
        done = run(*command, "--db", address)
        assert "hunter2" not in done.stdout + done.stderr
    wrong = secret.set(username="nobody").render_as_string(hide_password=False)
    for command in (("list",), ("doctor",)):
        done = run(*command, "--db", wrong, code=1)
        assert "hunter2" not in done.stdout + done.stderr
