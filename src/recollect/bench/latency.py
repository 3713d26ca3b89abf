"""The whole measurement, and how it is judged. Every ratio compares two things of one run."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from recollect import __version__
from recollect.bench import recalling, recording, startup
from recollect.bench.corpus import DIMENSIONS, VOCABULARY, WORDS_A_QUERY, WORDS_A_TEXT, Corpus
from recollect.bench.measure import file_mb, machine, peak_rss_mb, rss_mb
from recollect.bench.subject import Advance, open_memory

Stage = Callable[[str, int], Advance]
"""Announces a stage and how much there is to do; what it returns is told of the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run."""

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    others: int = 1_000_000
    patience_s: float = 240.0
    """Recording the others' rows stops after this, and the output says so."""
    queries: int = 100
    batch_rows: int = 20_000
    single_turns: int = 300
    starts: int = 7
    seed: int = 7
    quick: bool = False
    """So small that the figures say that it works, not how fast it is."""


QUICK = Plan(
    sizes=(200, 1_000),
    others=2_000,
    queries=20,
    batch_rows=2_000,
    single_turns=40,
    starts=2,
    patience_s=20,
    quick=True,
)


def run(folder: Path, plan: Plan, stage: Stage) -> dict[str, Any]:
    """Measure everything, with the files in this folder."""
    begun = perf_counter()
    settings: dict[str, Any] = {
        **machine(),
        "recollect": __version__,
        "dimensions": DIMENSIONS,
        "vocabulary": VOCABULARY,
        "words_a_text": WORDS_A_TEXT,
        "words_a_query": WORDS_A_QUERY,
        **asdict(plan),
        "sizes": list(plan.sizes),
        "flush_ms": recording.quiet_commit_ms(folder),
    }
    corpus = Corpus(plan.seed)
    figures = {
        "startup": _startup(folder, corpus, plan, stage),
        "record": _record(folder, corpus, plan, stage),
        **_recall(folder, corpus, plan, stage),
    }
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    targets = judged(figures)
    if plan.quick:
        targets = [replace(target, ok=None) for target in targets]
    names = ("recall", "others", "chat", "record", "startup")
    return {
        "settings": settings,
        **{name: figures[name] for name in names},
        "targets": [asdict(target) for target in targets],
    }


def _startup(folder: Path, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    stage("new processes", 0)
    return {
        **startup.measure_import(plan.starts),
        "first": startup.measure_first_recall(folder, corpus, plan.starts),
    }


def _record(folder: Path, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    batches = stage("recording in batches", plan.batch_rows)
    in_batches = recording.measure_batches(folder, corpus, plan.batch_rows, batches)
    singles = stage("recording one by one", plan.single_turns)
    return {
        "batches": in_batches,
        "one_by_one": recording.measure_commits(folder, corpus, plan.single_turns, singles),
    }


def _recall(folder: Path, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    with ExitStack() as stack:
        recall: list[dict[str, Any]] = []
        alone: list[recalling.Alone] = []
        for size in plan.sizes:
            advance = stage(f"recall among {size:,} rows", size)
            one = recalling.build_alone(stack, folder, corpus, size, plan.queries, advance)
            recall.append(recalling.measure_alone(one, folder))
            alone.append(one)
        advance = stage(f"{plan.others:,} rows of other users", plan.others)
        path = folder / "crowd.db"
        crowd = stack.enter_context(open_memory(path))
        others = recalling.build_crowd(crowd, corpus, alone, plan.others, plan.patience_s, advance)
        others |= {"recall": recalling.measure_crowd(crowd, alone), "file_mb": file_mb(path)}
        others["rss_mb"] = rss_mb()
        stage("recall in a chat", 0)
        chat = [recalling.measure_chat(one, corpus) for one in alone]
    return {"recall": recall, "others": others, "chat": {"recall": chat}}


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and what it has to reach; `ok` is None where it is too small to judge."""

    name: str
    value: float
    wanted: str
    limit: float
    ok: bool | None


def judged(figures: dict[str, Any]) -> list[Target]:
    """Every figure that has a limit."""
    return [
        *_recall_targets(figures),
        *_record_targets(figures["record"]),
        *_start_targets(figures["startup"]),
    ]


def _recall_targets(figures: dict[str, Any]) -> Iterable[Target]:
    for row in figures["recall"]:
        yield _at_most(f"recall p50 among {row['rows']:,} rows, times bare", row["ratio_p50"], 2)
        yield _at_most(f"recall p95 among {row['rows']:,} rows, times bare", row["ratio_p95"], 3)
    crowd = figures["others"]["rows"]
    for row in figures["others"]["recall"]:
        name = f"recall p50 among {row['rows']:,} rows beside {crowd:,} of others, times alone"
        yield _at_most(name, row["ratio_p50"], 1.5)
    for row in figures["chat"]["recall"]:
        among = f"recall p50 among {row['rows']:,} rows"
        yield _at_most(
            f"{among} after a turn was recorded, times undisturbed", row["same_process_ratio"], 1.3
        )
        yield _at_most(
            f"{among} after a second process did, times undisturbed", row["second_process_ratio"], 1.3
        )


def _record_targets(record: dict[str, Any]) -> Iterable[Target]:
    singles = record["one_by_one"]
    yield _at_least("record in batches, times bare inserts", record["batches"]["ratio"], 0.5)
    small = "times bare commits of one small row"
    yield _at_least(f"record one by one, {small}", singles["ratio"], 0.8)
    yield _at_least(f"record by {singles['threads']} threads, {small}", singles["threads_ratio"], 3)


def _start_targets(start: dict[str, Any]) -> Iterable[Target]:
    yield _at_most("import recollect, seconds", start["import_s"], 0.3)
    if "first_recall_s" in start["first"]:
        yield _at_most("new process to its first recall, seconds", start["first"]["first_recall_s"], 1.5)


def _at_most(name: str, value: float, limit: float) -> Target:
    return Target(name, value, "at most", limit, value <= limit)


def _at_least(name: str, value: float, limit: float) -> Target:
    return Target(name, value, "at least", limit, value >= limit)
