"""Figures that have a limit, and how they are shown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from recollect.bench.measure import Times

Target = dict[str, Any]


def at_most(name: str, value: float, limit: float) -> Target:
    return {"name": name, "value": value, "wanted": "at most", "limit": limit, "ok": value <= limit}


def at_least(name: str, value: float, limit: float) -> Target:
    return {"name": name, "value": value, "wanted": "at least", "limit": limit, "ok": value >= limit}


def figures(times: Times) -> dict[str, float]:
    return {"p50_ms": round(times.p50, 3), "p95_ms": round(times.p95, 3)}


def show(console: Console, result: Mapping[str, Any], tables: Iterable[Table]) -> None:
    settings = result["settings"]
    busy = "; [yellow]others use this machine: trust no figure[/]" if settings["busy"] else ""
    console.print(
        f"{settings['processor']}, {settings['cores']} cores; Python {settings['python']}, "
        f"{settings['engine']}, {settings['embedder']}; {settings['seconds']:.0f} s{busy}"
    )
    for one in tables:
        console.print(one)
    found = table("Targets", "what", "value", "wanted", "")
    for target in result["targets"]:
        verdict = "[green]met[/]" if target["ok"] else "[red]missed[/]"
        wanted = f"{target['wanted']} {target['limit']:g}"
        found.add_row(target["name"], f"{target['value']:.3g}", wanted, verdict)
    console.print(found)


def table(title: str, *columns: str, rows: Sequence[Sequence[str]] = ()) -> Table:
    made = Table(title=title, title_justify="left")
    for column in columns:
        made.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        made.add_row(*row)
    return made
