"""recollect db."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from recollect import wiring
from recollect.cli import output
from recollect.cli.failing import FAILED
from recollect.cli.frame import Here, command, new_app
from recollect.errors import RecollectError, StoreMissing
from recollect.settings import Settings
from recollect.wiring import database_file

app = new_app(
    "db",
    "The database itself: where it is, its schema, its soundness and size.",
    "recollect db path",
    "recollect db create --db postgresql://me@server/memory",
    "recollect db check",
)


@dataclass(frozen=True, slots=True)
class Look:
    """What can be seen of a database from outside, without opening it as a memory.

    With no schema, no problem and not empty, it is something else's.
    """

    schema: str | None = None
    problem: str | None = None
    empty: bool = False
    missing: bool = False
    """A server's database that does not exist; the problem says so."""


def look(settings: Settings) -> Look:
    """Read the schema's version; changes nothing."""
    if wiring.is_server(settings):
        try:
            schema = wiring.server_version(settings)
        except RecollectError as error:
            return Look(problem=str(error), missing=isinstance(error, StoreMissing))
        return Look(schema, empty=schema is None)
    path = database_file(settings)
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return Look(empty=True)
    try:
        driver = wiring.database_driver(settings)
    except RecollectError as error:
        return Look(problem=str(error))
    try:
        with closing(driver.connect(path, read_only=True)) as connection:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return Look(empty=True)
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return Look(schema=row[0] if row else None)
    except driver.module.OperationalError as error:
        if "no such table" in str(error):
            return Look()
        return Look(problem=wiring.database_problem(settings, error))
    except driver.module.Error as error:
        return Look(problem=wiring.database_problem(settings, error))


@command(app, "recollect db path", 'sqlite3 "$(recollect db path)" .schema')
def path(here: Here) -> None:
    """Print where the database is, or will be; for a server its address, without the password."""
    where = wiring.address(here.settings)
    server = wiring.is_server(here.settings)
    exists = look(here.settings).schema is not None if server else Path(where).exists()
    here.answer({"path": where, "exists": exists}, lambda: output.line(where))


@command(app, "recollect db create", "recollect db create --db postgresql://me@server/memory")
def create(here: Here) -> None:
    """Make the database: the file, or on a server the database, its roles and its tables."""
    where = wiring.address(here.settings)
    new = wiring.create_database(here.settings)
    said = "was made." if new else "was there already."
    here.answer({"path": where, "created": new}, lambda: output.line(f"{where} {said}"))


@command(app, "recollect db migrate")
def migrate(here: Here) -> None:
    """Bring the database to this release's schema; make it when there is none."""
    where = wiring.address(here.settings)
    before = look(here.settings).schema
    wiring.upgrade_database(here.settings)
    after = look(here.settings).schema
    changed = "is already at" if before == after else f"went from {before or 'nothing'} to"
    here.answer(
        {"path": where, "before": before, "after": after},
        lambda: output.line(f"{where} {changed} schema {after}."),
    )


@command(app, "recollect db check", "recollect db check --json | jq .problems")
def check(here: Here) -> None:
    """Read the whole database and say what is wrong with it; exit code 1 when something is."""
    where = here.existing()
    with closing(wiring.open_store(here.settings)) as store:
        problems = store.check()
    here.answer(
        {"path": where, "ok": not problems, "problems": problems},
        lambda: output.line("\n".join(problems) or f"{where} is sound."),
    )
    if problems:
        raise typer.Exit(FAILED)


@command(app, "recollect db stats")
def stats(here: Here) -> None:
    """Sizes and row counts of the whole database, every user's together."""
    here.existing()
    with closing(wiring.open_store(here.settings)) as store:
        found = store.stats()
    here.answer(found, lambda: output.table(("what", "value"), list(_flat(found))))


def _flat(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in found.items():
        if isinstance(value, dict):
            rows += _flat(value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            rows.append((name, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows
