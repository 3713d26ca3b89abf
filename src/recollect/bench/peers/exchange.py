"""The files through which the other systems get the questions and the vectors, and give their answers."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from recollect.bench.latency import Stage
from recollect.bench.peers.pins import Unit
from recollect.bench.peers.runners.harness import Document, lines
from recollect.bench.quality.cache import CachingEmbedder
from recollect.bench.quality.datasets import Dataset, Session
from recollect.bench.quality.retrieve import Answer

READY = "ready"
BATCH = 64
WHOLE = -1
"""In the place of a turn's index: the session as a whole."""


def documents(session: Session, unit: Unit) -> Iterator[Document]:
    """A document for each turn, or one of what the user said in the session."""
    at = session.at.isoformat()
    turns = [(index, turn) for index, turn in enumerate(session.turns) if turn.content.strip()]
    if unit == "turn":
        for index, turn in turns:
            yield Document(session.id, index, turn.role, at, turn.content)
    elif said := [turn.content for _, turn in turns if turn.role == "user"]:
        yield Document(session.id, None, "user", at, "\n".join(said))


def write(dataset: Dataset, unit: Unit, embedder: CachingEmbedder | None, folder: Path, stage: Stage) -> None:
    """The dataset in files, each document once however many people have it; vectors where there is an
    embedder. Nothing is done when all of it is there."""
    if (folder / READY).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[Document, int] = {}
    asked = 0
    with (folder / "people.jsonl").open("w", encoding="utf-8") as file:
        for person in dataset.people:
            mine = [one for session in person.sessions for one in documents(session, unit)]
            questions = [
                {"id": question.id, "text": question.text, "row": asked + place}
                for place, question in enumerate(person.questions)
            ]
            asked += len(questions)
            places = [rows.setdefault(one, len(rows)) for one in mine]
            _line(file, {"user": person.user, "documents": places, "questions": questions})
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        for one in rows:
            _line(file, asdict(one))
    if embedder is not None:
        _vectors([one.text for one in rows], dataset, embedder, folder, stage)
    (folder / READY).touch()


def _vectors(
    texts: list[str], dataset: Dataset, embedder: CachingEmbedder, folder: Path, stage: Stage
) -> None:
    advance = stage("embed", len(texts))
    found = [np.empty((0, embedder.space.dimensions), np.float32)]
    for start in range(0, len(texts), BATCH):
        found.append(embedder.embed_passages(texts[start : start + BATCH]))
        advance(len(found[-1]))
    np.save(folder / "documents.npy", np.concatenate(found))
    np.save(folder / "questions.npy", np.stack([embedder.embed_query(q.text) for _, q in dataset.questions]))


def answers(dataset: Dataset, path: Path) -> list[Answer]:
    """What a system found, in the order of the questions."""
    found = {(line["user"], line["question"]): _answer(line) for line in lines(path)}
    return [found[person.user, question.id] for person, question in dataset.questions]


def _answer(line: dict[str, Any]) -> Answer:
    turns = tuple((session, WHOLE if index is None else index) for session, index in line["turns"])
    return Answer(line["user"], line["question"], turns, "", line["ms"])


def filled(path: Path) -> tuple[int, float]:
    """How many documents a system was filled with, and the seconds."""
    done = list(lines(path))
    return sum(line["documents"] for line in done), sum(line["seconds"] for line in done)


def _line(file: Any, fields: dict[str, Any]) -> None:
    file.write(json.dumps(fields) + "\n")
