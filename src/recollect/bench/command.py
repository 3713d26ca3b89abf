"""`recollect bench`: how fast it is here, beside the bare engines on the same rows, and how often right."""

import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Annotated

import typer
from rich.console import Console

from recollect.bench.latency import QUICK, Plan, run
from recollect.bench.mining import command as mining
from recollect.bench.peers import command as peers
from recollect.bench.place import Place
from recollect.bench.progress import progress
from recollect.bench.quality import ablation
from recollect.bench.quality import command as quality
from recollect.bench.show import show
from recollect.bench.sqlite import SqlitePlace
from recollect.errors import SettingsError
from recollect.settings import load
from recollect.wiring import is_server

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
        sizes=_sizes(sizes) if sizes else plan.sizes,
        others=plan.others if others is None else others,
        patience_s=plan.patience_s if patience is None else patience,
        queries=queries or plan.queries,
    )
    with _place(db) as place, progress() as stage:
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


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers like 1000,10000.") from None
    if min(sizes) < 1 or len(set(sizes)) != len(sizes):
        raise typer.BadParameter("Sizes must be positive and different.")
    return sizes


@contextmanager
def _place(given: str | None) -> Generator[Place]:
    if given is None:
        with TemporaryDirectory(prefix="recollect-bench-") as made:
            yield SqlitePlace(Path(made))
    elif is_server(load(db=given)):
        try:
            from recollect.bench.postgres import scratch
        except ImportError as error:
            message = f"PostgreSQL needs its driver: pip install 'recollect[postgres]' ({error})."
            raise SettingsError(message) from None
        with scratch(given) as place:
            yield place
    else:
        folder = Path(given)
        if folder.exists() and not folder.is_dir():
            raise typer.BadParameter(f"{given} is a file: give a folder, or postgresql://…")
        folder.mkdir(parents=True, exist_ok=True)
        yield SqlitePlace(Path(mkdtemp(prefix="recollect-bench-", dir=folder)))
