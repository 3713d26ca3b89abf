"""Whether the graph index beside the store of record gives the neighbourhoods that the store gives, and how
long each of the two takes."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import median
from time import perf_counter
from typing import Any

from recollect import Memory
from recollect.errors import SettingsError
from recollect.model.changes import Chunk, Put
from recollect.model.records import Entity, Relation
from recollect.model.searched import searchable_text
from recollect.recall.neighbours import neighbours
from recollect.workspace import Workspace

HOPS = 2
LIMIT = 50
AT_ONCE = 500
TYPES = ("WORKS_FOR", "KNOWS", "LOCATED_IN", "PART_OF", "RELATED_TO")


def graph_agreement(
    memory: Memory, user: str, *, entities: int = 1000, relations: int = 5000, seed: int = 7
) -> dict[str, Any]:
    """Store a graph of this size for a user, have the index drawn anew, and ask both for the neighbourhood of
    every entity. Few entities have many relations, as with people, and a third of them have ended."""
    if memory.graph is None:
        raise SettingsError("There is no graph to compare with: set RECOLLECT_NEO4J.")
    ids = _fill(memory, user, entities, relations, seed)
    begun = perf_counter()
    memory.rebuild_projection(memory.graph.name)
    drawn = perf_counter() - begun
    work = memory.scope(user)._work  # pyright: ignore[reportPrivateUsage]
    by_graph, graph_ms = _asked(work, ids)
    by_store, store_ms = _asked(replace(work, graph=None), ids)
    same = sum(one == other for one, other in zip(by_graph, by_store, strict=True))
    return {
        "entities": len(ids),
        "relations": relations,
        "hops": HOPS,
        "same": same,
        "agreement": same / len(ids),
        "drawn_seconds": drawn,
        "graph_ms": graph_ms,
        "store_ms": store_ms,
    }


def _fill(memory: Memory, user: str, entities: int, relations: int, seed: int) -> list[str]:
    chosen, now = random.Random(seed), memory.clock.now()
    known = [Entity(id=f"entity-{n:06}", name=f"Name{n}", first_seen=now) for n in range(entities)]

    def related(n: int) -> Relation:
        source, target = (int(entities * chosen.random() ** 3) for _ in range(2))
        begun = now - timedelta(days=chosen.randrange(1, 1000))
        return Relation(
            id=f"relation-{n:08}",
            source=known[source].id,
            type=chosen.choice(TYPES),
            target=known[target].id,
            valid_from=begun,
            valid_to=now if chosen.random() < 1 / 3 else None,
            recorded_at=begun,
        )

    puts = [Put(one, (Chunk(0, len(searchable_text(one))),)) for one in known]
    puts += [Put(related(n)) for n in range(relations)]
    store = memory.store.user(user)
    for start in range(0, len(puts), AT_ONCE):
        store.apply(puts[start : start + AT_ONCE])
    return [one.id for one in known]


def _asked(work: Workspace, ids: Sequence[str]) -> tuple[list[Any], dict[str, float]]:
    """What is around each of them, and the milliseconds that took: the median, and what one in twenty
    exceeds."""
    found: list[Any] = []
    taken: list[float] = []
    for id in ids:
        begun = perf_counter()
        found.append(neighbours(work, id, HOPS, None, LIMIT))
        taken.append((perf_counter() - begun) * 1000)
    return found, {"p50": median(taken), "p95": sorted(taken)[int(0.95 * (len(taken) - 1))]}
