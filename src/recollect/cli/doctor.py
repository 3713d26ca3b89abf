"""recollect doctor: what is configured, what works, what is slow or missing."""

import os
import platform
import shlex
import shutil
import sqlite3
import statistics
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter

import typer

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli import database, doctor_engines, doctor_server, models, output
from recollect.cli.doctor_contents import Check, contents
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command
from recollect.errors import EmbedderError, RecollectError, SettingsError
from recollect.model.space import Space
from recollect.ports.store import Store
from recollect.settings import MiB, Settings
from recollect.wiring import database_file

app = typer.Typer()

SLOW_MS = 100.0
LITTLE_DISK, NO_DISK = 1024 * MiB, 64 * MiB
QUERIES = 5
BUSY_SECONDS = 2.0
MAKE = "Run `recollect db create`."
CORRECT_KEY = "Correct RECOLLECT_KEY or RECOLLECT_KEY_FILE, as it says."


@command(app, "recollect doctor", "recollect doctor --json | jq '.checks[] | select(.state != \"ok\")'")
def doctor(here: Here) -> None:
    """Say what is configured, what works, and what is slow or missing; exit code 1 when something fails."""
    checks = list(_checks(here))
    states = {check.state for check in checks}
    here.answer(
        {"ok": "fail" not in states, "checks": [output.plain(check) for check in checks]},
        lambda: output.table(
            ("", "what", "found", "what to do"),
            [(check.state, check.name, check.detail, check.fix) for check in checks],
            {"ok": "green", "warn": "yellow", "fail": "bold red"},
        ),
    )
    if "fail" in states:
        raise typer.Exit(FAILED)


def _checks(here: Here) -> Iterator[Check]:
    from recollect import __version__

    yield Check("recollect", "ok", __version__)
    yield Check("python", "ok", f"{platform.python_version()} on {platform.system()} ({sys.executable})")
    yield _sqlite()
    try:
        settings = here.settings_with(install_models=False)
    except RecollectError as error:
        yield Check("settings", "fail", str(error), "Correct or unset it.")
        return
    for name in settings_module.unknown_variables():
        yield Check("settings", "warn", f"{name} is no setting", "Correct or unset it.")
    yield Check("user", "ok", here.user)
    space = yield from _embedder(settings)
    yield from doctor_engines.redis(settings)
    if wiring.is_server(settings):
        yield from _server(settings, space)
        return
    try:
        path = database_file(settings)
    except RecollectError as error:
        yield Check("database", "fail", str(error), "Set RECOLLECT_DB or give --db.")
        return
    yield from _database(settings, path, space)
    yield _disk(path)


def _sqlite() -> Check:
    version = f"SQLite {sqlite3.sqlite_version}"
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.OperationalError:
            return Check("sqlite", "fail", f"{version} without FTS5", "Use a Python whose SQLite has FTS5.")
    return Check("sqlite", "ok", f"{version} with FTS5")


# The embedder


def _embedder(settings: Settings) -> Generator[Check, None, Space | None]:
    name = settings.embedder.rpartition("@")[2]  # a URL may carry a password before it
    try:
        embedder = wiring.open_embedder(settings)
        if embedder is None:
            yield Check(
                "embedder", "warn", "none: recall goes by words only", "Unset RECOLLECT_EMBEDDER for meaning."
            )
            return None
        space = embedder.space
    except RecollectError as error:
        yield Check("embedder", "fail", str(error), "See `recollect models list`; set RECOLLECT_EMBEDDER.")
        return None
    what = f"{name}, {space.dimensions} dimensions"
    if name != space.model:
        what = f"{name}: {space.model}, {space.dimensions} dimensions"
    if models.is_local(settings) and models.weights(settings) is None:
        yield Check(
            "embedder",
            "warn",
            f"{what}; not installed, so recall goes by words only",
            f"Run `recollect models install {name}`, then `recollect tend`.",
        )
        return space
    try:
        first, each = _measure(embedder.embed_query)
    except EmbedderError as error:
        yield Check("embedder", "fail", f"{what}: {error}", "Recall goes by words until this works.")
        return space
    detail = f"{what}; {each:.1f} ms a query, {first:.0f} ms for the first"
    if each > SLOW_MS:
        yield Check("embedder", "warn", f"{detail}: slow", "all-MiniLM-L6-v2 takes half the time.")
    else:
        yield Check("embedder", "ok", detail)
    return space


def _measure(embed: Callable[[str], object]) -> tuple[float, float]:
    """Milliseconds for the first query, which loads the model, and for a later one."""
    times: list[float] = []
    for number in range(QUERIES + 1):
        started = perf_counter()
        embed(f"What is my budget for trip number {number}?")
        times.append((perf_counter() - started) * 1000)
    return times[0], statistics.median(times[1:])


# The database


def _database(settings: Settings, path: Path, space: Space | None) -> Iterator[Check]:
    if not path.exists():
        yield _absent(path)
        return
    seen = database.look(settings)
    if seen.empty:  # opening it would make it a memory, which is not for us to do
        yield Check("database", "warn", f"{path} holds no memory yet", "If it is not meant to, change --db.")
        return
    if seen.schema is None:
        yield _unusable(settings, path, seen)
        return
    yield Check("database", "ok", f"{path}, {_size(path) / MiB:.1f} MiB, schema {seen.schema}")
    yield from _privacy(path)
    yield from _encryption(settings)
    writing = _writing(settings, path)
    yield writing
    if writing.state == "fail":
        return
    try:
        with closing(wiring.open_store(settings)) as store:
            yield from contents(store, settings, space, _size(path))
            yield from doctor_engines.copies(settings, store)
    except RecollectError as error:
        yield Check("contents", "fail", str(error), "Restore it from a backup or an export.")


