"""Encrypted files: nothing to read in them, the right key opens them, and changing it loses nothing."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from recollect import Memory, SettingsError, StoreCorrupt, StoreUnavailable
from recollect.keys import Key, from_text
from recollect.models.hashing import HashingEmbedder
from recollect.stores.sql.codec import encode_vector
from recollect.stores.sqlite import cipher, convert
from recollect.stores.sqlite.backend import open_store
from recollect.stores.sqlite.cipher import MARK

SECRET, OTHER = "5e" * 32, "a7" * 32
KEY, NEW = from_text(SECRET), from_text(OTHER)
TEXT = "Xylophonist Quorblatt owes 73915 zorkmids"
WORDS = ("xylophonist", "quorblatt", "73915", "zorkmids", "derek", "conversationthing", "create table")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def opened(path: Path, key: str = SECRET) -> Memory:
    return Memory.open(path, key=key, embedder="hashing")


def filled(path: Path, key: str = SECRET, count: int = 200) -> None:
    with opened(path, key) as memory:
        derek = memory.scope("derek", conversation="conversationthing")
        derek.record_many({"role": "user", "content": f"{TEXT} {i}"} for i in range(count))
        memory.scope("derek").remember(TEXT)


def readable(folder: Path) -> list[tuple[str, object]]:
    """What of it can be read in which file."""
    vector = encode_vector(np.asarray(HashingEmbedder().embed_passages([TEXT])[0], np.float32))
    found: list[tuple[str, object]] = []
    for file in folder.iterdir():
        content = file.read_bytes()
        found += [(file.name, word) for word in WORDS if word.encode() in content.lower()]
        found += [(file.name, "vector")] if vector in content else []
    return found


def turns(path: Path, key: str = SECRET) -> int:
    with opened(path, key) as memory:
        assert memory.store.check() == []
        derek = memory.scope("derek")
        assert derek.recall("xylophonist").hits
        return len(list(derek.conversation("conversationthing")))


# Nothing to read


def test_the_search_would_find_it(path: Path) -> None:
    filled(path, "")
    assert {what for _, what in readable(path.parent)} == {*WORDS, "vector"}


def test_no_word_name_or_vector_is_in_any_file(path: Path) -> None:
    with opened(path) as memory:
        derek = memory.scope("derek", conversation="conversationthing")
        assert len(list(path.parent.iterdir())) > 1
        derek.record_many({"role": "user", "content": f"{TEXT} {i}"} for i in range(300))
        fact = derek.remember(TEXT)
        assert readable(path.parent) == []
        assert derek.recall(TEXT).hits
        derek.correct(fact.id, TEXT + " no more")
        derek.forget(conversation="conversationthing")
        assert not memory.store.needs_scrub()
        assert readable(path.parent) == []
    assert readable(path.parent) == []
    assert path.read_bytes().startswith(MARK)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be listed here")
def test_a_scrub_makes_no_temporary_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, count=3000)
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for handle in Path("/proc/self/fd").iterdir():
                try:
                    seen.add(str(handle.readlink()))
                except OSError:
                    continue

    with opened(path) as memory:
        watcher = threading.Thread(target=watch)
        watcher.start()
        memory.scope("derek").forget(conversation="conversationthing")
        assert memory.store.scrub()
        done.set()
        watcher.join()
        assert memory.store.check() == []
    assert any(name.startswith(str(path)) for name in seen)
    assert [name for name in seen if "etilqs" in name or name.startswith(tempfile.gettempdir() + "/e")] == []


# Keys


def test_another_process_needs_the_key_only(path: Path) -> None:
    filled(path)
    code = "from recollect import Memory; print(len(Memory.open().scope('derek').recall('quorblatt').hits))"
    environment = {**os.environ, "RECOLLECT_DB": str(path), "RECOLLECT_EMBEDDER": "hashing"}
    for key, status in ((SECRET, 0), (OTHER, 1)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, "RECOLLECT_KEY": key},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert (done.stdout == "5\n") == (status == 0)
        assert SECRET not in done.stderr
        assert OTHER not in done.stderr
        assert "ERROR CORE" not in done.stderr  # SQLCipher's own log


def test_a_wrong_key_changes_nothing(path: Path) -> None:
    store = open_store(path, cache_bytes=1 << 20, key=KEY)
    with pytest.raises(SettingsError, match="does not open with this key"):
        opened(path, OTHER)
    store.close()
    filled(path, count=3)
    before = path.read_bytes()
    for key in (OTHER, "a passphrase"):
        with pytest.raises(SettingsError, match="RECOLLECT_KEY") as refused:
            opened(path, key)
        assert key not in str(refused.value)
    assert path.read_bytes() == before
    assert turns(path) == 3


def test_no_key(path: Path) -> None:
    filled(path, count=3)
    before = path.read_bytes()
    with pytest.raises(SettingsError, match="is encrypted: set RECOLLECT_KEY or RECOLLECT_KEY_FILE"):
        Memory.open(path, embedder="none")
    assert path.read_bytes() == before


def test_a_key_for_a_file_that_is_not_encrypted(path: Path) -> None:
    filled(path, "", count=3)
    before = path.read_bytes()
    with pytest.raises(SettingsError, match="recollect db encrypt"):
        opened(path)
    assert path.read_bytes() == before


def test_one_file_is_not_opened_in_both_ways_at_once(path: Path) -> None:
    with opened(path), pytest.raises(SettingsError, match="open here already"):
        Memory.open(path, embedder="none")
    plain = path.with_name("plain.db")
    with Memory.open(plain, embedder="none"), pytest.raises(SettingsError, match="open here already"):
        opened(plain)


def test_without_the_extra(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, count=3)
    cipher.sqlcipher.cache_clear()
    monkeypatch.setitem(sys.modules, "sqlcipher3.dbapi2", None)
    with pytest.raises(SettingsError, match=r"pip install 'recollect\[encryption\]'"):
        opened(path)
    with pytest.raises(SettingsError, match="is encrypted"):
        Memory.open(path, embedder="none")


@pytest.mark.parametrize(
    "content", [b"x", b"just some notes\n" * 999, bytes(range(256)) * 64, b"\xff" * 8192]
)
def test_a_file_that_is_no_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="not a Recollect database"):
        opened(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    filled(path, count=2)
    assert turns(path) == 2


def _open_and_record(path: Path, number: int) -> None:
    with opened(path) as memory:
        memory.scope("derek").record("user", f"{TEXT} {number}", conversation="conversationthing")


def test_processes_that_make_the_file_at_once_agree_on_its_salt(path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.starmap(_open_and_record, [(path, number) for number in range(8)])
    assert turns(path) == 8


def test_damage_is_noticed(path: Path) -> None:
    filled(path)
    damaged = bytearray(path.read_bytes())
    for page in range(4, len(damaged) // cipher.PAGE_SIZE):
        damaged[page * cipher.PAGE_SIZE + 4000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt, match="damaged"):
        turns(path)
    assert path.read_bytes() == damaged


# Conversion


def test_there_and_back_again(path: Path) -> None:
    filled(path, "")
    path.chmod(0o640)
    with Memory.open(path, embedder="none") as memory:
        before = memory.store.stats()["rows"]
    assert convert.convert(path, None, KEY)
    assert readable(path.parent) == []
    assert turns(path) == 200
    assert convert.convert(path, KEY, NEW)
    with pytest.raises(SettingsError, match="does not open"):
        opened(path)
    assert turns(path, OTHER) == 200
    with opened(path, OTHER) as memory:
        memory.scope("derek").record("user", "more", conversation="more")
        assert memory.store.scrub()
        memory.scope("derek").forget(conversation="more")
    assert convert.convert(path, NEW, None)
    assert turns(path, "") == 200
    with Memory.open(path, embedder="none") as memory:
        after = memory.store.stats()["rows"]
    assert after.items() >= {name: before[name] for name in ("users", "turns", "memories")}.items()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_is_done_already_is_not_done_again(path: Path) -> None:
    filled(path, "", count=2)
    assert not convert.convert(path, KEY, None)
    assert convert.convert(path, None, KEY)
    before = path.read_bytes()
    assert not convert.convert(path, None, KEY)
    assert not convert.convert(path, NEW, KEY)
    assert path.read_bytes() == before
    with pytest.raises(SettingsError, match="does not open with this key"):
        convert.convert(path, NEW, None)
    assert path.read_bytes() == before


@pytest.mark.parametrize("key", [SECRET, ""], ids=["encrypted", "plain"])
@pytest.mark.parametrize("where", ["here", "in another process"])
def test_a_file_in_use_is_refused(path: Path, key: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, key, count=2)
    monkeypatch.setattr(convert, "PATIENCE_SECONDS", 0.1)
    ours = from_text(key) if key else None
    if where == "here":
        memory = opened(path, key)
        with pytest.raises(StoreUnavailable, match="in use"):
            convert.convert(path, ours, NEW)
        memory.close()
    else:
        with holder(path, key), pytest.raises(StoreUnavailable, match="in use"):
            convert.convert(path, ours, NEW)
    assert turns(path, key) == 2
    assert convert.convert(path, ours, NEW)


@contextmanager
def holder(path: Path, key: str) -> Iterator[None]:
    """Another process that has it open."""
    code = (
        "import sys; from recollect import Memory\n"
        "memory = Memory.open(sys.argv[1], key=sys.argv[2], embedder='none')\n"
        "print(bool(memory.store.stats()), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path), key]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        yield
        process.kill()


def test_the_old_bytes_are_overwritten(path: Path) -> None:
    filled(path, "")
    second = path.with_name("the same file")
    second.hardlink_to(path)
    convert.convert(path, None, KEY)
    assert set(second.read_bytes()) == {0xFF}


def test_somebody_elses_database_is_not_converted(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(Exception, match="something else"):
        convert.convert(path, None, KEY)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


CHILD = """
import os, signal, sys
from pathlib import Path
from recollect.keys import from_text
from recollect.stores.sqlite import convert
path, old, new, step = sys.argv[1:]
setattr(convert, step, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
convert.convert(Path(path), from_text(old) if old else None, from_text(new) if new else None)
"""


@pytest.mark.parametrize("step", ["_copy", "_verify", "_flush", "_overwrite"])
@pytest.mark.parametrize(
    ("old", "new"), [("", SECRET), (SECRET, OTHER), (SECRET, "")], ids=["encrypt", "rekey", "decrypt"]
)
def test_killed_at_any_step_the_database_is_whole(path: Path, old: str, new: str, step: str) -> None:
    filled(path, old, count=20)
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), old, new, step], check=False)
    assert done.returncode == -signal.SIGKILL
    assert turns(path, new if step == "_overwrite" else old) == 20
    convert.convert(path, _key(old), _key(new))  # again, to the end
    assert turns(path, new) == 20
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def _key(text: str) -> Key | None:
    return from_text(text) if text else None


@pytest.fixture(autouse=True)
def _module_again() -> Iterator[None]:
    yield
    cipher.sqlcipher.cache_clear()
