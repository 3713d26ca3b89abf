"""The figures for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def show(console: Console, result: Mapping[str, Any]) -> None:
    """Tables of the targets and of the figures beside them."""
    settings = result["settings"]
    console.print(
        f"{settings['processor']}, {settings['cores']} cores, load {settings['load_before']}; "
        f"Python {settings['python']}, SQLite {settings['sqlite']}, NumPy {settings['numpy']}; "
        f"{settings['seconds']:.0f} s, peak {settings['peak_rss_mb']:,.0f} MB"
    )
    console.print(_recall(result))
    console.print(_chat(result))
    _others(console, result["others"])
    _record(console, result["record"])
    console.print(_targets(result))


def _recall(result: Mapping[str, Any]) -> Table:
    table = _table(
        "Recall, ms", "rows", "p50", "p95", "bare p50", "bare p95", "x p50", "x p95", "first", "file MB"
    )
    for row in result["recall"]:
        cells = (
            row[name] for name in ("p50_ms", "p95_ms", "bare_p50_ms", "bare_p95_ms", "ratio_p50", "ratio_p95")
        )
        table.add_row(
            f"{row['rows']:,}",
            *(f"{c:.2f}" for c in cells),
            f"{row['first_ms']:.0f}",
            f"{row['file_mb']:,.0f}",
        )
    return table


def _chat(result: Mapping[str, Any]) -> Table:
    table = _table(
        "Recall in a chat, p50 ms", "rows", "undisturbed", "after a turn", "x", "after another process's", "x"
    )
    for row in result["chat"]["recall"]:
        names = ("undisturbed_p50_ms", "same_process_p50_ms", "same_process_ratio")
        names += ("second_process_p50_ms", "second_process_ratio")
        table.add_row(f"{row['rows']:,}", *(f"{row[name]:.2f}" for name in names))
    return table


def _others(console: Console, others: Mapping[str, Any]) -> None:
    cut = "" if others["complete"] else f" (of {others['wanted']:,} wanted: time was up)"
    console.print(
        f"Others: {others['rows']:,} rows{cut} of {others['users']} users, "
        f"recorded in {others['recording_s']:,.0f} s ({others['rows_per_s']:,} rows/s); "
        f"file {others['file_mb']:,.0f} MB"
    )


def _record(console: Console, record: Mapping[str, Any]) -> None:
    batches, single = record["batches"], record["one_by_one"]
    console.print(
        f"Record: {batches['rows_per_s']:,} rows/s in batches (bare {batches['bare_rows_per_s']:,}); "
        f"{single['per_s']:,.0f}/s one by one, "
        f"{single['threads_per_s']:,.0f}/s by {single['threads']} threads "
        f"(bare commits {single['bare_per_s']:,.0f}/s, "
        f"of the same rows {single['bare_same_rows_per_s']:,.0f}/s)"
    )


def _targets(result: Mapping[str, Any]) -> Table:
    table = _table("Targets", "what", "value", "limit", "")
    table.columns[0].justify = "left"
    for target in result["targets"]:
        verdict = "[green]met[/]" if target["ok"] else "[red]missed[/]"
        table.add_row(
            target["name"], f"{target['value']:.2f}", f"{target['wanted']} {target['limit']:g}", verdict
        )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    return table
