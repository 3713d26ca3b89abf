"""Record: in batches against bare inserts, one by one and from threads against bare commits."""

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from recollect import Message, ScopedMemory
from recollect.bench.corpus import Corpus, Rows
from recollect.bench.measure import Times, alternate, ratio, settled
from recollect.bench.place import Place
from recollect.bench.subject import BATCH, USER, Advance, fill, open_memory

THREADS = 8
_BLOCK = 20


def build_source(place: Place, rows: Rows) -> str:
    """A database of the product's from which bare copies are made."""
    source = place.database("record-source")
    with open_memory(source) as memory:
        fill(memory.scope(USER), rows)
    return source


def measure_batches(place: Place, source: str, rows: Rows, advance: Advance) -> dict[str, Any]:
    """Batches into a new database, in turn with bare inserts of the very rows that come of them."""
    count, address, bare_address = len(rows), place.database("record"), place.database("record-bare")
    copy = place.copy(bare_address, source)
    ours, bare = Times(), Times()
    with open_memory(address) as memory:
        scope = memory.scope(USER)
        scope.record("user", rows.texts[0], conversation="first", vector=rows.vectors[0])
        with settled():
            for number, start in enumerate(range(0, count, BATCH)):
                messages = rows.messages(start, start + BATCH)
                alternate(
                    number,
                    lambda m=messages: ours.take(lambda: scope.record_many(m)),
                    lambda s=start: bare.take(lambda: copy.insert(s, s + BATCH)),
                )
                advance(len(messages))
        size = place.megabytes(address)
    copy.close()
    return {
        "rows": count,
        "batch": BATCH,
        "rows_per_s": round(count / ours.total),
        "bare_rows_per_s": round(copy.count / bare.total),
        "ratio": ratio(bare.total, ours.total),
        "file_mb": size,
        "bare_file_mb": place.megabytes(bare_address),
    }


def measure_commits(
    place: Place, source: str, corpus: Corpus, count: int, advance: Advance
) -> dict[str, Any]:
    """Turns recorded one at a time, by one thread and by several, in turn with bare commits.

    The bare commits are of one small row, and, to tell the engine's share from ours, of a turn's rows.
    """
    said = corpus.rows(count * (1 + THREADS), stream=3).messages(prefix="one-")
    single, threaded = said[:count], said[count:]
    bare = place.commits(place.database("commits"))
    copy = place.copy(place.database("commits-same"), source)
    one, many, plain, same = Times(), Times(), Times(), Times()
    with open_memory(place.database("single")) as memory, ThreadPoolExecutor(THREADS) as pool:
        scope = memory.scope(USER)

        def singly(messages: list[Message]) -> None:
            for message in messages:
                one.take(lambda m=message: _record(scope, m))

        def barely(messages: list[Message]) -> None:
            for message in messages:
                plain.take(lambda m=message: bare.commit(m.content))

        def copied(start: int) -> None:
            for number in range(start, min(start + _BLOCK, copy.count)):
                same.take(lambda n=number: copy.insert(n, n + 1))

        def together(messages: list[Message]) -> None:
            shares = [messages[i::THREADS] for i in range(THREADS)]
            many.take(lambda: list(pool.map(share_of, shares)))

        def share_of(messages: list[Message]) -> None:
            for message in messages:
                _record(scope, message)

        singly(single[:_BLOCK])
        barely(single[:_BLOCK])
        together(threaded[: THREADS * 2])
        one, many, plain = Times(), Times(), Times()
        with settled():
            for number, start in enumerate(range(0, count, _BLOCK)):
                block = single[start : start + _BLOCK]
                crowd = threaded[start * THREADS : (start + _BLOCK) * THREADS]
                alternate(
                    number,
                    lambda b=block: singly(b),
                    lambda b=block: barely(b),
                    lambda s=start: copied(s),
                    lambda c=crowd: together(c),
                )
                advance(len(block))
    bare.close()
    copy.close()
    return _commit_figures(one, many, plain, same, count)


def _commit_figures(one: Times, many: Times, plain: Times, same: Times, count: int) -> dict[str, Any]:
    rate, threads, bare = count / one.total, count * THREADS / many.total, count / plain.total
    bare_same = len(same.seconds) / same.total
    return {
        "turns": count,
        "per_s": round(rate, 1),
        "p50_ms": round(one.p50, 3),
        "p95_ms": round(one.p95, 3),
        "bare_per_s": round(bare, 1),
        "bare_p50_ms": round(plain.p50, 3),
        "bare_same_rows_per_s": round(bare_same, 1),
        "bare_same_rows_p50_ms": round(same.p50, 3),
        "ratio": ratio(rate, bare),
        "same_rows_ratio": ratio(rate, bare_same),
        "threads": THREADS,
        "threads_turns": count * THREADS,
        "threads_per_s": round(threads, 1),
        "threads_ratio": ratio(threads, bare),
        "threads_same_rows_ratio": ratio(threads, bare_same),
    }


def _record(scope: ScopedMemory, message: Message) -> None:
    scope.record(
        message.role,
        message.content,
        conversation=message.conversation,
        at=message.at,
        vector=message.vector,
    )


def quiet_commit_ms(place: Place, times: int = 50) -> float:
    """What one flush to this disk costs, so that the rates can be judged."""
    bare = place.commits(place.database("flush"))
    begun = perf_counter()
    for number in range(times):
        bare.commit(str(number))
    taken = perf_counter() - begun
    bare.close()
    return round(taken / times * 1000, 3)
