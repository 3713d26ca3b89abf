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
        f"Python {settings['python']}, {settings['engine']}, NumPy {settings['numpy']}; "
        f"{settings['seconds']:.0f} s, peak {settings['peak_rss_mb']:,.0f} MB"
    )
    if settings["busy"]:
        console.print(
            f"[yellow]The machine was busy before this began (load {settings['load_before'][0]:g} on "
            f"{settings['cores']} cores): these figures are not to be trusted.[/]"
        )
    console.print(_recall(result))
    if "ratio_p50" in (whole := result["whole"]):
        console.print(
            f"A whole recall among {whole['rows']:,} rows: {whole['p50_ms']:.2f} ms; embedding its question "
            f"alone {whole['embedding_p50_ms']:.2f} ms, x {whole['ratio_p50']:.2f}"
        )
    if "found" in result:
        console.print(_found(result["found"]))
    console.print(_chat(result))
    _others(console, result["others"])
    batches = result["record"]["batches"]
    console.print(
        f"Record in batches: {batches['rows_per_s']:,} rows/s; bare inserts of the same rows "
        f"{batches['bare_rows_per_s']:,} rows/s, x {batches['ratio']:.2f}"
    )
    console.print(_singles(result["record"]["one_by_one"]))
    console.print(_targets(result))


def _recall(result: Mapping[str, Any]) -> Table:
    table = _table(
        "Recall, ms", "rows", "p50", "p95", "bare p50", "bare p95", "x p50", "x p95", "first", "MB"
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


def _found(found: Mapping[str, Any]) -> Table:
    ways = found["ways"]
    columns = (f"{way}, {what}" for way in ways for what in ("recall@10", "p50 ms"))
    table = _table(f"What filters find among {found['rows']:,} rows", "filter", "passing", *columns)
    table.columns[0].justify = "left"
    for name, first in next(iter(ways.values())).items():
        cells = (
            f"{ways[way][name][figure]:{form}}"
            for way in ways
            for figure, form in (("recall_at_10", ".3f"), ("p50_ms", ".2f"))
        )
        table.add_row(name, f"{first['passing']:,}", *cells)
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
        f"{others['file_mb']:,.0f} MB"
    )


def _singles(single: Mapping[str, Any]) -> Table:
    """Recording one by one beside both baselines: the least a commit can be, and the same work in SQL."""
    table = _table("Record one by one", "what", "turns/s", "p50 ms", "x small row", "x same rows")
    table.columns[0].justify = "left"
    rows = (
        ("recollect", "per_s", "p50_ms", "ratio", "same_rows_ratio"),
        (
            f"recollect, {single['threads']} threads",
            "threads_per_s",
            "",
            "threads_ratio",
            "threads_same_rows_ratio",
        ),
        ("bare commits, one small row each", "bare_per_s", "bare_p50_ms", "", ""),
        ("bare commits, the same rows each", "bare_same_rows_per_s", "bare_same_rows_p50_ms", "", ""),
    )
    for what, rate, *others in rows:
        table.add_row(
            what, f"{single[rate]:,.0f}", *(f"{single[name]:.2f}" if name else "" for name in others)
        )
    return table


def _targets(result: Mapping[str, Any]) -> Table:
    quick = result["settings"]["quick"]
    columns = ("what", "value", "limit") if quick else ("what", "value", "limit", "")
    table = _table(f"Targets{', but this run is too small to judge' if quick else ''}", *columns)
    table.columns[0].justify = "left"
    for target in result["targets"]:
        verdict = "[green]met[/]" if target["ok"] else "[red]missed[/]"
        limit = f"{target['wanted']} {target['limit']:g}"
        table.add_row(target["name"], f"{target['value']:.2f}", limit, *(() if quick else (verdict,)))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    return table