def _server(settings: Settings, space: Space | None) -> Iterator[Check]:
    seen = database.look(settings)
    if seen.problem:
        fix = "Correct --db or RECOLLECT_DB, or start the server."
        yield Check("database", "fail", seen.problem, MAKE if seen.missing else fix)
        return
    if seen.empty:
        where = wiring.address(settings)
        yield Check("database", "warn", f"{where} holds no memory yet", MAKE)
        return
    try:
        with closing(wiring.open_store(settings)) as store:
            yield from _encryption(settings)
            stats = store.stats()
            size: int = stats["bytes"]
            what = f"{stats['engine']}, {stats['path']}, {size / MiB:.1f} MiB, schema {seen.schema}"
            yield Check("database", "ok", what)
            yield _round_trip(store)
            yield doctor_server.connections(settings)
            yield from doctor_server.standbys(settings, stats)
            yield from contents(store, settings, space, size)
            yield from doctor_engines.copies(settings, store)
    except SettingsError as error:  # the address is right, or it had not been found
        yield Check("encryption", "fail", str(error), CORRECT_KEY)
    except RecollectError as error:
        yield Check("contents", "fail", str(error), "Do what it says, or ask whoever runs the server.")


def _round_trip(store: Store) -> Check:
    """What one small question to the server takes."""
    times: list[float] = []
    for _ in range(QUERIES):
        started = perf_counter()
        store.active_space()
        times.append((perf_counter() - started) * 1000)
    middle = statistics.median(times)
    detail = f"{middle:.1f} ms for a small question"
    if middle > SLOW_MS:
        return Check("server", "warn", detail, "Run Recollect nearer to its server.")
    return Check("server", "ok", detail)


def _unusable(settings: Settings, path: Path, seen: database.Look) -> Check:
    """What every other command says of such a file; it is refused, and so not changed."""
    reason = f"{path}: {seen.problem or 'it is no memory'}"
    try:
        wiring.open_store(settings).close()
    except SettingsError as error:
        return Check("encryption", "fail", str(error), CORRECT_KEY)
    except RecollectError as error:
        reason = str(error)
    return Check("database", "fail", reason, "Give another --db, or restore it from a backup or an export.")


def _privacy(path: Path) -> Iterator[Check]:
    """Everybody's memories are in the file; where there are modes, only its owner should read it."""
    mode = path.stat().st_mode & 0o777
    if os.name == "posix" and mode & 0o077:
        reason = f"others on this machine may read {path} (mode {mode:03o})"
        yield Check("privacy", "warn", reason, f"Run `chmod 600 {shlex.quote(str(path))}`.")


def _absent(path: Path) -> Check:
    folder = _existing_folder(path)
    try:
        probe = folder / f".recollect-doctor-{id(path):x}"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        reason = f"{path} does not exist and cannot be made: {error.strerror}"
        return Check("database", "fail", reason, f"Make {folder} writable, or give another --db.")
    return Check("database", "ok", f"{path} does not exist yet; the first `recollect record` makes it")


def _encryption(settings: Settings) -> Iterator[Check]:
    """Where the key is; what it is, nobody says."""
    if settings.key:
        yield Check("encryption", "ok", "on; the key is in RECOLLECT_KEY")
    if settings.key_file:
        file = Path(settings.key_file).expanduser()
        mode = file.stat().st_mode & 0o777
        if os.name == "posix" and mode & 0o077:
            reason = f"on, but others on this machine may read the key in {file} (mode {mode:03o})"
            yield Check("encryption", "warn", reason, f"Run `chmod 600 {shlex.quote(str(file))}`.")
        else:
            yield Check("encryption", "ok", f"on; the key is in {file}")


def _writing(settings: Settings, path: Path) -> Check:
    """Whether the file can be written; SQLite itself is asked, and nothing is changed."""
    driver = wiring.database_driver(settings)
    try:
        with closing(driver.connect(path, seconds=BUSY_SECONDS)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except driver.module.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return Check(
                "writing", "warn", f"somebody writes for over {BUSY_SECONDS:g} s", "Try again later."
            )
        return Check("writing", "fail", f"{path}: {error}", "Make the file and its folder writable.")
    return Check("writing", "ok", "possible")


def _disk(path: Path) -> Check:
    folder = _existing_folder(path)
    free = shutil.disk_usage(folder).free
    detail = f"{free / MiB / 1024:.1f} GiB free for {folder}"
    if free < LITTLE_DISK:
        return Check("disk", "fail" if free < NO_DISK else "warn", detail, "Free some space.")
    return Check("disk", "ok", detail)


def _existing_folder(path: Path) -> Path:
    return next(folder for folder in path.absolute().parents if folder.is_dir())


def _size(path: Path) -> int:
    return sum(
        file.stat().st_size for end in ("", "-wal") if (file := path.with_name(path.name + end)).exists()
    )
