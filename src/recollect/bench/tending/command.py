"""`recollect bench tending`: what the background's work for one user costs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recollect.bench.open_place import opened, read_sizes
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson
from recollect.bench.tending.measure import Plan, run

EXAMPLES = (
    "recollect bench tending",
    "recollect bench tending --sizes 1000,10000 --json",
    "recollect bench tending --db postgresql://postgres@localhost/postgres",
)


def tending(
    sizes: Annotated[
        str | None, typer.Option(help="Memories of the user who is tended, e.g. 10000,100000.")
    ] = None,
    db: Annotated[
        str | None, typer.Option(help="A folder for the files, which are kept; or postgresql://…")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what tending one user costs, chore by chore, how that grows with their memories, and how much
    it holds up recall. No database of yours is touched."""
    plan = Plan() if sizes is None else replace(Plan(), sizes=read_sizes(sizes))
    with opened(db) as place, progress() as stage:
        result = run(place, plan, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    console.print(
        f"{settings['processor']}, {settings['cores']} cores; Python {settings['python']}, "
        f"{settings['engine']}; {settings['seconds']:.0f} s, peak {settings['peak_rss_mb']:,.0f} MB"
    )
    for row in result["sizes"]:
        console.print(_visits(row, settings["judged"]))
        recall = row["recall"]
        console.print(
            f"Recall p95 {recall['p95_ms']:.2f} ms, while tended {recall['tended_p95_ms']:.2f} ms, "
            f"x {recall['ratio_p95']:.2f} ({recall['days_tended']} days went by)"
        )
    table = _table("Targets", "what", "value", "at most", "")
    for target in result["targets"]:
        verdict = {None: "too quick to judge", True: "[green]met[/]", False: "[red]missed[/]"}[target["ok"]]
        table.add_row(target["name"], f"{target['value']:.2f}", f"{target['limit']:g}", verdict)
    console.print(table)


def _visits(row: Mapping[str, Any], judged: str) -> Table:
    """Seconds of each chore, of the processor or of the clock, and the rows that it put right, in each of the
    visits."""
    visits = row["visits"]
    table = _table(f"{row['memories']:,} memories, {row['file_mb']:,.0f} MB", "chore", *visits)
    for name in next(iter(visits.values()))["chores"]:
        cells = (visit["chores"][name] for visit in visits.values())
        table.add_row(name, *(f"{cell[judged]:.3f} s, {cell['rows']:,}" for cell in cells))
    table.add_row("all", *(f"{visit[judged]:.3f} s" for visit in visits.values()))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    return table
