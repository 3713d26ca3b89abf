"""The whole measurement. Every ratio compares two things of one run."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

from recollect import __version__
from recollect.bench import finding, recalling, recording, startup, whole
from recollect.bench.corpus import DIMENSIONS, VOCABULARY, WORDS_A_QUERY, WORDS_A_TEXT, Corpus
from recollect.bench.judge import judged
from recollect.bench.measure import machine, peak_rss_mb, rss_mb
from recollect.bench.place import Place
from recollect.bench.subject import Advance, open_memory

Stage = Callable[[str, int], Advance]
"""Announces a stage and how much there is to do; what it returns is told of the progress."""

FILTERED_ROWS = WHOLE_ROWS = 10_000


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


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    """Measure everything at this place."""
    begun = perf_counter()
    settings: dict[str, Any] = {
        **machine(),
        **place.about(),
        "recollect": __version__,
        "dimensions": DIMENSIONS,
        "vocabulary": VOCABULARY,
        "words_a_text": WORDS_A_TEXT,
        "words_a_query": WORDS_A_QUERY,
        **asdict(plan),
        "sizes": list(plan.sizes),
        "flush_ms": recording.quiet_commit_ms(place),
    }
    corpus = Corpus(plan.seed)
    figures = {
        "startup": _startup(place, corpus, plan, stage),
        "record": _record(place, corpus, plan, stage),
        **_recall(place, corpus, plan, stage),
        "whole": _whole(place, corpus, plan, stage),
        **(_found(place, corpus, plan, stage) if place.approximate else {}),
    }
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    targets = judged(figures, place.limits)
    if plan.quick:
        targets = [replace(target, ok=None) for target in targets]
    names = ("recall", "whole", "found", "others", "chat", "record", "startup")
    return {
        "settings": settings,
        **{name: figures[name] for name in names if name in figures},
        "targets": [asdict(target) for target in targets],
    }


def _startup(place: Place, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    stage("new processes", 0)
    return {
        **startup.measure_import(plan.starts),
        "first": startup.measure_first_recall(place, corpus, plan.starts),
    }


def _record(place: Place, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    batches = stage("recording in batches", plan.batch_rows)
    rows = corpus.rows(plan.batch_rows, stream=2)
    source = recording.build_source(place, rows)
    in_batches = recording.measure_batches(place, source, rows, batches)
    singles = stage("recording one by one", plan.single_turns)
    return {
        "batches": in_batches,
        "one_by_one": recording.measure_commits(place, source, corpus, plan.single_turns, singles),
    }


def _recall(place: Place, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    with ExitStack() as stack:
        recall: list[dict[str, Any]] = []
        alone: list[recalling.Alone] = []
        for size in plan.sizes:
            advance = stage(f"recall among {size:,} rows", size)
            one = recalling.build_alone(stack, place, corpus, size, plan.queries, advance)
            recall.append(recalling.measure_alone(one, place))
            alone.append(one)
        advance = stage(f"{plan.others:,} rows of other users", plan.others)
        address = place.database("crowd")
        crowd = stack.enter_context(open_memory(address))
        others = recalling.build_crowd(crowd, corpus, alone, plan.others, plan.patience_s, advance)
        place.settle(address)
        others |= {"recall": recalling.measure_crowd(crowd, alone), "file_mb": place.megabytes(address)}
        others["rss_mb"] = rss_mb()
        stage("recall in a chat", 0)
        chat = [recalling.measure_chat(one, corpus) for one in alone]
    return {"recall": recall, "others": others, "chat": {"recall": chat}}


def _whole(place: Place, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    size = min(WHOLE_ROWS, max(plan.sizes))
    advance = stage(f"whole recalls among {size:,} rows", size)
    return whole.measure_whole(place, corpus, size, plan.queries, advance)


def _found(place: Place, corpus: Corpus, plan: Plan, stage: Stage) -> dict[str, Any]:
    size = min(FILTERED_ROWS, max(plan.sizes))
    advance = stage(f"what filters find among {size:,} rows", size)
    return {"found": finding.measure_filters(place, corpus, size, plan.queries, advance)}
