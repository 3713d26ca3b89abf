"""Rows by rows: how recall, recording and size change while a database grows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.bench.corpus import Corpus, Query
from recollect.bench.finding import BY_VECTOR, TOP
from recollect.bench.measure import MiB, Times, alternate, ratio, settled
from recollect.bench.place import Place
from recollect.bench.scale.crowd import LARGE, Crowd, Size
from recollect.bench.scale.options import Options
from recollect.bench.serving.judged import figures
from recollect.bench.subject import USER, ask, open_memory

WARM_UP = 5
NEVER = 1_000_000_000
"""So many chunks that nobody gets an index."""


@dataclass(slots=True)
class Setting:
    """The database that grows, and one with nobody in it but the small user."""

    place: Place
    options: Options
    crowd: Crowd
    address: str
    alone: str

    def opened(self, index_over: int = NEVER) -> Memory:
        return open_memory(self.address, index_over=index_over)


def prepared(place: Place, options: Options) -> Setting:
    crowd = Crowd(Corpus(options.seed), options.memories)
    alone = place.database("scale-alone")
    with open_memory(alone) as memory:
        memory.scope(USER).record_many(crowd.small().messages())
    place.settle(alone)
    return Setting(place, options, crowd, place.database("scale"), alone)


def grown(setting: Setting, size: Size) -> dict[str, Any]:
    """A row of the table: the database made this large, and what was seen then."""
    options, place, before = setting.options, setting.place, setting.crowd.there
    advance = options.stage(f"{size.rows:,} rows", size.rows - before.rows)
    with setting.opened() as memory:
        loaded = setting.crowd.grow(memory, size, options.threads, advance)
    place.settle(setting.address)
    with setting.opened() as memory, open_memory(setting.alone) as alone:
        small = beside_others(memory, alone, setting)
        large = recalled(memory.scope(LARGE), large_queries(setting))
    megabytes = place.megabytes(setting.address)
    return {
        "rows": size.rows,
        "users": size.users + 1,
        "large_rows": size.large,
        "small": small,
        "large": large,
        "ingest_rows_per_s": round(loaded.rows / loaded.seconds),
        "ingest_processor_us": round(loaded.processor / loaded.rows * 1e6, 1),
        "mb": megabytes,
        "bytes_a_row": round(megabytes * MiB / size.rows),
    }


def small_queries(setting: Setting) -> list[Query]:
    return setting.crowd.corpus.queries(setting.crowd.small(), setting.options.queries)


def large_queries(setting: Setting) -> list[Query]:
    return setting.crowd.corpus.queries(setting.crowd.asked_about, setting.options.queries)


def beside_others(crowded: Memory, alone: Memory, setting: Setting) -> dict[str, Any]:
    """The small user's recall beside all the others and on their own, question by question."""
    here, there = Times(), Times()
    beside, lonely = crowded.scope(USER), alone.scope(USER)
    in_turn(
        small_queries(setting),
        lambda query: here.take(lambda: ask(beside, query)),
        lambda query: there.take(lambda: ask(lonely, query)),
        forget=(here, there),
    )
    return {
        **figures(here),
        "alone_p50_ms": round(there.p50, 3),
        "alone_p95_ms": round(there.p95, 3),
        "ratio_p50": ratio(here.p50, there.p50),
    }


def recalled(scope: ScopedMemory, queries: Sequence[Query]) -> dict[str, Any]:
    """Whole recalls, and the processor time of this process for each."""
    times = Times()
    for query in queries[:WARM_UP]:
        ask(scope, query)
    with settled():
        before = process_time()
        for query in queries:
            times.take(lambda q=query: ask(scope, q))
        spent = process_time() - before
    return {**figures(times), "processor_ms": round(spent / len(queries) * 1000, 3)}


def nearest(scope: ScopedMemory, query: Query) -> set[str]:
    """The ten nearest by vector alone, as recall finds them."""
    found = scope.recall("", vector=query.vector, top_k=TOP, threshold=-1, techniques=BY_VECTOR)
    return {hit.id for hit in found.hits}


def in_turn(queries: Sequence[Query], *ways: Callable[[Query], object], forget: Sequence[Times] = ()) -> None:
    """Ask every question in every way, each time in another order; what warms up is not counted."""
    for query in queries[:WARM_UP]:
        for way in ways:
            way(query)
    for times in forget:
        times.seconds.clear()
    with settled():
        for number, query in enumerate(queries):
            alternate(number, *(partial(way, query) for way in ways))
