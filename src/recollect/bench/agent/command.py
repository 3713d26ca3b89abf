"""`recollect bench agent`: whether memory helps an agent, and where it does not."""

import json
from typing import Annotated

import typer
from rich.console import Console

from recollect.bench.agent.report import show
from recollect.bench.agent.run import Plan, run
from recollect.bench.open_place import opened
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson

EXAMPLES = (
    "recollect bench agent",
    "recollect bench agent --repeats 2 --json",
    "recollect bench agent --embedder snowflake-arctic-embed-s",
)


def agent(
    repeats: Annotated[
        int, typer.Option(min=1, max=1000, help="How many people meet every task.")
    ] = Plan().repeats,
    embedder: Annotated[str, typer.Option(help="What computes vectors.")] = Plan().embedder,
    db: Annotated[
        str | None, typer.Option(help="A folder for the files, which are kept; or postgresql://…")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure whether an agent that met a task before does it in fewer steps, and what memory costs it where
    tasks only seem alike. Its model is a fixed policy, so no key is needed; its memory is the product's. No
    database of yours is touched."""
    with opened(db) as place, progress() as stage:
        result = run(place, Plan(repeats=repeats, embedder=embedder), stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)
    if not all(check["ok"] for check in result["checks"]):
        raise typer.Exit(1)
