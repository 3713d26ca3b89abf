"""The figures for people."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

TITLES = {
    "meetings": "Every kind of task, met again in other words ({iterations} steps at most)",
    "few": "The same with {few} steps at most",
    "changed": "Tasks whose way changed after it was learnt",
    "alike": "Tasks that only sound like those that were learnt",
}


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    console.print(
        f"{settings['processor']}, {settings['cores']} cores; Python {settings['python']}, "
        f"{settings['engine']}; {settings['embedder']}, {settings['repeats']} people: "
        f"{settings['seconds']:.0f} s"
    )
    for part, title in TITLES.items():
        console.print(_table(title.format_map(settings), result[part]))
    for row in result["alike"]:
        kinds = (
            f"{kind} {one['right']:.0%} right in {one['steps']:.1f}" for kind, one in row["kinds"].items()
        )
        console.print(f"  {row['arm']}: {'; '.join(kinds)}")
    for check in result["checks"]:
        verdict = "[green]met[/]" if check["ok"] else "[red]missed[/]"
        console.print(f"{check['name']}: {check['value']:g}, at most {check['limit']:g}: {verdict}")


def _table(title: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in ("time", "tasks", "right", "wrong", "steps", "tokens", "ms"):
        table.add_column(name, justify="right")
    for row in rows:
        time = row.get("meeting") or row.get("after") or 1
        shares = (f"{row[name]:.0%}" for name in ("right", "wrong"))
        table.add_row(
            row["arm"],
            f"{time}.",
            str(row["tasks"]),
            *shares,
            f"{row['steps']:.1f}",
            f"{row['tokens']:,}",
            f"{row['ms']:.0f}",
        )
    return table
