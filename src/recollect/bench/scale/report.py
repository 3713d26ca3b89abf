"""Growth and costs for people: tables and a picture."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from recollect.bench.serving.judged import table

Rows = Sequence[Mapping[str, Any]]


def show(console: Console, result: Mapping[str, Any]) -> None:
    settings = result["settings"]
    busy = "; [yellow]others use this machine: trust ratios only[/]" if settings["busy"] else ""
    console.print(
        f"{settings['processor']}, {settings['cores']} cores, Python {settings['python']}; "
        f"{settings['seconds']:.0f} s, peak {settings['peak_rss_mb']:,.0f} MB{busy}"
    )
    for name, part in result["parts"].items():
        for one in _tables(name, part):
            console.print(one)
    for name, costs in result["costs"].items():
        console.print(_costs(name, costs))
    console.print(_checks(result))
    for reason in result["skipped"].values():
        console.print(f"[yellow]Left out:[/] {reason}")


def _tables(name: str, part: Mapping[str, Any]) -> Iterator[Table]:
    title = f"{part.get('engine', name)}, {part['seconds']:.0f} s"
    if "growth" in part:
        yield growth_table(title, part["growth"])
    if "indexed" in part:
        found = table(
            f"A large user's index; quicker from {part['index_break_even_rows'] or 'no size'} rows on",
            *("rows", "recall@10", "by index ms", "exact ms", "times", "whole, times", "made in s"),
        )
        for one in part["indexed"]:
            times = (one["by_vector"]["p50_ms"], one["by_vector_exact"]["p50_ms"], one["ratio_p50"])
            cells = (f"{value:.2f}" for value in (*times, one["whole_ratio_p50"], one["making_s"]))
            found.add_row(f"{one['rows']:,}", f"{one['recall_at_10']:.3f}", *cells)
        yield found
    if "ingestion" in part:
        found = table("Ingestion", "rows a transaction", "rows/s", "COPY rows/s", "times", "our cpu us a row")
        for one in part["ingestion"].values():
            rates = (f"{one[name]:,}" for name in ("rows_a_transaction", "rows_per_s", "copy_rows_per_s"))
            found.add_row(*rates, f"{one['ratio']:.2f}", f"{one['processor_us']:.0f}")
        yield found


def growth_table(title: str, growth: Rows) -> Table:
    columns = (
        "rows",
        "small p50 ms",
        "p95",
        "times alone",
        "large has",
        "p50 ms",
        "p95",
        "rows/s",
        "bytes a row",
    )
    found = table(title, *columns)
    for row in growth:
        small, large = row["small"], row["large"]
        found.add_row(
            f"{row['rows']:,}",
            *(f"{small[name]:.2f}" for name in ("p50_ms", "p95_ms", "ratio_p50")),
            f"{row['large_rows']:,}",
            *(f"{large[name]:.1f}" for name in ("p50_ms", "p95_ms")),
            f"{row['ingest_rows_per_s']:,}",
            f"{row['bytes_a_row']:,}",
        )
    return found


def _costs(name: str, costs: Mapping[str, Any]) -> Table:
    bytes_each = (f"{costs[what]['all']:,.0f} bytes {told}" for what, told in _BYTES.items())
    found = table(f"Costs, {name}: {', '.join(bytes_each)}", "processor ms", "here", "server")
    for what, spent in costs["processor_ms"].items():
        found.add_row(what, f"{spent['here']:.2f}", f"{spent['server']:.2f}" if "server" in spent else "")
    return found


_BYTES = {"bytes_a_turn": "a turn", "bytes_a_fact": "a fact with its note"}


def _checks(result: Mapping[str, Any]) -> Table:
    verdicts = {True: "[green]met[/]", False: "[red]missed[/]", None: "too small to judge"}
    found = table("Targets", "what", "value", "wanted", "")
    for part, checks in result["checks"].items():
        for name, check in checks.items():
            value, verdict = f"{check['value']:.3g}", verdicts[check["ok"]]
            found.add_row(f"{part}: {name}", value, check["target"], verdict)
    return found


def plot(result: Mapping[str, Any], folder: Path) -> list[Path] | None:
    """A picture for each part that grew; None where there is nothing to draw with."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for name, part in result["parts"].items():
        if "growth" in part:
            drawn.append(folder / f"scale-{name}.png")
            _draw(pyplot, part, drawn[-1])
    return drawn


def _draw(pyplot: Any, part: Mapping[str, Any], path: Path) -> None:
    growth: Rows = part["growth"]
    at = [row["rows"] for row in growth]
    figure, ((small, large), (rate, size)) = pyplot.subplots(2, 2, figsize=(12, 8), layout="constrained")
    for name in ("p50_ms", "p95_ms", "alone_p50_ms"):
        small.plot(at, [row["small"][name] for row in growth], marker="o", label=name.removesuffix("_ms"))
    for name in ("p50_ms", "p95_ms"):
        large.plot(at, [row["large"][name] for row in growth], marker="o", label=name.removesuffix("_ms"))
    if indexed := part.get("indexed"):
        of_large = {row["large_rows"]: row["rows"] for row in growth}
        rows = [of_large[one["rows"]] for one in indexed]
        large.plot(rows, [one["whole"]["p50_ms"] for one in indexed], marker="o", label="p50 by index")
    rate.plot(at, [row["ingest_rows_per_s"] for row in growth], marker="o")
    size.plot(at, [row["bytes_a_row"] for row in growth], marker="o")
    titles = {
        small: "a small user's recall, ms",
        large: f"recall of the large user, {growth[-1]['large_rows']:,} rows at the end, ms",
        rate: "rows recorded a second",
        size: "bytes a row, with indexes",
    }
    for axes, title in titles.items():
        axes.set(title=title, xscale="log", xlabel="rows in the database")
        axes.set_ylim(bottom=0)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
    figure.suptitle(part["engine"])
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
