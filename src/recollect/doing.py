"""How the memory is doing, of everybody together, as operators read it: in the terminal and in a browser."""

from typing import Any

from recollect.measuring import (
    ANSWER_HITS,
    ANSWER_MISSES,
    CACHE_HITS,
    CACHE_MISSES,
    HITS,
    IMPAIRED,
    MEMORIES,
    MINED,
    RECALL,
    RECORD,
    SKIPPED,
    TURNS,
    VECTOR_HITS,
    VECTOR_MISSES,
    called,
    percentile,
    tended,
)
from recollect.metrics import Figures

MOST_DAYS = 3660
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
PERIODS = {"today": 1, "7 days": 7, "30 days": 30}
DAILY = {
    "recalls": RECALL,
    "recalls skipped": SKIPPED,
    "recalls impaired": IMPAIRED,
    "hits": HITS,
    "calls to record": RECORD,
    "turns recorded": TURNS,
    "memories added": MEMORIES,
    "turns mined": MINED,
}
"""What is charted by day, beside what the background did and what models were asked for."""
PREFIXES = {"tended": tended(""), "asked": called("")}


def daily(found: Figures, days: int) -> dict[str, list[int]]:
    """What happened on each day, today last, without what never did."""
    more = {
        f"{told}: {name}": prefix + name for told, prefix in PREFIXES.items() for name in found.names(prefix)
    }
    counts = {told: found.daily(name, days) for told, name in (DAILY | more).items()}
    return {told: values for told, values in counts.items() if any(values)}


def times_of(found: Figures, name: str) -> dict[str, dict[str, Any]]:
    """How often, and within which milliseconds half, most and nearly all were done, by period."""
    return {period: _times(found.buckets(name, days)) for period, days in PERIODS.items()}


def times_by_day(found: Figures, name: str, days: int) -> list[dict[str, Any]]:
    """The same of each day, today last."""
    return [_times(buckets) for buckets in found.daily_buckets(name, days)]


def _times(buckets: dict[int, int]) -> dict[str, Any]:
    told = {share: percentile(buckets, value) for share, value in SHARES.items()}
    within = {f"{share}_ms": None if t is None else round(t * 1000, 3) for share, t in told.items()}
    return {"count": sum(buckets.values()), **within}


CACHES = {
    "cache": (CACHE_HITS, CACHE_MISSES),
    "recall_cache": (ANSWER_HITS, ANSWER_MISSES),
    "embedding_cache": (VECTOR_HITS, VECTOR_MISSES),
}
"""What is counted of each: the vectors of users in a process, and what is kept in Redis."""


def cache_of(found: Figures, name: str) -> dict[str, Any]:
    most = max(PERIODS.values())
    hits, misses = (found.total(counted, most) for counted in CACHES[name])
    return {"hits": hits, "misses": misses, "rate": hits / (hits + misses) if hits + misses else None}


def document(found: Figures, days: int) -> dict[str, Any]:
    """All of it, for so many days."""
    stats = found.stats
    return {
        "rows": stats["rows"],
        "bytes": stats["bytes"],
        "days": days,
        "today": found.today,
        "daily": daily(found, days),
        "recall": times_of(found, RECALL),
        "record": times_of(found, RECORD),
        "recall_by_day": times_by_day(found, RECALL, days),
        **{name: cache_of(found, name) for name in CACHES},
        "waiting": stats["waiting"],
        "unconsolidated": stats["unconsolidated"],
        "lag_seconds": found.lag_seconds,
        "parked": stats["parked"],
        "projections": stats["projections"],
        "jobs": found.jobs,
    }
