"""How often the gate is right, on labelled queries of our own."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from recollect.recall.gate import decide

SPLITS = ("dev", "test")
LABELS = ("search", "skip")


@dataclass(frozen=True, slots=True)
class Labelled:
    query: str
    label: Literal["search", "skip"]
    note: str
    split: Literal["dev", "test"]
    """The rules were written with an eye on dev; test says how good they are."""


def labelled() -> list[Labelled]:
    lines = files("recollect.bench").joinpath("data", "gate_queries.jsonl").read_text("utf-8").splitlines()
    return [Labelled(**json.loads(line)) for line in lines]


def measure(queries: Sequence[Labelled]) -> dict[str, Any]:
    """For each split: precision and recall of both answers, and what was answered wrongly."""
    return {split: _measured([query for query in queries if query.split == split]) for split in SPLITS}


def _measured(queries: Sequence[Labelled]) -> dict[str, Any]:
    answered = [(query, "search" if decide(query.query).search else "skip") for query in queries]
    return {
        "queries": len(queries),
        **{label: _figures(label, ((query.label, answer) for query, answer in answered)) for label in LABELS},
        "wrong": [
            {"query": query.query, "label": query.label, "answer": answer, "note": query.note}
            for query, answer in answered
            if query.label != answer
        ],
    }


def _figures(label: str, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    relevant = [pair for pair in pairs if label in pair]
    right = sum(wanted == answer for wanted, answer in relevant)
    answers = sum(answer == label for _, answer in relevant)
    wanted = sum(wanted == label for wanted, _ in relevant)
    return {
        "queries": wanted,
        "precision": round(right / answers, 4) if answers else 0.0,
        "recall": round(right / wanted, 4) if wanted else 0.0,
    }


def show(console: Console, result: Mapping[str, Any]) -> None:
    table = Table(title="The gate", title_justify="left")
    for column in ("split", "answer", "queries", "precision", "recall"):
        table.add_column(column, justify="right")
    for split in SPLITS:
        for label in LABELS:
            row = result[split][label]
            table.add_row(
                split, label, str(row["queries"]), f"{row['precision']:.3f}", f"{row['recall']:.3f}"
            )
    console.print(table)
    for split in SPLITS:
        for wrong in result[split]["wrong"]:
            console.print(
                f"{split}: {wrong['answer']} instead of {wrong['label']}: {wrong['query']}",
                markup=False,
                highlight=False,
            )
