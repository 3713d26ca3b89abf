"""The commands of encryption, and what the others say of an encrypted database."""

from pathlib import Path

import pytest

from tests.interface.test_cli_frame import ask, failure, run

SECRET, OTHER = "5e" * 32, "a7" * 32


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "recollect.db"
    run("record", "user", "Xylophone lessons are on Monday", "--db", path)
    return path


def key_file(folder: Path, name: str, key: str) -> str:
    file = folder / name
    file.write_text(key + "\n")
    file.chmod(0o600)
    return str(file)


def test_encrypt_rekey_and_decrypt(tmp_path: Path, db: Path) -> None:
    old, new = key_file(tmp_path, "old", SECRET), key_file(tmp_path, "new", OTHER)
    done = ask("db", "encrypt", RECOLLECT_KEY_FILE=old)
    assert done == {"path": str(db), "encrypted": True, "changed": True}
    assert b"ylophone" not in db.read_bytes()
    assert ask("recall", "xylophone", RECOLLECT_KEY=SECRET)["hits"]
    assert "already encrypted" in run("db", "encrypt", RECOLLECT_KEY_FILE=old).stdout
    done = run("db", "rekey", "--new-key-file", new, RECOLLECT_KEY_FILE=old)
    assert done.stdout == f"{db} is now encrypted with the new key.\n"
    assert ask("db", "rekey", "--new-key-file", new, RECOLLECT_KEY_FILE=old)["changed"] is False
    assert "does not open" in failure("recall", "x", code=1, RECOLLECT_KEY_FILE=old)["message"]
    assert ask("db", "decrypt", RECOLLECT_KEY_FILE=new)["encrypted"] is False
    assert ask("recall", "xylophone")["hits"]


def test_what_is_missing_is_named(tmp_path: Path, db: Path) -> None:
    for command in (("encrypt",), ("decrypt",), ("rekey", "--new-key-file", "none")):
        assert "RECOLLECT_KEY_FILE" in failure("db", *command, code=1)["message"]
    missing = failure("db", "encrypt", code=1, RECOLLECT_KEY_FILE=str(tmp_path / "none"))
    assert "cannot be read" in missing["message"]
    assert failure("db", "encrypt", "--db", tmp_path / "no.db", code=3, RECOLLECT_KEY=SECRET)
    failure("db", "rekey", code=2)


def test_doctor_and_migrate_of_an_encrypted_database(tmp_path: Path, db: Path) -> None:
    file = key_file(tmp_path, "key", SECRET)
    run("db", "encrypt", RECOLLECT_KEY_FILE=file)
    found = ask("doctor", RECOLLECT_KEY_FILE=file)
    assert {check["state"] for check in found["checks"]} == {"ok"}
    assert "already" in run("db", "migrate", RECOLLECT_KEY_FILE=file).stdout
    assert "encrypted" in ask("db", "stats", RECOLLECT_KEY_FILE=file)["engine"]
    Path(file).chmod(0o644)
    printed = run("doctor", RECOLLECT_KEY_FILE=file).stdout
    assert "chmod 600" in printed
    assert SECRET not in printed + run("doctor", RECOLLECT_KEY=SECRET).stdout
    assert "is encrypted: set RECOLLECT_KEY" in run("doctor", code=1).stdout
    wrong = run("doctor", code=1, RECOLLECT_KEY=OTHER).stdout
    assert "does not open with this key" in wrong
    assert OTHER not in wrong
    for given in ({}, {"RECOLLECT_KEY": OTHER}, {"RECOLLECT_KEY_FILE": str(tmp_path / "none")}):
        (failed,) = [c for c in ask("doctor", code=1, **given)["checks"] if c["state"] == "fail"]
        assert failed["fix"].startswith("Correct RECOLLECT_KEY or RECOLLECT_KEY_FILE"), failed


def test_doctor_makes_no_encrypted_database(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    run("doctor", "--db", empty, RECOLLECT_KEY=SECRET)
    assert empty.read_bytes() == b""
