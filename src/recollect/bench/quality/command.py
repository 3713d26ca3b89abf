"""`recollect bench longmemeval` and `recollect bench locomo`: whether the right memories are found, and what
a model makes of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from platformdirs import user_cache_path
from rich.console import Console

from recollect.bench.progress import progress
from recollect.bench.quality import datasets
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.report import plot, show
from recollect.bench.quality.run import SCORED, Mining, Plan, Step, run

EXAMPLES = {
    "longmemeval": (
        "recollect bench longmemeval longmemeval_s.json.gz --smoke",
        "recollect bench longmemeval longmemeval_oracle.json --setting pool --json",
        "recollect bench longmemeval longmemeval_s.json.gz --until judge --model llama3 --judge gpt-4o",
    ),
    "locomo": (
        "recollect bench locomo locomo10.json",
        "recollect bench locomo locomo10.json --mine rules",
        "recollect bench locomo locomo10.json --mine rules --age-days 365",
    ),
}

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The published file, plain or .gz.")]
Db = Annotated[
    str | None,
    typer.Option(help="A folder for SQLite files, or postgresql://…; kept, to be used again."),
]
Cache = Annotated[
    Path | None, typer.Option(file_okay=False, help="A folder for vectors and answers; kept as well.")
]
EmbedderName = Annotated[str | None, typer.Option(help="What computes vectors; else as it is configured.")]
TopK = Annotated[int, typer.Option(min=10, max=1000, help="How many hits recall is asked for.")]
Mine = Annotated[Mining, typer.Option(help="What derives memories from the turns first.")]
AgeDays = Annotated[
    int,
    typer.Option(
        min=0, max=36_500, help="Let so many days go by, tended, before it is asked; beside it, without."
    ),
]
Until = Annotated[Step, typer.Option(help="The last step; the next run goes on from there.")]
Model = Annotated[str | None, typer.Option(help="The language model to ask; else as it is configured.")]
Judge = Annotated[
    str | None, typer.Option(help="The one that judges, at the same address; else the one that answers.")
]
Smoke = Annotated[bool, typer.Option("--smoke", help="Ten questions, to see that it works.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def longmemeval(
    file: File,
    setting: Annotated[
        datasets.Setting,
        typer.Option(help="s48: each question among 48 sessions. pool: among all of the file."),
    ] = "s48",
    db: Db = None,
    cache: Cache = None,
    embedder: EmbedderName = None,
    top_k: TopK = 50,
    mine: Mine = "off",
    until: Until = "score",
    model: Model = None,
    judge: Judge = None,
    smoke: Smoke = False,
    as_json: AsJson = False,
) -> None:
    """Find the sessions that answer LongMemEval's questions."""
    _run(
        datasets.longmemeval(file, setting, smoke),
        planned(
            db,
            cache,
            embedder=embedder,
            top_k=top_k,
            mine=mine,
            smoke=smoke,
            until=until,
            model=model,
            judge=judge,
        ),
        as_json,
    )


def locomo(
    file: File,
    db: Db = None,
    cache: Cache = None,
    embedder: EmbedderName = None,
    top_k: TopK = 50,
    mine: Mine = "off",
    age_days: AgeDays = 0,
    until: Until = "score",
    model: Model = None,
    judge: Judge = None,
    smoke: Smoke = False,
    as_json: AsJson = False,
) -> None:
    """Find the turns that answer LoCoMo's questions."""
    _run(
        datasets.locomo(file, smoke),
        planned(
            db,
            cache,
            embedder=embedder,
            top_k=top_k,
            mine=mine,
            age_days=age_days,
            smoke=smoke,
            until=until,
            model=model,
            judge=judge,
        ),
        as_json,
    )


def planned(db: str | None, cache: Path | None, **options: Any) -> Plan:
    folder = cache or user_cache_path("recollect") / "bench"
    return Plan(db=db or str(folder / "stores"), cache=folder, **options)


def _run(dataset: Dataset, plan: Plan, as_json: bool) -> None:
    with progress() as stage:
        unaged = run(dataset, replace(plan, age_days=0), stage) if plan.age_days else None
        result = run(dataset, plan, stage)
    if unaged is not None and plan.until in SCORED:
        result["without_age"] = {name: unaged[name] for name in ("session", "turn", "latency_ms")}
    if plan.until in SCORED:
        picture = plan.cache / f"{dataset.name}{'-smoke' if plan.smoke else ''}.png"
        drawn = plot(result, picture)
        result["plot"] = str(picture) if drawn else None
        told = f"Drawn in {picture}" if drawn else "No picture: pip install 'recollect[bench]' draws one."
        typer.echo(told, err=True)
    if as_json or plan.until not in SCORED:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)
