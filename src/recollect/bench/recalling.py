"""Recall: alone against the bare search, in a crowd, and while turns are being recorded."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.bench.corpus import Corpus, Query, Rows
from recollect.bench.measure import Times, alternate, ratio, rss_mb, settled
from recollect.bench.place import BareSearch, Place
from recollect.bench.second import SecondProcess
from recollect.bench.subject import BATCH, USER, Advance, ask, fill, open_memory

OTHER_USERS = 100
_WARM_UP = 10


@dataclass(frozen=True, slots=True)
class Alone:
    """One user's rows in a database of their own, open."""

    rows: Rows
    queries: list[Query]
    rare: list[Query]
    address: str
    memory: Memory

    @property
    def size(self) -> int:
        return len(self.rows)


def build_alone(
    stack: ExitStack, place: Place, corpus: Corpus, size: int, queries: int, advance: Advance
) -> Alone:
    rows = corpus.rows(size, stream=size)
    address = place.database(f"alone-{size}")
    with open_memory(address) as memory:
        fill(memory.scope(USER), rows, advance)
    place.settle(address)
    # Opened again: what is measured is a process that found the rows, not the one that wrote them.
    memory = stack.enter_context(open_memory(address))
    asked, rare = corpus.queries(rows, queries), corpus.queries(rows, queries, rare=True)
    return Alone(rows, asked, rare, address, memory)


def measure_alone(alone: Alone, place: Place) -> dict[str, Any]:
    """Recall and the bare search, query by query: with words as they come, and with rare ones only."""
    scope = alone.memory.scope(USER)
    before = rss_mb()
    first = Times()
    first.take(lambda: ask(scope, alone.queries[0]))
    held = rss_mb() - before
    bare = place.search(place.database(f"bare-{alone.size}"), alone.rows)
    usual = _side_by_side(scope, bare, alone.rows, alone.queries)
    rare = _side_by_side(scope, bare, alone.rows, alone.rare)
    bare.close()
    return {
        "rows": alone.size,
        **usual,
        "rare_words": {name: rare[name] for name in ("p50_ms", "bare_p50_ms", "ratio_p50", "ratio_p95")},
        "first_ms": round(first.total * 1000, 1),
        "cache_mb": round(held, 1),
        "rss_mb": rss_mb(),
        "file_mb": place.megabytes(alone.address),
    }


def _side_by_side(
    scope: ScopedMemory, bare: BareSearch, rows: Rows, queries: Sequence[Query]
) -> dict[str, Any]:
    product, whole = Times(), Times()
    laps: dict[str, Times] = {}
    bare_laps: dict[str, Times] = {}
    agreed: list[float] = []

    def one(number: int, query: Query) -> None:
        def ours() -> None:
            found = product.take(lambda: ask(scope, query))
            for name, ms in found.timings_ms.items():
                laps.setdefault(name, Times()).seconds.append(ms / 1000)
            contents.extend(hit.content for hit in found.hits)

        def theirs() -> None:
            found = whole.take(lambda: bare.search(query))
            for name, seconds in found.steps.items():
                bare_laps.setdefault(name, Times()).seconds.append(seconds)
            known.update(rows.texts[row] for row in found.rows)

        contents: list[str] = []
        known: set[str] = set()
        alternate(number, ours, theirs)
        agreed.append(sum(content in known for content in contents) / max(1, len(contents)))

    for query in queries[:_WARM_UP]:
        ask(scope, query)
        bare.search(query)
    with settled():
        for number, query in enumerate(queries):
            one(number, query)
    return {
        "p50_ms": round(product.p50, 3),
        "p95_ms": round(product.p95, 3),
        "bare_p50_ms": round(whole.p50, 3),
        "bare_p95_ms": round(whole.p95, 3),
        "ratio_p50": ratio(product.p50, whole.p50),
        "ratio_p95": ratio(product.p95, whole.p95),
        **{f"bare_{name}_p50_ms": round(times.p50, 3) for name, times in bare_laps.items()},
        "steps_p50_ms": {name: round(times.p50, 3) for name, times in laps.items()},
        "hits_in_bare_top": round(sum(agreed) / len(agreed), 3),
    }


