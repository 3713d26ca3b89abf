"""`recollect bench gateway`: what the gateway adds to a chat."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recollect.bench.gateway.measure import Plan, run
from recollect.bench.open_place import opened
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson
from recollect.bench.serving.judged import show, table

EXAMPLES = (
    "recollect bench gateway",
    "recollect bench gateway --memories 10000 --json",
    "recollect bench gateway --memories 500 --questions 10 --embedder hashing",
)

Db = Annotated[
    str | None,
    typer.Option(help="A folder for the files, which are kept, or postgresql://… Default: one for now."),
]
Memories = Annotated[int, typer.Option(min=1, help="How many the user has who asks.")]
Questions = Annotated[int, typer.Option(min=1, help="How many are asked.")]
Embedder = Annotated[str | None, typer.Option(help="What embeds the questions; else the configured one.")]
USUAL = Plan()


def gateway(
    memories: Memories = USUAL.memories,
    questions: Questions = USUAL.questions,
    embedder: Embedder = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the gateway adds until the first word of an answer, with memory and without, beside a
    recall in process and a bare proxy, and whether it holds chunks back. The upstream is scripted, on this
    machine; no database of yours is touched."""
    plan = Plan(memories=memories, questions=questions, embedder=embedder)
    with opened(db) as place, progress() as stage:
        result = run(place, plan, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result, _tables(result))
    if not all(target["ok"] for target in result["targets"]):
        raise typer.Exit(1)


def _tables(result: Mapping[str, Any]) -> Iterator[Table]:
    columns = ("way", "first p50 ms", "p95", "end p50 ms", "p95", "added")
    ways = table("Until the first word, and to the end", *columns)
    for way, times in result["ways"].items():
        first, total = times["first"], times["total"]
        added = result["added_first_p50_ms"].get(way)
        cells = (first["p50_ms"], first["p95_ms"], total["p50_ms"], total["p95_ms"])
        ways.add_row(way, *(f"{cell:.2f}" for cell in cells), "" if added is None else f"{added:.2f}")
    recall = result["recall"]
    ways.add_row("recall in process", f"{recall['p50_ms']:.2f}", f"{recall['p95_ms']:.2f}", "", "", "")
    yield ways
    columns = ("way", "p50 ms", "p95", "most", "held back", "by chunk, p50 ms")
    lag = table("Later than sent, chunk by chunk", *columns)
    for way, found in result["chunks"].items():
        cells = (found["p50_ms"], found["p95_ms"], found["max_ms"])
        chunks = " ".join(f"{value:.1f}" for value in found["by_chunk_p50_ms"])
        lag.add_row(way, *(f"{cell:.2f}" for cell in cells), f"{found['held_back']:.2f}", chunks)
    yield lag
