"""What recall finds through each filter, against a NumPy scan of everything that passes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect import Fact, Memory, Turn
from recollect.bench.corpus import TURNS_A_CONVERSATION, Corpus, Query, Rows
from recollect.bench.measure import Times, settled
from recollect.bench.place import Place
from recollect.bench.subject import BATCH, USER, Advance, NoModel, open_memory
from recollect.model.scope import GLOBAL

TOP = 10
BY_VECTOR: dict[str, bool] = dict.fromkeys(("conversation", "neighbours", "boosts", "diversity"), False)
"""Leaves nothing but the vectors to rank by."""
WORK = "work"
AGENTS = ("one", "two", "three", "four")
FACTS_OF = 10
"""One fact for so many turns."""

_STREAM = 40_000_000

Searched = Turn | Fact


class Known(NoModel):
    """An embedder that knows the vectors of the benchmark's own texts."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._places = {text: place for place, text in enumerate(rows.texts)}

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._rows.vectors[[self._places[text] for text in texts]]


@dataclass(frozen=True, slots=True)
class Case:
    """A filter as recall takes it, and as plain Python tells what passes it."""

    passes: Callable[[Searched], bool]
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    channel: str = GLOBAL

    def __call__(self, record: Searched) -> bool:
        return record.channel in (self.channel, GLOBAL) and self.passes(record)


def measure_filters(
    place: Place, corpus: Corpus, size: int, queries: int, advance: Advance
) -> dict[str, Any]:
    """Each filter with an exact search, and with the approximate index that large users get."""
    address, rows = place.database("filters"), corpus.rows(size, _STREAM)
    said = size - size // FACTS_OF
    with open_memory(address, Known(rows)) as memory:
        _build(memory, rows, said, advance)
        memory.flush()
    place.settle(address)
    asked = corpus.queries(rows, queries)
    ways: dict[str, Any] = {}
    for way, over in (("exact", size * 10), ("indexed", 1)):
        with open_memory(address, index_over=over) as memory:
            memory.tend()  # makes the index, or drops it
            ways[way] = _measured(memory, rows, asked)
    return {"rows": size, "facts": size - said, "queries": queries, "ways": ways}


def _build(memory: Memory, rows: Rows, said: int, advance: Advance) -> None:
    messages = rows.messages(0, said)
    for number, start in enumerate(range(0, said, TURNS_A_CONVERSATION)):
        channel, agent = (GLOBAL, WORK)[number % 2], AGENTS[number % len(AGENTS)]
        some = messages[start : start + TURNS_A_CONVERSATION]
        memory.scope(USER, channel, agent).record_many(some)
        advance(len(some))
    first = messages[0].at
    assert first is not None
    facts = [
        {
            "content": rows.texts[i],
            "confidence": (i - said) / (len(rows) - said),
            "valid_from": first + timedelta(seconds=30 * (i - said) * FACTS_OF),
        }
        for i in range(said, len(rows))
    ]
    for start in range(0, len(facts), BATCH):
        memory.scope(USER, agent=AGENTS[0]).remember_many(facts[start : start + BATCH])
        advance(len(facts[start : start + BATCH]))


def _cases(records: Sequence[Searched]) -> dict[str, Case]:
    times = sorted(_start(record) for record in records)
    early, late = times[len(times) // 4], times[len(times) // 2]
    return {
        "nothing": Case(lambda r: True),
        "kinds": Case(lambda r: isinstance(r, Fact), {"kinds": ["fact"]}),
        "channel": Case(lambda r: True, channel=WORK),
        "agent": Case(lambda r: r.agent == AGENTS[2], {"agent": AGENTS[2]}),
        "conversation": Case(lambda r: _label(r, "conversation") == "c0", {"conversation": "c0"}),
        "exclude_conversation": Case(
            lambda r: _label(r, "conversation") != "c0", {"exclude_conversation": "c0"}
        ),
        "roles": Case(lambda r: _label(r, "role") == "assistant", {"roles": ["assistant"]}),
        "since, until": Case(lambda r: early <= _start(r) < late, {"since": early, "until": late}),
        "as_of": Case(lambda r: _start(r) <= early, {"as_of": early}),
        "min_confidence": Case(
            lambda r: isinstance(r, Fact) and r.confidence >= 0.9, {"min_confidence": 0.9, "kinds": ["fact"]}
        ),
    }


def _start(record: Searched) -> datetime:
    return record.at if isinstance(record, Turn) else record.valid_from


def _label(record: Searched, name: str) -> str | None:
    return getattr(record, name) if isinstance(record, Turn) else None


def _measured(memory: Memory, rows: Rows, queries: Sequence[Query]) -> dict[str, Any]:
    store = memory.store.user(USER)
    records: list[Searched] = [*store.find(Turn), *store.find(Fact)]
    places = {text: place for place, text in enumerate(rows.texts)}
    figures: dict[str, Any] = {}
    for name, case in _cases(records).items():
        passing = sorted({places[record.content] for record in records if case(record)})
        scope, times = memory.scope(USER, case.channel), Times()
        shares: list[float] = []
        with settled():
            for query in queries:
                found = times.take(
                    lambda q=query, s=scope, c=case: s.recall(
                        "", vector=q.vector, top_k=TOP, threshold=-1, techniques=BY_VECTOR, **c.asked
                    )
                )
                nearest: list[int] = np.argsort(-(rows.vectors[passing] @ query.vector))[:TOP].tolist()
                best = {rows.texts[passing[place]] for place in nearest}
                shares.append(len(best & {hit.content for hit in found.hits}) / max(1, len(best)))
        figures[name] = {
            "passing": len(passing),
            "recall_at_10": round(sum(shares) / len(shares), 4),
            "p50_ms": round(times.p50, 3),
        }
    return figures
