"""The key: read from one place, derived once, shown nowhere."""

import pickle
from pathlib import Path

import pytest

from recollect import Memory, SettingsError
from recollect.keys import LARGEST, Key, from_file, from_text
from recollect.settings import load
from recollect.wiring import database_key

SECRET = "correct horse battery staple"
SALT = bytes(range(16))


def test_a_file_and_a_variable_give_the_same_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    for ending in ("", "\n", "\r\n"):
        file.write_text(SECRET + ending, newline="")
        assert database_key(load({"RECOLLECT_KEY_FILE": str(file)})) == from_text(SECRET)
    assert database_key(load({"RECOLLECT_KEY": SECRET})) == from_text(SECRET)
    assert database_key(load({})) is None


def test_both_are_refused_unless_one_is_given_in_their_place() -> None:
    both = {"RECOLLECT_KEY": SECRET, "RECOLLECT_KEY_FILE": "key"}
    with pytest.raises(SettingsError, match="unset one") as refused:
        load(both)
    assert SECRET not in str(refused.value)
    with pytest.raises(SettingsError, match="unset one"):
        load({}, key=SECRET, key_file="key")
    assert load(both, key="another").key_file == ""
    assert load(both, key_file="another").key == ""


def test_a_file_that_holds_no_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    with pytest.raises(SettingsError, match="cannot be read"):
        from_file(file)
    file.write_text("\n")
    with pytest.raises(SettingsError, match="openssl rand -hex 32"):
        from_file(file)
    file.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(SettingsError, match="no key file"):
        from_file(file)


@pytest.mark.parametrize("secret", [SECRET, "5e" * 32])
def test_a_derived_key_depends_on_all_it_is_made_of(secret: str) -> None:
    key = from_text(secret)
    derived = key.derive(SALT)
    assert len(derived) == 32
    assert derived == from_text(secret).derive(SALT)
    assert derived != key.derive(bytes(16))
    assert derived != from_text(secret[:-1] + "f").derive(SALT)
    assert secret.encode() not in derived


def test_what_is_derived_never_changes() -> None:
    """Files on disk depend on it."""
    assert (
        from_text(SECRET).derive(SALT).hex()
        == "6705dba046cafbaba8de989bca88e0038ce03542d0c0cd96a8f956a72f86ee67"
    )
    assert (
        from_text("5e" * 32).derive(SALT).hex()
        == "c0b0e030295580c485fd84d3c50818c48d911d0baee95bcd3e057089bba36eb9"
    )


def test_the_key_is_shown_nowhere(tmp_path: Path) -> None:
    assert SECRET not in repr(load({"RECOLLECT_KEY": SECRET}))
    assert "key='set'" in repr(load({"RECOLLECT_KEY": SECRET}))
    assert SECRET not in repr(from_text(SECRET))
    assert pickle.loads(pickle.dumps(Key(b"x"))) == Key(b"x")
    path = tmp_path / "memory.db"
    with Memory.open(path, key=SECRET, embedder="none") as memory:
        assert SECRET not in f"{memory.settings!r}{vars(memory)}"
    with pytest.raises(SettingsError) as refused:
        Memory.open(path, key=SECRET + "!", embedder="none")
    assert SECRET not in str(refused.value)


def test_a_key_to_a_server_encrypts_nothing() -> None:
    with pytest.raises(SettingsError, match=r"that encrypts the database.*recollect\.Client") as refused:
        database_key(load({"RECOLLECT_KEY": "rk_u_secret"}))
    assert "secret" not in str(refused.value)


def test_a_servers_address_is_no_database() -> None:
    for url in ("http://127.0.0.1:7070", "https://memory.example.org/api/v1"):
        with pytest.raises(SettingsError, match=r"use recollect\.Client\(url, key\)"):
            Memory.open(url, embedder="none")
