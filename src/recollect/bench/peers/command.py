"""`recollect bench peers`: Recollect beside other systems, on the same questions with the same vectors."""

import json
from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_cache_path
from rich.console import Console

from recollect.bench.peers.pins import BY_NAME, PEERS, Peer
from recollect.bench.peers.report import show
from recollect.bench.peers.run import Plan, run
from recollect.bench.progress import progress
from recollect.bench.quality import datasets
from recollect.bench.quality.command import AsJson, EmbedderName, File, Smoke, TopK

EXAMPLES = (
    "recollect bench peers longmemeval_oracle.json --setting pool",
    "recollect bench peers locomo10.json --peers chroma,bm25 --json",
)


def peers(
    file: File,
    dataset: Annotated[
        datasets.Name | None, typer.Option(help="What the file is; else it is guessed.")
    ] = None,
    setting: Annotated[
        datasets.Setting,
        typer.Option(help="Of LongMemEval. s48: each question among 48 sessions. pool: among all."),
    ] = "s48",
    names: Annotated[
        str, typer.Option("--peers", help="Which of them, e.g. mem0,chroma; else all.")
    ] = ",".join(BY_NAME),
    cache: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="A folder for environments, stores and answers; kept."),
    ] = None,
    embedder: EmbedderName = None,
    top_k: TopK = 50,
    again: Annotated[
        bool, typer.Option("--again", help="Ask again what was answered, to have all times from this run.")
    ] = False,
    smoke: Smoke = False,
    as_json: AsJson = False,
) -> None:
    """Ask other memory systems the same questions. Each is installed into an environment of its own; after
    that nothing is sent anywhere."""
    plan = Plan(
        cache=cache or user_cache_path("recollect") / "bench",
        peers=chosen(names),
        embedder=embedder,
        top_k=top_k,
        smoke=smoke,
        again=again,
    )
    data = datasets.opened(file, dataset or datasets.guess(file), setting, smoke)
    with progress() as stage:
        result = run(data, plan, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)


def chosen(names: str) -> tuple[Peer, ...]:
    wanted = {name.strip() for name in names.split(",")} - {""}
    if unknown := sorted(wanted - {*BY_NAME}):
        raise typer.BadParameter(f"{', '.join(unknown)}: known are {', '.join(BY_NAME)}.")
    return tuple(peer for peer in PEERS if peer.name in wanted)
