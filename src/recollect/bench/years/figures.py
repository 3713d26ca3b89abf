"""From what was lived through to figures: what several processes did, taken together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.bench.measure import Times, ratio
from recollect.bench.years.live import Span

MONTH = 30
AGED_LIMIT = 1.3
"""Recall takes at most so many times as long as in a new copy of the same memory."""
FAULTS = ("over the quota", "expired and returned", "pinned and lost", "recall with problems")


@dataclass(slots=True)
class Owned:
    """What those under a policy have together, and what each may have."""

    memory_quota: int
    turn_quota: int
    counts: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Month:
    span: Span
    seconds: float
    file_mb: float
    owned: dict[str, Owned]


@dataclass(slots=True)
class Aged:
    """Seconds of recall in the memory that the years went by in, and in a copy that is new."""

    old: Times = field(default_factory=Times)
    new: Times = field(default_factory=Times)


@dataclass(frozen=True, slots=True)
class Lived:
    """What one process has to tell."""

    months: list[Month]
    aged: Aged
    faults: Counter[str]
    counts: Counter[str]
    seconds: dict[str, float]
    peaks: dict[str, dict[str, float]]
    """The most that anybody had on an evening, as a share of each quota, by policy."""
    peak_rss_mb: float


def figures(lives: Sequence[Lived]) -> dict[str, Any]:
    """All of it, month by month, in all, and what had to hold."""
    months = [_month(number, together) for number, together in enumerate(_aligned(lives), 1)]
    aged = _aged([lived.aged for lived in lives])
    peaks: dict[str, dict[str, float]] = {}
    for lived in lives:
        for policy, shares in lived.peaks.items():
            known = peaks.setdefault(policy, {})
            known |= {name: max(known.get(name, 0.0), round(share, 3)) for name, share in shares.items()}
    return {
        "months": months,
        "aged": aged,
        "done": _summed(month["done"] for month in months),
        "chore_seconds": _summed(month["chore_seconds"] for month in months),
        "verb_seconds": _summed(lived.seconds for lived in lives),
        "peaks": peaks,
        **_summed(lived.counts for lived in lives),
        "checks": _checks(lives, months, aged),
    }


def _aligned(lives: Sequence[Lived]) -> list[tuple[Month, ...]]:
    return list(zip(*(lived.months for lived in lives), strict=True))


def _summed(parts: Iterable[Any]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = round(total.get(name, 0) + value, 3)
    return total


def _month(number: int, together: Sequence[Month]) -> dict[str, Any]:
    recall = Times([second for month in together for second in month.span.recall.seconds])
    policies = dict.fromkeys(name for month in together for name in month.owned)
    return {
        "month": number,
        "seconds": round(max(month.seconds for month in together), 2),
        "recall_p50_ms": round(recall.p50, 3) if recall.seconds else None,
        "recall_p95_ms": round(recall.p95, 3) if recall.seconds else None,
        "file_mb": round(sum(month.file_mb for month in together), 1),
        "by_policy": {
            name: _mean([month.owned[name] for month in together if name in month.owned]) for name in policies
        },
        "done": _summed(month.span.done for month in together),
        "chore_seconds": _summed(month.span.seconds for month in together),
        "problems": {
            name: count for name, count in _summed(month.span.problems for month in together).items() if count
        },
    }


def _mean(owned: Sequence[Owned]) -> dict[str, float]:
    """What one of them has, on average, and may have."""
    total = _summed(one.counts for one in owned)
    means = {name: round(total[name] / total["users"], 1) for name in ("turns", "memories", "in_force")}
    return {**means, "memory_quota": owned[0].memory_quota, "turn_quota": owned[0].turn_quota}


def _aged(parts: Sequence[Aged]) -> dict[str, Any]:
    old = Times([second for part in parts for second in part.old.seconds])
    new = Times([second for part in parts for second in part.new.seconds])
    return {
        "compared_with": "a new database that took in the export of the same users",
        "questions": len(old.seconds),
        "p50_ms": round(old.p50, 3),
        "p95_ms": round(old.p95, 3),
        "copy_p50_ms": round(new.p50, 3),
        "copy_p95_ms": round(new.p95, 3),
        "ratio_p50": ratio(old.p50, new.p50),
    }


def _checks(
    lives: Sequence[Lived], months: Sequence[dict[str, Any]], aged: dict[str, Any]
) -> list[dict[str, Any]]:
    """What had to hold: how often it did not, or how far it is from the limit."""
    counts = {name: sum(lived.faults[name] for lived in lives) for name in FAULTS}
    counts["chores that failed"] = sum(sum(month["problems"].values()) for month in months)
    checks: list[dict[str, Any]] = [
        {"name": name, "value": count, "limit": 0, "ok": not count} for name, count in counts.items()
    ]
    slower = aged["ratio_p50"]
    name = "recall at the end, times a new copy"
    return [*checks, {"name": name, "value": slower, "limit": AGED_LIMIT, "ok": slower <= AGED_LIMIT}]
