"""The next step: ask. What is found goes to a file line by line; what is there is not asked for again."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from recollect import Memory, ScopedMemory
from recollect.bench.latency import Stage
from recollect.bench.quality import lines
from recollect.bench.quality.datasets import Dataset, Place
from recollect.bench.quality.ingest import SetClock, user_of
from recollect.errors import RecollectError
from recollect.model.records import Turn


@dataclass(frozen=True, slots=True)
class Answer:
    """The turns that recall found for a question, best first, the block it made of them, and how long that
    took without embedding the question."""

    user: str
    question: str
    turns: tuple[Place, ...]
    context: str
    ms: float


def retrieve(
    memory: Memory,
    clock: SetClock,
    dataset: Dataset,
    key: str,
    path: Path,
    stage: Stage,
    at: datetime | None,
    **asking: Any,
) -> list[Answer]:
    """Ask every question at its own date, or all of them at one that is given."""
    answers = {question: _answer(**line) for question, line in lines.read(path).items()}
    todo = [(p, q) for p, q in dataset.questions if (p.user, q.id) not in answers]
    advance = stage("retrieve", len(todo))
    known: dict[str, Place] = {}
    with lines.appending(path) as write:
        for person, question in todo:
            clock.at = at or question.at
            scope = memory.scope(user_of(key, person))
            turns, context, ms = ask(scope, question.text, known, **asking)
            answer = Answer(person.user, question.id, turns, context, ms)
            answers[person.user, question.id] = answer
            write(asdict(answer))
            advance(1)
    return [answers[person.user, question.id] for person, question in dataset.questions]


def ask(
    scope: ScopedMemory, text: str, known: dict[str, Place], **asking: Any
) -> tuple[tuple[Place, ...], str, float]:
    """The turns behind the hits, each once, their block, and the milliseconds. A problem would make the
    figures worthless, so it is raised. `known` keeps where turns are."""
    begun = perf_counter()
    found = scope.recall(text, **asking)
    ms = (perf_counter() - begun) * 1000 - found.timings_ms.get("embed", 0.0)
    if found.problems:
        raise RecollectError("; ".join(found.problems))
    places: dict[Place, None] = {}
    for hit in found.hits:
        for id in hit.sources:
            if id not in known and isinstance(turn := scope.get(id), Turn):
                known[id] = (turn.conversation, turn.index)
            places[known[id]] = None
    return tuple(places), found.context, ms


def _answer(turns: list[list[Any]], **fields: Any) -> Answer:
    return Answer(turns=tuple((conversation, index) for conversation, index in turns), **fields)
