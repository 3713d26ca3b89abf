"""`recollect bench years`: some years of some people, day by day."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from recollect.bench.open_place import opened
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson
from recollect.bench.years.report import plot, show
from recollect.bench.years.run import YEAR, Plan, run

EXAMPLES = (
    "recollect bench years",
    "recollect bench years --users 4 --years 1 --json",
    "recollect bench years --plot years.png",
)


def years(
    users: Annotated[int, typer.Option(min=1, max=10_000, help="How many people.")] = 20,
    years: Annotated[float, typer.Option(min=0.01, max=100, help="For how long.")] = 3,
    turns: Annotated[int, typer.Option(min=4, max=1000, help="What each says and hears on a day.")] = 10,
    processes: Annotated[
        int, typer.Option(min=1, max=256, help="Each has a share of the people, in a file of its own.")
    ] = min(2, os.cpu_count() or 1),
    db: Annotated[
        str | None, typer.Option(help="A folder for the files, which are kept; or postgresql://…")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--plot", dir_okay=False, help="Draw it into this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let years go by: people talk, ask, keep and plan, the background tends; is everything as it should be?
    No database of yours is touched, and no clock is waited for."""
    plan = Plan(users=users, days=round(years * YEAR), turns=turns, processes=processes)
    with opened(db) as place, progress() as stage:
        result = run(place, plan, stage)
    if picture is not None and not plot(result, picture):
        typer.echo("No picture: pip install 'recollect[bench]' draws one.", err=True)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)
    if not all(check["ok"] for check in result["checks"]):
        raise typer.Exit(1)
