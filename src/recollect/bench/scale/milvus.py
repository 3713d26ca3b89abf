"""Whether recall finds the same with Milvus beside the database as without it, and how long either takes."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from recollect import Memory
from recollect.bench.corpus import Corpus, Query
from recollect.bench.measure import Times
from recollect.bench.subject import fill, open_memory
from recollect.errors import RecollectError

TOP = 10
ONLY_MEANING = {"words": False}
"""Words are the database's either way, and would hide what Milvus misses."""


def milvus_agreement(
    address: str,
    where: str,
    *,
    token: str = "",
    users: int = 20,
    documents: int = 2000,
    questions: int = 100,
    wait: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Fill an empty database at `address` and a Milvus at `where`, and ask both about every user in turn.
    `agreement` is the part of the questions for which the first ten are the same."""
    corpus, times = Corpus(), (Times(), Times())
    asked: list[tuple[str, Query]] = []
    found: list[tuple[set[str], set[str]]] = []
    beside: dict[str, Any] = {
        "milvus": where,
        "milvus_token": token,
        "milvus_over": 0,
        "milvus_timeout": 30.0,
    }
    with open_memory(address, milvus="") as plain, open_memory(address, **beside) as memory:
        for number in range(users):
            user, rows = f"user-{number}", corpus.rows(documents, stream=number)
            fill(plain.scope(user), rows)
            asked += [(user, query) for query in corpus.queries(rows, -(-questions // users))]
        filling = Times()
        filling.take(lambda: memory.rebuild_projection("milvus"))
        if memory.index is not None:
            wait(memory.index.settles.total_seconds())
        sides = ((plain, times[0]), (memory, times[1]))
        for number, (user, query) in enumerate(asked):
            first, second = sides if number % 2 else sides[::-1]  # a noisy moment favours neither
            one, other = (_first(opened, took, user, query) for opened, took in (first, second))
            found.append((one, other))
    return {
        "users": users,
        "documents": users * documents,
        "questions": len(asked),
        "agreement": agreement(found),
        "database_p50_ms": round(times[0].p50, 2),
        "database_p95_ms": round(times[0].p95, 2),
        "milvus_p50_ms": round(times[1].p50, 2),
        "milvus_p95_ms": round(times[1].p95, 2),
        "documents_per_s": round(users * documents / filling.total),
    }


def agreement(found: Sequence[tuple[set[str], set[str]]]) -> float:
    """For which part of the questions both found the same, if anything."""
    return round(sum(bool(one) and one == other for one, other in found) / len(found), 4) if found else 0.0


def _first(memory: Memory, took: Times, user: str, query: Query) -> set[str]:
    """What is found by meaning; a problem would make the figures worthless, so it is raised."""
    given: dict[str, Any] = {"vector": query.vector, "top_k": TOP, "techniques": ONLY_MEANING, "count": False}
    found = took.take(lambda: memory.scope(user).recall(query.text, **given))
    if found.problems:
        raise RecollectError("; ".join(found.problems))
    return {hit.id for hit in found.hits}
