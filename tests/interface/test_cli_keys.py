"""recollect keys: made, shown once, listed, revoked."""

from pathlib import Path

import pytest

from recollect.ports.keys import KeyRole
from recollect.server.identity.issuing import digest
from recollect.stores.sqlite.backend import open_store
from tests.interface.test_cli_frame import ask, failure, run


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("RECOLLECT_DB", str(path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "no-such-model")  # none is opened
    return path


@pytest.mark.parametrize(
    ("words", "role", "user", "letter"),
    [
        (("--user", "ana"), "user", "ana", "u"),
        (("--service",), "service", None, "s"),
        (("--admin",), "admin", None, "a"),
    ],
)
def test_a_key_is_made_and_shown_once(
    db: Path, words: tuple[str, ...], role: str, user: str | None, letter: str
) -> None:
    made = ask("keys", "create", *words, "--name", "laptop")
    assert made["key"].startswith(f"rk_{letter}_")
    assert len(made["key"]) == 48
    assert (made["role"], made["user"], made["name"]) == (role, user, "laptop")
    store = open_store(db, cache_bytes=1 << 20)
    kept = store.key_by_digest(digest(made["key"]))
    store.close()
    assert kept
    assert (kept.id, kept.role, kept.owner) == (made["id"], KeyRole(role), user)
    assert made["key"] not in run("keys", "list").stdout + run("keys", "list", "--json").stdout
    assert made["key"].encode() not in db.read_bytes()


def test_only_the_key_is_printed_to_standard_output(db: Path) -> None:
    made = run("keys", "create", "--user", "ana")
    assert made.stdout.startswith("rk_u_")
    assert made.stdout.count("\n") == 1
    assert "note it down" in made.stderr


def test_the_first_key_says_what_changes(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_USER", "derek")
    first = run("keys", "create", "--admin").stderr
    assert "from now on every request needs a key" in first
    assert "What was recorded without one is derek's: make a key with --user derek" in first
    assert "from now on" not in run("keys", "create", "--user", "derek").stderr
    other = ("--db", str(db.with_name("other.db")))
    own = run("keys", "create", "--user", "derek", *other).stderr
    assert "from now on" in own
    assert "recorded without" not in own


def test_keys_are_listed_newest_first(db: Path) -> None:
    ids = [ask("keys", "create", "--user", user)["id"] for user in ("ana", "ben")]
    assert [key["id"] for key in ask("keys", "list")["keys"]] == ids[::-1]
    assert [key["id"] for key in ask("keys", "list", "--user", "ana")["keys"]] == ids[:1]
    assert "user ben" in run("keys", "list").stdout


def test_a_key_is_revoked_by_its_id(db: Path) -> None:
    id = ask("keys", "create", "--admin")["id"]
    assert ask("keys", "revoke", id)["revoked_at"]
    assert "revoked" in run("keys", "list").stdout
    assert "no such key" in failure("keys", "revoke", "nothing", code=3)["message"]


@pytest.mark.parametrize("expires", ["90d", "12h", "4w", "30m", "2999-01-31", "2999-01-31T12:00+02:00"])
def test_a_key_expires_when_it_is_told_to(db: Path, expires: str) -> None:
    assert ask("keys", "create", "--service", "--expires", expires)["expires_at"]


@pytest.mark.parametrize("expires", ["soon", "90", "-1d", "0d", "2001-01-01", "999999w999", "90d 12h"])
def test_what_is_no_time_to_come_is_refused(db: Path, expires: str) -> None:
    run("keys", "create", "--service", "--expires", expires, code=1)


@pytest.mark.parametrize("words", [(), ("--user", "ana", "--admin"), ("--service", "--admin")])
def test_a_key_is_for_one(db: Path, words: tuple[str, ...]) -> None:
    assert "say whose key it is" in run("keys", "create", *words, code=2).stderr


def test_names_drive_no_terminal(db: Path) -> None:
    run("keys", "create", "--service", "--name", "a\x1b[31mb\r\nc")
    listed = run("keys", "list").stdout
    assert "\x1b" not in listed
    assert listed.count("\n") == 1


def test_without_a_database_there_is_nothing_to_list(db: Path) -> None:
    assert failure("keys", "list", code=3)
    assert not db.exists()