def build_crowd(
    memory: Memory, corpus: Corpus, alone: Sequence[Alone], others: int, patience: float, advance: Advance
) -> dict[str, Any]:
    """The same users among others, whose rows come before and after theirs. Stops when patience ends."""
    batches = [BATCH] * (others // BATCH) + ([others % BATCH] if others % BATCH else [])
    recording = Times()
    half = len(batches) // 2
    done = 0
    for number, size in enumerate(batches):
        if number == half:
            for one in alone:
                fill(memory.scope(_crowd_user(one.size)), one.rows)
        if recording.total > patience and number >= half:
            break
        rows = corpus.rows(size, stream=10_000_000 + number)
        scope = memory.scope(f"other-{number % OTHER_USERS}")
        messages = rows.messages(prefix=f"{number}-")
        recording.take(lambda scope=scope, messages=messages: scope.record_many(messages))
        done += size
        advance(size)
    if not batches:
        for one in alone:
            fill(memory.scope(_crowd_user(one.size)), one.rows)
    return {
        "rows": done,
        "wanted": others,
        "complete": done == others,
        "users": min(OTHER_USERS, len(batches)),
        "recording_s": round(recording.total, 1),
        "rows_per_s": round(done / recording.total) if done else 0,
    }


def _crowd_user(size: int) -> str:
    return f"{USER}-{size}"


def measure_crowd(memory: Memory, alone: Sequence[Alone]) -> list[dict[str, Any]]:
    """Each user's recall in the crowd and alone, query by query."""
    figures: list[dict[str, Any]] = []
    for one in alone:
        crowded, lonely = memory.scope(_crowd_user(one.size)), one.memory.scope(USER)
        times = Times(), Times()
        first = Times()
        first.take(lambda scope=crowded, query=one.queries[0]: ask(scope, query))
        for query in one.queries[:_WARM_UP]:
            ask(crowded, query)
            ask(lonely, query)
        with settled():
            for number, query in enumerate(one.queries):
                alternate(
                    number,
                    lambda query=query, scope=crowded, t=times[0]: t.take(lambda: ask(scope, query)),
                    lambda query=query, scope=lonely, t=times[1]: t.take(lambda: ask(scope, query)),
                )
        figures.append(
            {
                "rows": one.size,
                "p50_ms": round(times[0].p50, 3),
                "p95_ms": round(times[0].p95, 3),
                "alone_p50_ms": round(times[1].p50, 3),
                "alone_p95_ms": round(times[1].p95, 3),
                "ratio_p50": ratio(times[0].p50, times[1].p50),
                "ratio_p95": ratio(times[0].p95, times[1].p95),
                "first_ms": round(first.total * 1000, 1),
            }
        )
    return figures


def measure_chat(alone: Alone, corpus: Corpus) -> dict[str, Any]:
    """Recall right after a turn was recorded, here or by a second process, and when nothing was.

    Each question is asked in each of the three ways, at different moments, so no way is favoured by
    what the others left in the caches.
    """
    scope, queries = alone.memory.scope(USER), alone.queries
    said = corpus.rows(len(queries), stream=20_000_000).messages(prefix="chat-")
    quiet, here, elsewhere = Times(), Times(), Times()
    recorded = Times()

    def after(step: Callable[[], object] | None, times: Times, query: Query) -> None:
        if step:
            step()
        times.take(lambda: ask(scope, query))

    with SecondProcess(alone.address, USER) as second:
        scope.record_many(said[:1])
        second.record()
        for query in queries[:_WARM_UP]:
            ask(scope, query)
        with settled():
            for number, message in enumerate(said):
                turn = [queries[(number + shift * len(queries) // 3) % len(queries)] for shift in range(3)]
                after(lambda m=message: recorded.take(lambda: scope.record_many([m])), here, turn[0])
                after(None, quiet, turn[1])
                after(second.record, elsewhere, turn[2])
                ask(scope, turn[1])
    return {
        "rows": alone.size,
        "undisturbed_p50_ms": round(quiet.p50, 3),
        "same_process_p50_ms": round(here.p50, 3),
        "second_process_p50_ms": round(elsewhere.p50, 3),
        "same_process_p95_ms": round(here.p95, 3),
        "second_process_p95_ms": round(elsewhere.p95, 3),
        "same_process_ratio": ratio(here.p50, quiet.p50),
        "second_process_ratio": ratio(elsewhere.p50, quiet.p50),
        "record_p50_ms": round(recorded.p50, 3),
    }
