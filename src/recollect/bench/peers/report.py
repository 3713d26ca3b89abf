"""The figures for people: one row a system."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

COLUMNS = (
    "version",
    "any@5",
    "all@5",
    "turn any@10",
    "p50 ms",
    "p95 ms",
    "x ours",
    "ingest s",
)


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    console.print(
        f"{settings['dataset']}: {settings['questions']} questions, {settings['left_out']} left out; "
        f"{settings['embedder']}, top_k {settings['top_k']}; {settings['processor']}, "
        f"{settings['cores']} cores, Python {settings['python']}"
    )
    if settings["smoke"]:
        console.print("[yellow]Ten questions among few sessions: this says that it works, no more.[/]")
    if settings["busy"]:
        console.print("[yellow]The machine was busy before this began: do not trust the milliseconds.[/]")
    table = Table(box=None, padding=(0, 1, 0, 0))  # fits into 80 columns
    table.add_column("system", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for one in result["systems"]:
        table.add_row(one["system"], *cells(one, result["ratios"]))
    console.print(table)
    for one in result["systems"]:
        console.print(f"{one['system']}: {_said(one)}", soft_wrap=True, highlight=False)


def _said(one: Mapping[str, Any]) -> str:
    if one["problem"]:
        return f"[red]failed:[/] {escape(one['problem'])}"
    return f"{one['how']}; {one['documents']:,} documents, one a {one['unit']}; vectors: {one['vectors']}"


def cells(one: Mapping[str, Any], ratios: Mapping[str, float]) -> list[str]:
    """A system's row: dashes for what it does not say."""
    if one["problem"]:
        return [one["version"], *("-" for _ in COLUMNS[1:])]
    turn, ingest, times = one["turn"], one["ingest_s"], one["latency_ms"]
    return [
        one["version"],
        f"{one['session']['any@5']:.3f}",
        f"{one['session']['all@5']:.3f}",
        f"{turn['any@10']:.3f}" if turn and turn["questions"] else "-",
        f"{times['p50']:.1f}",
        f"{times['p95']:.1f}",
        f"{ratios[one['system']]:.1f}" if one["system"] in ratios else "1",
        "-" if ingest is None else f"{ingest:.1f}",
    ]
