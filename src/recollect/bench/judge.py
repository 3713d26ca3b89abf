"""The figures that have a limit, and whether they keep it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recollect.bench.place import Limits


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and what it has to reach; `ok` is None where it is too small to judge."""

    name: str
    value: float
    wanted: str
    limit: float
    ok: bool | None


def judged(figures: dict[str, Any], limits: Limits) -> list[Target]:
    """Every figure that has a limit here."""
    targets = [
        *_recall_targets(figures, limits),
        *_whole_targets(figures["whole"], limits),
        *_found_targets(figures.get("found", {}), limits),
        *_record_targets(figures["record"], limits),
        *_start_targets(figures["startup"]),
    ]
    return [target for target in targets if target is not None]


def _recall_targets(figures: dict[str, Any], limits: Limits) -> Iterable[Target | None]:
    for row in figures["recall"]:
        among = f"among {row['rows']:,} rows, times bare"
        yield _at_most(f"recall p50 {among}", row["ratio_p50"], limits.recall_p50)
        yield _at_most(f"recall p95 {among}", row["ratio_p95"], limits.recall_p95)
    crowd = figures["others"]["rows"]
    for row in figures["others"]["recall"]:
        name = f"recall p50 among {row['rows']:,} rows beside {crowd:,} of others, times alone"
        yield _at_most(name, row["ratio_p50"], limits.others)
    for row in figures["chat"]["recall"]:
        among = f"recall p50 among {row['rows']:,} rows"
        yield _at_most(
            f"{among} after a turn was recorded, times undisturbed", row["same_process_ratio"], limits.chat
        )
        yield _at_most(
            f"{among} after a second process did, times undisturbed",
            row["second_process_ratio"],
            limits.chat,
        )


def _whole_targets(whole: dict[str, Any], limits: Limits) -> Iterable[Target | None]:
    if "ratio_p50" in whole:
        name = f"whole recall p50 among {whole['rows']:,} rows, times embedding the question"
        yield _at_most(name, whole["ratio_p50"], limits.whole)


def _found_targets(found: dict[str, Any], limits: Limits) -> Iterable[Target | None]:
    for way, cases in found.get("ways", {}).items():
        worst = min(cases, key=lambda name: cases[name]["recall_at_10"])
        name = f"recall@10 {way}, of exact, by the worst filter ({worst})"
        yield _at_least(name, cases[worst]["recall_at_10"], limits.found)


def _record_targets(record: dict[str, Any], limits: Limits) -> Iterable[Target | None]:
    singles = record["one_by_one"]
    yield _at_least("record in batches, times bare inserts", record["batches"]["ratio"], limits.batches)
    small = "times bare commits of one small row"
    yield _at_least(f"record one by one, {small}", singles["ratio"], limits.commits)
    yield _at_least(
        f"record by {singles['threads']} threads, {small}", singles["threads_ratio"], limits.threads
    )


def _start_targets(start: dict[str, Any]) -> Iterable[Target | None]:
    yield _at_most("import recollect, seconds", start["import_s"], 0.3)
    if "first_recall_s" in start["first"]:
        yield _at_most("new process to its first recall, seconds", start["first"]["first_recall_s"], 1.5)


def _at_most(name: str, value: float, limit: float | None) -> Target | None:
    return None if limit is None else Target(name, value, "at most", limit, value <= limit)


def _at_least(name: str, value: float, limit: float | None) -> Target | None:
    return None if limit is None else Target(name, value, "at least", limit, value >= limit)
