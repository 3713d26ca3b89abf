"""A very large user's recall with the index that `maintain` makes for them, beside the exact scan."""

from time import perf_counter
from typing import Any

from recollect import Memory
from recollect.bench.measure import Times, ratio
from recollect.bench.scale.crowd import LARGE
from recollect.bench.scale.growth import Setting, in_turn, large_queries, nearest
from recollect.bench.serving.judged import figures
from recollect.bench.subject import ask


def measure_indexed(setting: Setting, rows: int) -> dict[str, Any]:
    """The index is made and dropped here: recording into one that is there takes far longer."""
    over = min(setting.options.index_over, rows - 1)
    with setting.opened(over) as indexed, setting.opened() as exact:
        begun = perf_counter()
        made = indexed.store.maintain()
        taken = perf_counter() - begun
        found = _compared(setting, indexed, exact)
        exact.store.maintain()
    return {"rows": rows, "indexes_made": made, "making_s": round(taken, 1), **found}


def _compared(setting: Setting, indexed: Memory, exact: Memory) -> dict[str, Any]:
    by_index, by_scan = indexed.scope(LARGE), exact.scope(LARGE)
    near, near_exact, whole, whole_exact = (Times() for _ in range(4))
    answers: tuple[list[set[str]], list[set[str]]] = [], []
    in_turn(
        large_queries(setting),
        lambda query: answers[0].append(near.take(lambda: nearest(by_index, query))),
        lambda query: answers[1].append(near_exact.take(lambda: nearest(by_scan, query))),
        lambda query: whole.take(lambda: ask(by_index, query)),
        lambda query: whole_exact.take(lambda: ask(by_scan, query)),
        forget=(near, near_exact, whole, whole_exact),
    )
    shares = [len(found & best) / max(1, len(best)) for found, best in zip(*answers, strict=True)]
    return {
        "recall_at_10": round(sum(shares) / len(shares), 4),
        "ratio_p50": ratio(near.p50, near_exact.p50),
        "by_vector": figures(near),
        "by_vector_exact": figures(near_exact),
        "whole": figures(whole),
        "whole_exact": figures(whole_exact),
        "whole_ratio_p50": ratio(whole.p50, whole_exact.p50),
    }


def break_even(measured: list[dict[str, Any]]) -> int | None:
    """The least of the sizes from which on the index is quicker."""
    quicker = [one["rows"] for one in measured if one["ratio_p50"] < 1]
    return min(quicker, default=None)
