"""The years for people: tables and a picture."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

SHOWN = 12
"""How many of the months are in the table at most."""


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    console.print(
        f"{settings['processor']}, {settings['cores']} cores; Python {settings['python']}, "
        f"{settings['engine']}; {settings['users']} users, {settings['days']} days, "
        f"{settings['turns']} turns a day: {settings['seconds']:.0f} s, "
        f"peak {settings['peak_rss_mb']:,.0f} MB"
    )
    console.print(_months(result["months"]))
    console.print(_chores(result))
    aged = result["aged"]
    console.print(
        f"Recall at the end {aged['p50_ms']:.2f} ms, in a new copy {aged['copy_p50_ms']:.2f} ms "
        f"(p50), x {aged['ratio_p50']:.2f}; {result['recalls']:,} recalls before, "
        f"{result['refused']:,} turns and notes refused, {result['pinned']:,} pinned"
    )
    console.print(_checks(result["checks"]))


def _months(months: list[dict[str, Any]]) -> Table:
    policies = list(months[0]["by_policy"])
    table = Table(title="Memories of a user, on average", title_justify="left")
    for name in ("month", *policies, "p50 ms", "p95 ms", "MB"):
        table.add_column(name, justify="right")
    for month in months[:: max(1, -(-len(months) // SHOWN))]:
        sizes = (f"{month['by_policy'][name]['memories']:,.0f}" for name in policies)
        times = (f"{month[name] or 0:.2f}" for name in ("recall_p50_ms", "recall_p95_ms"))
        table.add_row(str(month["month"]), *sizes, *times, f"{month['file_mb']:,.0f}")
    return table


def _chores(result: Mapping[str, Any]) -> Table:
    table = Table(title="What the background did", title_justify="left")
    table.add_column("what")
    for name in ("rows", "seconds"):
        table.add_column(name, justify="right")
    for name, count in result["done"].items():
        table.add_row(name, f"{count:,}", f"{result['chore_seconds'][name]:,.1f}")
    return table


def _checks(checks: list[dict[str, Any]]) -> Table:
    table = Table(title="Checks", title_justify="left")
    table.add_column("what")
    for name in ("value", "at most", ""):
        table.add_column(name, justify="right")
    for check in checks:
        verdict = "[green]met[/]" if check["ok"] else "[red]missed[/]"
        table.add_row(check["name"], f"{check['value']:g}", f"{check['limit']:g}", verdict)
    return table


def plot(result: Mapping[str, Any], path: Path) -> bool:
    """Draw sizes, times and what the background did, month by month; False where there is nothing to draw
    with."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return False
    months = result["months"]
    at = [month["month"] for month in months]
    figure, ((sizes, force), (recall, done)) = pyplot.subplots(2, 2, figsize=(12, 8), layout="constrained")
    for place, name in enumerate(months[0]["by_policy"]):
        kept = [month["by_policy"][name] for month in months]
        shares = [one["memories"] / one["memory_quota"] for one in kept]
        sizes.plot(at, shares, color=f"C{place}", label=name)
        force.plot(at, [one["in_force"] for one in kept], color=f"C{place}", label=name)
    sizes.axhline(1, color="black", linestyle=":")
    sizes.set_title("memories, as a share of the quota")
    force.set_title("memories in force, of a user")
    for name in ("p50", "p95"):
        recall.plot(at, [month[f"recall_{name}_ms"] for month in months], label=name)
    recall.set_title("recall, ms")
    tended = {name for month in months for name, count in month["done"].items() if count} - {"mine"}
    for name in sorted(tended):
        done.plot(at, [month["done"].get(name, 0) for month in months], label=name)
    done.set(title="rows that the background put right, a month", yscale="symlog")
    for axes in (sizes, force, recall, done):
        axes.set_ylim(bottom=0)
        axes.set_xlabel("month")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    return True
