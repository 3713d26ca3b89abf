"""What the cache in Redis saves a recall, and whether it ever gives what no longer holds."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect import Memory, Recollection, ScopedMemory
from recollect.bench.corpus import Corpus
from recollect.bench.measure import Times, ratio, settled
from recollect.bench.place import Place
from recollect.bench.subject import USER, Advance, fill
from recollect.errors import EmbedderError

STREAM = 8
ASKED = 400
"""How many questions of a day are asked, few of them often, as people do."""
WRITES_EVERY = 20


def redis_cache(
    place: Place,
    corpus: Corpus,
    url: str,
    size: int = 10_000,
    questions: int = 50,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """Times of a recall that is not in the cache of this server and of the same one again, embedded by the
    configured model; then how many of a day's questions were answered from there, and how many of all answers
    were not what a process without a cache gives."""
    shared: dict[str, Any] = {"redis": url, "install_models": False}
    where = place.database("cache")
    with Memory.open(where, **shared) as memory, Memory.open(where, **shared, cache_seconds=0) as without:
        rows = corpus.rows(size, stream=STREAM)
        embedder, scope, bare = memory.embedder, memory.scope(USER), without.scope(USER)
        if embedder is None or embedder.space.dimensions != rows.vectors.shape[1]:
            skipped = f"{memory.settings.embedder} has no vectors of {rows.vectors.shape[1]} dimensions"
            return {"rows": size, "skipped": skipped}
        fill(scope, rows, advance)
        first, *texts = [query.text for query in corpus.queries(rows, questions + 1)]
        for one in (scope, bare):
            _recalled(one, first)
        hit, miss, none = Times(), Times(), Times()
        with settled():
            for text in texts:
                none.take(lambda t=text: _recalled(bare, t))
                missed = miss.take(lambda t=text: _recalled(scope, t))
                found = hit.take(lambda t=text: _recalled(scope, t))
                if _is_cached(missed) or not _is_cached(found):
                    raise EmbedderError("The cache did not do what is measured: is the Redis server there?")
        cached, stale = _day(scope, bare, texts)
    return {
        "rows": size,
        "embedder": embedder.space.model,
        "hit_p50_ms": round(hit.p50, 3),
        "hit_p95_ms": round(hit.p95, 3),
        "miss_p50_ms": round(miss.p50, 3),
        "without_p50_ms": round(none.p50, 3),
        "ratio_p50": ratio(miss.p50, hit.p50),
        "asked": ASKED,
        "writes": ASKED // WRITES_EVERY,
        "hit_rate": round(cached / ASKED, 3),
        "stale": stale,
    }


def _day(scope: ScopedMemory, bare: ScopedMemory, texts: Sequence[str]) -> tuple[int, int]:
    """How many questions were answered from the cache, and how many answers were stale, with something said,
    and something forgotten, in between."""
    dice, cached, stale = random.Random(STREAM), 0, 0
    weights = [1 / rank for rank in range(1, len(texts) + 1)]
    said: list[str] = []
    for number, text in enumerate(dice.choices(texts, weights, k=ASKED)):
        if number % WRITES_EVERY == 0:
            if said and dice.random() < 0.5:
                scope.forget(said.pop())
            else:
                said.append(scope.record("user", text).id)
        found = _recalled(scope, text)
        cached += _is_cached(found)
        stale += replace(found, used=()) != replace(_recalled(bare, text), used=())
    return cached, stale


def _recalled(scope: ScopedMemory, text: str) -> Recollection:
    found = scope.recall(text)
    if found.problems:
        raise EmbedderError("; ".join(found.problems))
    return found


def _is_cached(found: Recollection) -> bool:
    return found.used[-1].name == "cache"
