"""The parts, one after the other."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from recollect import __version__
from recollect.bench.measure import machine, peak_rss_mb
from recollect.bench.scale.beside import graph, milvus, redis
from recollect.bench.scale.faults import faults
from recollect.bench.scale.options import Options, Unavailable
from recollect.bench.scale.postgres import postgres
from recollect.bench.scale.sqlite import sqlite

PARTS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "postgres": postgres,
    "sqlite": sqlite,
    "milvus": milvus,
    "graph": graph,
    "redis": redis,
    "faults": faults,
}


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """What these parts find; those that cannot run here are told with the reason."""
    begun = perf_counter()
    settings = {
        **machine(),
        "recollect": __version__,
        "users": options.users,
        "memories_each": options.memories,
        "large_user": options.large,
        "rows": options.rows,
        "file_rows": options.file_rows,
        "queries": options.queries,
        "threads": options.threads,
        "index_over": options.index_over,
        "seed": options.seed,
        "quick": options.quick,
    }
    found: dict[str, dict[str, Any]] = {}
    skipped: dict[str, str] = {}
    for name in names:
        started = perf_counter()
        try:
            found[name] = PARTS[name](options)
        except Unavailable as error:
            skipped[name] = str(error)
        else:
            found[name]["seconds"] = round(perf_counter() - started, 1)
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    return {
        "settings": settings,
        "parts": {name: {k: v for k, v in part.items() if k not in _APART} for name, part in found.items()},
        "costs": {name: part["costs"] for name, part in found.items() if "costs" in part},
        "checks": {
            name: {what: _check(*check, judged=not options.quick) for what, check in part["checks"].items()}
            for name, part in found.items()
        },
        "skipped": skipped,
    }


_APART = ("costs", "checks")
"""What is told of all parts together."""


def _check(value: float, target: str, ok: bool | None, *, judged: bool) -> dict[str, Any]:
    return {"value": value, "target": target, "ok": ok if judged else None}
