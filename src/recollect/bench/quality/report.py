"""The figures for people: a table and, where matplotlib is installed, a picture."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

COLUMNS = ("any@1", "any@5", "any@10", "all@5", "all@10", "mrr", "ndcg@10")

AGED = (("session", "any@1"), ("session", "any@5"), ("session", "all@5"), ("turn", "any@10"))
"""What is put beside the same without age."""


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    console.print(
        f"{settings['dataset']}: {result['questions']} questions, {result['abstention_left_out']} left out; "
        f"{settings['embedder']}, {settings['store']}, mine {settings['mine']}, top_k {settings['top_k']}"
    )
    if settings["smoke"]:
        console.print("[yellow]Ten questions among few sessions: this says that it works, no more.[/]")
    if "records" in result:
        told = (f"{count:,} of kind {kind}" for kind, count in result["records"].items())
        console.print(f"Searched: {', '.join(told)}")
    for level in ("session", "turn"):
        if result[level]["questions"]:
            console.print(_level(result, level))
    if "without_age" in result:
        console.print(_aged(result))
    for name, bounds in result["interval"].items():
        if bounds:
            console.print(f"{name}: 95 % between {bounds[0]:.3f} and {bounds[1]:.3f}")
    if "qa" in result:
        _qa(console, result["qa"])
    times = result["latency_ms"]
    console.print(f"Recall {settings['latency']}: p50 {times['p50']:.1f} ms, p95 {times['p95']:.1f} ms")


def _level(result: Mapping[str, Any], level: str) -> Table:
    table = Table(title=f"By {level}", title_justify="left")
    table.add_column("questions about")
    for name in ("number", *COLUMNS):
        table.add_column(name, justify="right")
    rows = {**result["by_type"], "all": result}
    for name, row in rows.items():
        if row[level]["questions"]:
            cells = (f"{row[level][column]:.3f}" for column in COLUMNS)
            table.add_row(name, str(row[level]["questions"]), *cells)
    return table


def _aged(result: Mapping[str, Any]) -> Table:
    """The same questions before and after the days that went by."""
    table = Table(title=f"After {result['settings']['age_days']} days", title_justify="left")
    table.add_column("asked")
    for name in (f"{level} {column}" for level, column in AGED):
        table.add_column(name, justify="right")
    for name, row in (("at once", result["without_age"]), ("after them", result)):
        table.add_row(name, *(f"{row[level][column]:.3f}" for level, column in AGED))
    return table


def _qa(console: Console, qa: Mapping[str, Any]) -> None:
    """What a model made of it: right answers if they were judged, else where they are."""
    if "accuracy" not in qa:
        console.print(f"{qa['model']} answered {qa['answered']} questions: {qa['answers']}")
    else:
        table = Table(title=f"Answers of {qa['model']}, judged by {qa['judge']}", title_justify="left")
        table.add_column("questions about")
        for name in ("number", "right"):
            table.add_column(name, justify="right")
        rows = {**qa["by_type"], "what is not known": qa["abstention"], "all": qa}
        for name, row in rows.items():
            if row["questions"]:
                table.add_row(name, str(row["questions"]), f"{row['accuracy']:.3f}")
        console.print(table)
    for step, used in qa["tokens"].items():
        console.print(f"Tokens to {step}: {used['prompt']:,} read, {used['completion']:,} written")


def plot(result: Mapping[str, Any], path: Path) -> bool:
    """Draw any@5 and all@5 of every type of question; False where there is nothing to draw with."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return False
    rows = {**result["by_type"], "all": result}
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.6 * len(rows)), layout="constrained")
    for place, name in enumerate(("any@5", "all@5")):
        heights = [row["session"][name] for row in rows.values()]
        bars = axes.barh([y + 0.2 - 0.4 * place for y in range(len(rows))], heights, 0.4, label=name)
        axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set(yticks=range(len(rows)), yticklabels=list(rows), xlim=(0, 1.1), xlabel="share of questions")
    axes.set_title(f"{result['settings']['dataset']}, {result['settings']['embedder']}: sessions found")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return True
