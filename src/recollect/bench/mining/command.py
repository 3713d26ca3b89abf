"""`recollect bench mining`: what rules make of conversations, how often that is right, and what it costs."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from recollect.bench.mining.measure import run
from recollect.bench.mining.show import show
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson, EmbedderName

EXAMPLES = ("recollect bench mining", "recollect bench mining locomo10.json --json")


def mining(
    file: Annotated[
        Path | None,
        typer.Argument(exists=True, dir_okay=False, help="LoCoMo as it is published, plain or .gz."),
    ] = None,
    embedder: EmbedderName = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Also what went wrong on the half that rules are not written by.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure mining by rules: on labelled exchanges of our own and, given LoCoMo, against what people noted
    down about it; and its time beside that of embedding the same turns."""
    from recollect.mine.rules.extract import extract

    with progress() as stage:
        result = run(file, embedder, reveal, extract, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        show(Console(), result)
