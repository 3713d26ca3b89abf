"""What the options of several benchmarks mean: where it is measured, at which sizes."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import typer

from recollect.bench.place import Place
from recollect.bench.sqlite import SqlitePlace
from recollect.errors import SettingsError
from recollect.settings import load
from recollect.wiring import is_server


def read_sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers like 1000,10000.") from None
    if min(sizes) < 1 or len(set(sizes)) != len(sizes):
        raise typer.BadParameter("Sizes must be positive and different.")
    return sizes


@contextmanager
def opened(given: str | None) -> Generator[Place]:
    """A temporary folder, one that is kept, or a server."""
    if given is None:
        with TemporaryDirectory(prefix="recollect-bench-") as made:
            yield SqlitePlace(Path(made))
    elif is_server(load(db=given)):
        try:
            from recollect.bench.postgres import scratch
        except ImportError as error:
            message = f"PostgreSQL needs its driver: pip install 'recollect[postgres]' ({error})."
            raise SettingsError(message) from None
        with scratch(given) as place:
            yield place
    else:
        folder = Path(given)
        if folder.exists() and not folder.is_dir():
            raise typer.BadParameter(f"{given} is a file: give a folder, or postgresql://…")
        folder.mkdir(parents=True, exist_ok=True)
        yield SqlitePlace(Path(mkdtemp(prefix="recollect-bench-", dir=folder)))
