"""`recollect bench ablation`: what each technique of recall adds, and what it costs."""

import json
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recollect.bench.latency import Stage
from recollect.bench.progress import progress
from recollect.bench.quality import datasets
from recollect.bench.quality.command import AsJson, Cache, Db, EmbedderName, File, Smoke, planned
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.run import Plan, run
from recollect.recall.techniques import TECHNIQUES

EXAMPLES = (
    "recollect bench ablation longmemeval_oracle.json --setting pool",
    "recollect bench ablation locomo10.json --json",
)
UNMEASURED = ("context", "rewrite", "hyde", "self_query", "rerank", "kinds")
"""What these questions, or a machine without a language model, say nothing about."""
FIGURES = (("session", "any@5"), ("session", "all@5"), ("turn", "any@10"))


def ablation(
    file: File,
    setting: Annotated[
        datasets.Setting,
        typer.Option(help="Of LongMemEval. s48: each question among 48 sessions. pool: among all."),
    ] = "pool",
    db: Db = None,
    cache: Cache = None,
    embedder: EmbedderName = None,
    smoke: Smoke = False,
    as_json: AsJson = False,
) -> None:
    """Ask every question again with each technique switched the other way."""
    dataset = datasets.opened(file, datasets.guess(file), setting, smoke)
    with progress() as stage:
        result = ablated(dataset, planned(db, cache, embedder=embedder, smoke=smoke), stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)


def ablated(dataset: Dataset, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures as recall is, and with each technique switched on or off."""
    whole = run(dataset, plan, stage)
    rows = [{"technique": "as it is", "switched": "", **_figures(whole)}]
    for name, (on, _) in TECHNIQUES.items():
        if name not in UNMEASURED:
            changed = run(dataset, replace(plan, techniques=((name, not on),)), stage)
            rows.append({"technique": name, "switched": "off" if on else "on", **_figures(changed)})
    return {"rows": rows, "unmeasured": list(UNMEASURED), "settings": whole["settings"]}


def _figures(result: dict[str, Any]) -> dict[str, float]:
    figures = {
        f"{level} {name}": result[level][name] for level, name in FIGURES if result[level]["questions"]
    }
    return figures | {"p50_ms": result["latency_ms"]["p50"]}


def show(console: Console, result: dict[str, Any]) -> None:
    table = Table(
        title=f"{result['settings']['dataset']}: with each technique switched", title_justify="left"
    )
    first, *others = result["rows"]
    for name in first:
        table.add_column(name, justify="left" if name in ("technique", "switched") else "right")
    table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in first.values()))
    for row in others:
        cells = (f"{row[name] - first[name]:+.3f}" for name in list(row)[2:])
        table.add_row(row["technique"], row["switched"], *cells)
    console.print(table)
