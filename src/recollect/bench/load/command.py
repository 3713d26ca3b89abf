"""`recollect bench load`: how much one server process takes."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recollect.bench.gateway.command import Db, Embedder, Memories, Questions
from recollect.bench.load.measure import Plan, run
from recollect.bench.open_place import opened
from recollect.bench.progress import progress
from recollect.bench.quality.command import AsJson
from recollect.bench.serving.judged import show, table

EXAMPLES = (
    "recollect bench load",
    "recollect bench load --clients 32 --json",
    "recollect bench load --soak 600 --json > soak.json",
)
USUAL = Plan()


def load(
    memories: Memories = USUAL.memories,
    questions: Questions = USUAL.questions,
    clients: Annotated[int, typer.Option(min=1, help="How many ask at once.")] = USUAL.clients,
    rounds: Annotated[int, typer.Option(min=1, help="How often all of it is measured.")] = USUAL.rounds,
    soak: Annotated[float, typer.Option(min=0, help="Then mixed traffic for so many seconds.")] = USUAL.soak,
    embedder: Embedder = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Measure how many questions a second one server process answers, beside its embedder alone and recall in
    process, and with --soak whether its memory stays as it is under mixed traffic. No database of yours is
    touched."""
    plan = Plan(
        memories=memories,
        questions=questions,
        clients=clients,
        rounds=rounds,
        soak=soak,
        embedder=embedder,
    )
    with opened(db) as place, progress() as stage:
        result = run(place, plan, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result, _tables(result))
    if not all(target["ok"] for target in result["targets"]):
        raise typer.Exit(1)


def _tables(result: Mapping[str, Any]) -> Iterator[Table]:
    rates = table("Questions a second", "what", "a second", "cpu ms each", "p50 ms", "p95", "errors")
    names = {
        "embedder": "the embedder alone",
        "embedder_singly": "the embedder alone, one at a time",
        "server": "the server",
        "in_process": "recall in process, with vectors",
        "server_with_vectors": "the server, with vectors",
    }
    for name, told in names.items():
        row = result[name]
        times = (f"{row[key]:.1f}" if key in row else "" for key in ("p50_ms", "p95_ms"))
        figures = (f"{row['per_second']:,.1f}", f"{row['cpu_ms']:.2f}")
        rates.add_row(told, *figures, *times, str(row.get("errors", "")))
    yield rates
    if soak := result.get("soak"):
        sizes = [size for _, size in soak["rss_mb"]]
        lasted = table(
            f"Mixed traffic for {soak['seconds']:g} s: {sizes[0]:,.0f} MB at first, {sizes[-1]:,.0f} MB at "
            f"the end, {soak['slope_mb_a_minute']:+.2f} MB a minute in the second half",
            *("what", "requests", "p50 ms", "p95"),
        )
        for name, times in soak["times"].items():
            cells = (f"{times['p50_ms']:.1f}", f"{times['p95_ms']:.1f}")
            lasted.add_row(name, f"{soak['requests'][name]:,}", *cells)
        yield lasted
