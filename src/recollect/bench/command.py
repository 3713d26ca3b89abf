"""`recollect bench`: how fast it is here, beside the bare engines on the same rows, and how often right."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from recollect.bench.agent import command as agent
from recollect.bench.gateway import command as gateway
from recollect.bench.latency import QUICK, Plan, run
from recollect.bench.load import command as load
from recollect.bench.mining import command as mining
from recollect.bench.open_place import opened, read_sizes
from recollect.bench.peers import command as peers
from recollect.bench.progress import progress
from recollect.bench.quality import ablation
from recollect.bench.quality import command as quality
from recollect.bench.scale import command as scale
from recollect.bench.show import show
from recollect.bench.tending import command as tending
from recollect.bench.years import command as years

app = typer.Typer(
    help="How fast and how good it is, on this machine.", no_args_is_help=True, rich_markup_mode="rich"
)

EXAMPLES = (
    "recollect bench latency --quick",
    "recollect bench latency --sizes 1000,10000 --others 100000",
    "recollect bench latency --json > latency.json",
    "recollect bench latency --db postgresql://postgres@localhost/postgres --json",
)


@app.callback()
def _group() -> None:
    """How fast and how good it is, on this machine."""


def _epilog(examples: Iterable[str]) -> str:
    return "\n\n".join(("[bold]Examples[/bold]", *(f"  {example}" for example in examples)))


for _quality in (quality.longmemeval, quality.locomo):
    app.command(epilog=_epilog(quality.EXAMPLES[_quality.__name__]))(_quality)
app.command(epilog=_epilog(peers.EXAMPLES))(peers.peers)
app.command(epilog=_epilog(ablation.EXAMPLES))(ablation.ablation)
app.command(epilog=_epilog(mining.EXAMPLES))(mining.mining)
app.command(epilog=_epilog(years.EXAMPLES))(years.years)
app.command(epilog=_epilog(tending.EXAMPLES))(tending.tending)
app.command(epilog=_epilog(gateway.EXAMPLES))(gateway.gateway)
app.command(epilog=_epilog(load.EXAMPLES))(load.load)
app.command(epilog=_epilog(agent.EXAMPLES))(agent.agent)
app.command(epilog=_epilog(scale.EXAMPLES))(scale.scale)


@app.command(epilog=_epilog(EXAMPLES))
def latency(
    db: Annotated[
        str | None,
        typer.Option(
            help="A folder for the files, which are kept, else a temporary one; or a PostgreSQL server, "
            "postgresql://…, on which scratch databases are made and dropped."
        ),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Rows of the user who recalls, e.g. 1000,10000,100000.")
    ] = None,
    others: Annotated[int | None, typer.Option(min=0, help="Rows of other users beside them.")] = None,
    patience: Annotated[
        float | None, typer.Option(help="Seconds after which no more of those are made.")
    ] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="Questions asked at each size.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, some ten seconds; too small to judge.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure recall, record and start-up against the bare engine on the same rows: SQLite and NumPy, or
    PostgreSQL and pgvector. No database of yours is touched."""
    plan = QUICK if quick else Plan()
    plan = replace(
        plan,
        sizes=read_sizes(sizes) if sizes else plan.sizes,
        others=plan.others if others is None else others,
        patience_s=plan.patience_s if patience is None else patience,
        queries=queries or plan.queries,
    )
    with opened(db) as place, progress() as stage:
        result = run(place, plan, stage)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        show(Console(), result)


@app.command(epilog="[bold]Example[/bold]\n\n  recollect bench gate --json")
def gate(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure how often the gate is right about which questions need memory."""
    from recollect.bench import gate as measuring

    result = measuring.measure(measuring.labelled())
    if as_json:
        typer.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        measuring.show(Console(), result)
