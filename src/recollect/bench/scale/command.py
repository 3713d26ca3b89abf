"""`recollect bench scale`: a great many rows and users."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console

from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson
from recollect.bench.scale.options import Options, scaled
from recollect.bench.scale.report import plot, show
from recollect.bench.scale.run import PARTS, run

EXAMPLES = (
    "recollect bench scale --json > scale.json",
    "recollect bench scale --part sqlite --rows 100000",
    "recollect bench scale --db postgresql://postgres@localhost/postgres --plot pictures",
)
QUICK_ROWS = 12_000


def scale(
    part: Annotated[
        str | None, typer.Option(help=f"Only these, of {', '.join(PARTS)}; else all that can run here.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1000, max=100_000_000, help="How many in all; 1,200,000 unless told.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"{QUICK_ROWS:,} rows: whether it works, not how well.")
    ] = False,
    db: Annotated[
        str | None,
        typer.Option(
            help="A PostgreSQL server, postgresql://…, on which scratch databases are made and dropped; "
            "without it one is started, where the extra `engines` is installed."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(file_okay=False, help="Where the scratch files go, some gigabytes.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option("--plot", file_okay=False, help="Draw growth into this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure ten thousand users with a hundred memories each and one with 200,000: what growth does to
    recall and recording, what an index gives, how ingestion does beside COPY; then what stands beside the
    database: whether Milvus and a graph find the same, what Redis saves, and what killing each does
    under load. No database of yours is touched."""
    names = part.split(",") if part else [*PARTS]
    if unknown := [name for name in names if name not in PARTS]:
        raise typer.BadParameter(f"There is no part {unknown[0]!r}: choose of {', '.join(PARTS)}.")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="recollect-scale-", dir=folder) as made, progress() as stage:
        given: dict[str, Any] = {"folder": Path(made), "stage": stage, "db": db}
        wanted = rows or (QUICK_ROWS if quick else None)
        result = run(names, scaled(given, wanted) if wanted else Options(**given))
    if pictures is not None and plot(result, pictures) is None:
        typer.echo("No picture: pip install 'recollect[bench]' draws one.", err=True)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)
    if any(check["ok"] is False for checks in result["checks"].values() for check in checks.values()):
        raise typer.Exit(1)
