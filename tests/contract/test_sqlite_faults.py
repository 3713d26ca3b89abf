"""SQLite's own faults: killed writers, full disks, files that cannot be used, failing jobs in a group."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event, text

from recollect.errors import NotFound, StoreUnavailable
from recollect.model.changes import Revise
from recollect.model.records import Turn
from recollect.ports.store import Store
from recollect.stores.sqlite.backend import open_store
from recollect.stores.sqlite.commit import GroupCommit
from recollect.testing.store_samples import SPACE, append, axis, draft, fact, put, question, said
from recollect.testing.store_suite import found
from tests.contract.children import assert_nothing_lost, child, killed_writer, output


def opened(path: Path) -> Store:
    return open_store(path, cache_bytes=1 << 24)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


# Killed while writing


@pytest.mark.parametrize("acknowledged", [1, 23, 80])
def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path, acknowledged: int) -> None:
    opened(path).add_space(SPACE)
    lines = killed_writer(path, acknowledged)
    store = opened(path)
    assert_nothing_lost(store, lines)
    store.close()


@pytest.mark.parametrize("delay", [0.0, 0.03])
def test_a_killed_migration_is_done_again(path: Path, delay: float) -> None:
    process = child("make", path)
    while not path.exists() and process.poll() is None:
        pass
    threading.Event().wait(delay)
    process.kill()
    process.communicate()
    store = opened(path)
    store.user("alice").apply([said(2)])
    assert store.check() == []
    store.close()


def test_an_interrupted_migration_leaves_nothing(path: Path) -> None:
    """The statement that fails is the 20th; the tables before it must not stay."""
    count = 0

    def interrupt(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        nonlocal count
        count += statement.lstrip().startswith("CREATE")
        if count == 20:
            raise KeyboardInterrupt

    event.listen(Engine, "before_cursor_execute", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            opened(path)
    finally:
        event.remove(Engine, "before_cursor_execute", interrupt)
    store = opened(path)
    store.user("alice").apply([said(2)])
    assert store.check() == []
    store.close()


# Full disks


@pytest.fixture
def full_disk() -> Iterator[None]:
    """Databases opened from here on cannot grow beyond 120 pages."""

    def limit(connection: object, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 120")  # type: ignore[attr-defined]

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


def test_a_full_disk_is_reported_and_got_over(path: Path, full_disk: None) -> None:
    store = opened(path)
    store.add_space(SPACE)
    user = store.user("alice")
    written = 0
    with suppress(StoreUnavailable):
        while True:
            user.apply([append(draft("tea " * 200, id=f"t-{written}", vector=axis(0)))], SPACE)
            written += 1
    assert written > 5
    expected = {f"t-{i}" for i in range(written)}
    assert {turn.id for turn in user.find(Turn)} == expected
    assert found(user, question("tea")) == expected
    with pytest.raises(StoreUnavailable, match="full"):
        user.apply([append(draft("tea " * 5000, id="large"))])
    user.apply([Revise("turn", "t-0", {"agent": "small"})])
    assert store.check() == []
    user.erase()
    user.apply([append(draft("tea", id="now there is room"))])
    assert found(user, question("tea")) == {"now there is room"}
    assert store.check() == []
    store.close()


def test_a_disk_too_full_for_the_schema(path: Path) -> None:
    def limit(connection: object, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 10")  # type: ignore[attr-defined]

    event.listen(Engine, "connect", limit)
    try:
        with pytest.raises(StoreUnavailable, match="full"):
            opened(path)
    finally:
        event.remove(Engine, "connect", limit)
    store = opened(path)
    store.user("alice").apply([said(1)])
    assert store.check() == []
    store.close()


def test_a_disk_that_refuses_to_write(path: Path) -> None:
    opened(path).close()
    limit = path.stat().st_size + 200_000
    failed, during, after = (line.split() for line in output("fill", path, str(limit)))
    assert failed[0] == "StoreUnavailable"
    written = int(failed[1])
    assert written > 3
    assert during == [str(written)] * 2
    assert after == [str(written + 1), "0"]
    store = opened(path)
    assert store.user("alice").count(Turn) == written + 1
    assert store.check() == []
    store.close()


# No right to


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder anybody may enter; pytest's own are closed to other users."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_file_and_folder(public_folder: Path) -> None:
    path = public_folder / "memory.db"
    store = opened(path)
    store.user("alice").apply([said(3)])
    store.close()
    path.chmod(0o444)
    public_folder.chmod(0o555)
    before = path.read_bytes()
    reading, writing = (line.split() for line in output("unprivileged", path))
    assert reading[1] in ("3", "StoreUnavailable")  # SQLite may need the folder to read a log
    assert writing[1:] == ["StoreUnavailable", "True"]
    assert path.read_bytes() == before


def test_a_read_only_file_in_a_writable_folder(public_folder: Path) -> None:
    path = public_folder / "memory.db"
    store = opened(path)
    store.user("alice").apply([said(3)])
    store.close()
    path.chmod(0o444)
    public_folder.chmod(0o777)
    before = path.read_bytes()
    reading, writing = (line.split() for line in output("unprivileged", path))
    assert reading[1] in ("3", "StoreUnavailable")
    assert writing[1:] == ["StoreUnavailable", "True"]
    assert path.read_bytes() == before


def test_a_folder_that_may_not_be_entered(public_folder: Path) -> None:
    public_folder.chmod(0o500)
    for inside in ("memory.db", "deeper/memory.db"):
        for line in output("unprivileged", public_folder / inside):
            assert line.split()[1:] == ["StoreUnavailable", "True"]
    assert list(public_folder.iterdir()) == []


def test_a_writer_that_holds_on_for_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.stores.sqlite.backend.BUSY_SECONDS", 0)
    store, other = opened(path), opened(path)
    store.user("alice").apply([said(1)])
    inside, leave = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        inside.set()
        leave.wait(30)

    holder = threading.Thread(target=store._backend.write, args=(hold,))  # type: ignore[attr-defined]
    holder.start()
    try:
        assert inside.wait(30)
        with pytest.raises(StoreUnavailable, match="another process"):
            other.user("alice").apply([append(draft(id="x"))])
        assert other.user("alice").count(Turn) == 1
    finally:
        leave.set()
        holder.join()
    assert other.user("alice").apply([append(draft(id="x"))]).created == 1
    store.close()
    other.close()


# Group commit


def test_a_failing_job_in_a_group_fails_alone(tmp_path: Path) -> None:
    store = opened(tmp_path / "memory.db")
    engine: Engine = store._backend._engine  # type: ignore[attr-defined]
    committed, group = 0, 9
    begun, gathered = threading.Event(), threading.Event()

    def connect() -> Connection:  # for each commit once
        nonlocal committed
        committed += 1
        return engine.connect()

    commits = GroupCommit(connect)

    def first(_: Connection) -> None:
        begun.set()
        gathered.wait(30)  # holds the seat until all the others wait for it

    def job(i: int):
        def work(connection: Connection) -> int:
            connection.execute(text(f"INSERT INTO leases VALUES ('l-{i}', 'me', 1)"))
            if i % 3 == 1:
                raise NotFound(f"job {i}")
            if i % 3 == 2:
                connection.execute(text("INSERT INTO leases VALUES ('l-0', NULL, NULL)"))
            return i

        return work

    outcomes: dict[int, object] = {}

    def run(i: int) -> None:
        try:
            outcomes[i] = commits.run(job(i))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
            outcomes[i] = type(error).__name__

    leader = threading.Thread(target=commits.run, args=(first,))
    leader.start()
    assert begun.wait(30)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(group)]
    for thread in threads:
        thread.start()
    while len(commits._waiting) < group:
        pass
    gathered.set()
    for thread in (leader, *threads):
        thread.join()
    assert outcomes == {i: (i, "NotFound", "IntegrityError")[i % 3] for i in range(group)}
    with engine.connect() as connection:
        names = {row.name for row in connection.execute(text("SELECT name FROM leases"))}
    assert names == {"l-0", "l-3", "l-6"}
    assert committed == 2, "one for the first, one for all the others"
    store.close()


def test_a_job_that_is_interrupted_does_not_take_the_store_with_it(path: Path) -> None:
    store = opened(path)

    def work(connection: Connection) -> None:
        connection.execute(text("INSERT INTO leases VALUES ('l', 'me', 1)"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store._backend.write(work)  # type: ignore[attr-defined]
    user = store.user("alice")
    user.apply([put(fact("f", "tea"))])
    assert found(user, question("tea")) == {"f"}
    assert store.stats()["rows"]["memories"] == 1
    store.close()
