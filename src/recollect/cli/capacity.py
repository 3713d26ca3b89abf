"""recollect capacity: how much a deployment needs."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from recollect.capacity import Costs, Figure, Load, advice, costs_of, plan
from recollect.capacity_measured import MEASURED, ON
from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.errors import Invalid

app = typer.Typer()

MOST_BYTES = 16 * 1024 * 1024
_DEFAULT: dict[str, Any] = {field.name: field.default for field in fields(Load)}


@command(
    app,
    "recollect capacity --users 10000 --turns 20",
    "recollect capacity --users 1e9 --turns 5 --days 90 --cores 32 --memory-gb 256",
    "recollect capacity --users 200 --turns 50 --store sqlite --json",
    "recollect bench scale --json > costs.json; recollect capacity --users 1e6 --turns 20 --costs costs.json",
)
def capacity(
    here: Here,
    users: Annotated[float, typer.Option("--users", metavar="N", help="How many people there are.")],
    turns: Annotated[float, typer.Option("--turns", metavar="N", help="Turns of one of them on one day.")],
    days: Annotated[float, typer.Option(help="For how many days turns are kept.")] = _DEFAULT["days"],
    facts: Annotated[float, typer.Option(help="Facts that are mined of one turn.")] = _DEFAULT["facts"],
    recalls: Annotated[float, typer.Option(help="Recalls for one turn.")] = _DEFAULT["recalls"],
    peak: Annotated[
        float, typer.Option(help="How much busier the busiest hour is than the average.")
    ] = _DEFAULT["peak"],
    active: Annotated[
        float, typer.Option(min=0, max=1, help="The share of users who are about in that hour.")
    ] = _DEFAULT["active"],
    cores: Annotated[int, typer.Option(help="Cores of one machine.")] = _DEFAULT["cores"],
    memory_gb: Annotated[float, typer.Option(help="Its memory, in GB.")] = _DEFAULT["memory_gb"],
    disk_gb: Annotated[float, typer.Option(help="Its disk, in GB.")] = _DEFAULT["disk_gb"],
    store: Annotated[
        Literal["postgresql", "sqlite"], typer.Option(help="Where memory is kept.")
    ] = "postgresql",
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Costs measured here: what `recollect bench scale --json` wrote."),
    ] = None,
) -> None:
    """Say how large a memory gets, and how many machines it takes, from costs that were measured.

    Each figure says whether it was measured, is extrapolated beyond what was, or rests on what you give.
    """
    load = Load(
        users=_whole(users),
        turns=turns,
        days=days,
        facts=facts,
        recalls=recalls,
        peak=peak,
        active=active,
        cores=cores,
        memory_gb=memory_gb,
        disk_gb=disk_gb,
    )
    known = MEASURED[store] if costs is None else _read(costs, store)
    figures, notes = plan(load, known), advice(load, known, store)
    where = ON if costs is None else str(costs)
    here.answer(
        {
            "load": output.plain(load),
            "costs": output.plain(known),
            "measured_on": where,
            "figures": [output.plain(figure) for figure in figures],
            "advice": notes,
        },
        lambda: _tell(figures, notes, store, known, where),
    )


def _whole(users: float) -> int:
    if not 1 <= users <= 1e12:
        raise Invalid(f"--users is {users:g}, but must be from 1 to 1e12.")
    return round(users)


def _tell(figures: list[Figure], notes: list[str], store: str, known: Costs, where: str) -> None:
    rows = [(f.name, f"{_rounded(f.value)} {f.unit}".strip(), f.basis, f.why) for f in figures]
    output.table(("", "", "basis", ""), rows)
    for note in notes:
        output.line(note)
    largest = known.recalls[-1][0]
    output.line(f"Measured on {store} with {known.rows:,} rows, {largest:,} of one user; {where}.")


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _read(path: Path, store: str) -> Costs:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Invalid(f"{path} has more than {MOST_BYTES:,} bytes: it is no output of the benchmark.")
        return costs_of(json.loads(path.read_text()), store)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None
    except json.JSONDecodeError:
        raise Invalid(f"{path} is no JSON: give what `recollect bench scale --json` wrote.") from None
