"""Step two: ask. The answers go to a file line by line; those that are there already are not asked again."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from recollect import Memory, ScopedMemory
from recollect.bench.latency import Stage
from recollect.bench.quality.datasets import Dataset, Place
from recollect.bench.quality.ingest import SetClock, user_of
from recollect.errors import RecollectError
from recollect.model.records import Turn


@dataclass(frozen=True, slots=True)
class Answer:
    """The turns that recall found for a question, best first, and how long that took without embedding
    the question."""

    user: str
    question: str
    turns: tuple[Place, ...]
    ms: float


def retrieve(
    memory: Memory, clock: SetClock, dataset: Dataset, key: str, top_k: int, path: Path, stage: Stage
) -> list[Answer]:
    answers = {(answer.user, answer.question): answer for answer in _read(path)}
    todo = [(p, q) for p, q in dataset.questions if (p.user, q.id) not in answers]
    advance = stage("retrieve", len(todo))
    known: dict[str, Place] = {}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for person, question in todo:
            clock.at = question.at
            scope = memory.scope(user_of(key, person))
            turns, ms = ask(scope, question.text, top_k, known)
            answer = Answer(person.user, question.id, turns, ms)
            answers[person.user, question.id] = answer
            file.write(json.dumps(asdict(answer)) + "\n")
            file.flush()
            advance(1)
    return [answers[person.user, question.id] for person, question in dataset.questions]


def ask(
    scope: ScopedMemory, text: str, top_k: int, known: dict[str, Place]
) -> tuple[tuple[Place, ...], float]:
    """The turns behind the hits, each once, and the milliseconds. A problem would make the figures
    worthless, so it is raised. `known` keeps where turns are."""
    begun = perf_counter()
    found = scope.recall(text, top_k=top_k)
    ms = (perf_counter() - begun) * 1000 - found.timings_ms.get("embed", 0.0)
    if found.problems:
        raise RecollectError("; ".join(found.problems))
    places: dict[Place, None] = {}
    for hit in found.hits:
        for id in hit.sources:
            if id not in known and isinstance(turn := scope.get(id), Turn):
                known[id] = (turn.conversation, turn.index)
            places[known[id]] = None
    return tuple(places), ms


def _read(path: Path) -> Iterator[Answer]:
    """The answers of an earlier run. A line that a killed process left unfinished is dropped."""
    if not path.exists():
        return
    lines = path.read_text("utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        path.write_text("".join(whole), "utf-8")
    for line in whole:
        fields = json.loads(line)
        turns = tuple((conversation, index) for conversation, index in fields.pop("turns"))
        yield Answer(turns=turns, **fields)
