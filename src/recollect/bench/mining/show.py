"""The figures of mining, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from recollect.bench.mining.labelled import HALVES

SHOWN = 20
"""Of what went wrong; the JSON has all."""
COLUMNS = ("claims", "right", "precision", "wanted", "found", "recall")


def show(console: Console, result: Mapping[str, Any]) -> None:
    for half in HALVES:
        _half(console, half, result["halves"][half])
        _as_said(console, result["as_said"][half])
    if "observations" in result:
        _observations(console, result["observations"], result["as_said"]["observations"])
    if result["cost"] is None:
        console.print("Nothing is embedded here, so there is nothing to compare the time with.")
    else:
        _cost(console, result["cost"])
        for name, row in result["whole"].items():
            _whole(console, name, row)


def _half(console: Console, half: str, figures: Mapping[str, Any]) -> None:
    table = Table(
        title=f"{half}: {figures['exchanges']} exchanges, {figures['turns']} turns", title_justify="left"
    )
    table.add_column("what")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    rows = {**figures["by_category"], "all facts": figures, **_beside(figures["kinds"])}
    for name, row in rows.items():
        if row["claims"] or row["wanted"]:
            table.add_row(name, *(_cell(row[column]) for column in COLUMNS))
    console.print(table)
    for name, bounds in figures["interval"].items():
        if bounds:
            console.print(f"{name}: 95 % between {bounds[0]:.3f} and {bounds[1]:.3f}")
    traps, days = figures["traps"], figures["days"]
    console.print(f"{traps['became_facts']} of {traps['exchanges']} traps became facts.")
    console.print(f"Of {days['found']} facts with a day, {days['resolved']} have it.")
    if "wrong" in figures:
        _wrong(console, figures)
    else:
        console.print(f"What went wrong is not told of {half}, so that rules are not written by it.")


def _beside(kinds: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{kind}s, beside": row for kind, row in kinds.items()}


def _wrong(console: Console, figures: Mapping[str, Any]) -> None:
    """Facts that are none, those of traps first; then what is missed, from the category with least found."""
    recall = {name: row["recall"] or 0.0 for name, row in figures["by_category"].items()}
    false = [row for row in figures["wrong"] if row["kind"] == "fact"]
    false.sort(key=lambda row: not row["category"].startswith("trap"))
    missed = [row for row in figures["missed"] if row["kind"] == "fact"]
    missed.sort(key=lambda row: recall[row["category"]])
    lines = [f"{row['id']} {row['category']}: {row['claim']} ({row['why']})" for row in false[:SHOWN]]
    lines += [f"{row['id']} {row['category']}, missed: {row['missed']}" for row in missed[:SHOWN]]
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _as_said(console: Console, figures: Mapping[str, Any]) -> None:
    console.print(
        f"To keep every sentence instead: precision {figures['precision']:.3f}, recall "
        f"{figures['recall']:.3f}, {figures['traps_that_became_facts']} traps."
    )


def _observations(console: Console, found: Mapping[str, Any], as_said: Mapping[str, float]) -> None:
    table = Table(
        title=f"LoCoMo: {found['observations']} observations, {found['turns']} turns", title_justify="left"
    )
    table.add_column("observations")
    table.add_column("share", justify="right")
    table.add_column("every sentence kept", justify="right")
    for threshold, share in found["covered"].items():
        table.add_row(
            f"with {threshold} of their words in one claim", f"{share:.3f}", f"{as_said[threshold]:.3f}"
        )
    table.add_row("whose turn has any claim", f"{found['cited']:.3f}", "")
    console.print(table)
    console.print(f"{found['claims_a_turn']:.2f} claims a turn; {found['turns_with_claims']:.0%} have one.")


def _cost(console: Console, cost: Mapping[str, Any]) -> None:
    told = "within" if cost["within"] else "over"
    console.print(
        f"Rules {cost['rules_ms_a_turn']:.3f} ms a turn, {cost['embedder']} "
        f"{cost['embedding_ms_a_turn']:.3f} ms: {cost['ratio']:.3f} times, {told} the limit of "
        f"{cost['limit']} ({cost['turns']} turns)."
    )


def _whole(console: Console, name: str, whole: Mapping[str, Any]) -> None:
    console.print(
        f"The whole of mining, {name}: {whole['mining_ms_a_turn']:.3f} ms a turn, of which "
        f"{whole['of_which_embedding_ms']:.3f} embed what it found: {whole['ratio']:.3f} times embedding "
        f"the turns ({whole['turns']} turns, {whole['memories']} memories)."
    )
