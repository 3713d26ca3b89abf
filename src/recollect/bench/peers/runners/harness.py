"""What every runner shares: the files that go in and out, the clock around a search, and silence.

The data folder holds documents.jsonl, people.jsonl and, for systems that take vectors, documents.npy and
questions.npy. The work folder gets stores/, filled.jsonl and answers.jsonl; what is in the last two is not
done again.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

OFF = {
    "ANONYMIZED_TELEMETRY": "False",
    "CHROMA_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "ORT_DISABLE_TELEMETRY": "1",
    "OTEL_SDK_DISABLED": "true",
    "POSTHOG_DISABLED": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
PROGRESS = "@progress "


@dataclass(frozen=True, slots=True)
class Document:
    """A turn, or a whole session: then without an index."""

    session: str
    index: int | None
    role: str
    at: str
    text: str


@dataclass(frozen=True)
class Memory:
    """One person's memory in a system: how it is filled, and how it is asked for positions of documents,
    best first. A question is its text and its vector."""

    fill: Callable[[], None]
    search: Callable[[str, Any, int], list[int]]
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Person:
    """What a memory is made of. `vectors` has a row for each document, or is None; `by_text` has them by
    text, for systems that embed by a function: the documents' first, the questions' once it is filled."""

    user: str
    documents: list[Document]
    vectors: Any
    by_text: dict[str, Any]

    def vector_of(self, text: str) -> Any:
        return self.by_text[text.strip()]


Open = Callable[[Path, Person, bool], Memory]
"""A memory in the folder; True when it was filled before."""


def quiet(home: Path) -> None:
    """No telemetry, and what a system keeps in the user's home goes elsewhere. Before it is imported."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ.update(OFF | {"HOME": str(home), "USERPROFILE": str(home), "MEM0_DIR": str(home / "mem0")})


def shut_off_the_network() -> None:
    """Refuse every connection but those to a local socket."""

    def refuse(event: str, given: Any) -> None:
        if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(given[1], tuple)):
            raise ConnectionRefusedError("A runner uses no network.")

    sys.addaudithook(refuse)


def run(open_memory: Open, data: Path, work: Path, top_k: int) -> None:
    documents = [Document(**fields) for fields in lines(data / "documents.jsonl")]
    vectors, asked = _load(data / "documents.npy"), _load(data / "questions.npy")
    filled = {line["user"] for line in lines(work / "filled.jsonl")}
    answered = {(line["user"], line["question"]) for line in lines(work / "answers.jsonl")}
    for number, person in enumerate(lines(data / "people.jsonl")):
        user, questions = person["user"], person["questions"]
        todo = [one for one in questions if (user, one["id"]) not in answered]
        if todo:
            mine = _person(
                user, [documents[row] for row in person["documents"]], person["documents"], vectors
            )
            folder = work / "stores" / f"{number:05}"
            _fill_and_ask(open_memory, mine, todo, asked, folder, user in filled, work, top_k)
        print(f"{PROGRESS}{len(questions)}", flush=True)


def _fill_and_ask(
    open_memory: Open,
    person: Person,
    questions: list[dict[str, Any]],
    asked: Any,
    folder: Path,
    filled: bool,
    work: Path,
    top_k: int,
) -> None:
    if not filled:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    memory = open_memory(folder, person, filled)
    if not filled:
        begun = perf_counter()
        memory.fill()
        seconds = perf_counter() - begun
        done = {"user": person.user, "documents": len(person.documents), "seconds": seconds}
        _append(work / "filled.jsonl", done)
    for question in questions:
        vector = None if asked is None else asked[question["row"]]
        person.by_text[question["text"].strip()] = vector
        begun = perf_counter()
        found = memory.search(question["text"], vector, top_k)
        ms = (perf_counter() - begun) * 1000
        turns = [(person.documents[at].session, person.documents[at].index) for at in found]
        answer = {"user": person.user, "question": question["id"], "turns": turns, "ms": ms}
        _append(work / "answers.jsonl", answer)
    memory.close()


def _person(user: str, documents: list[Document], rows: list[int], vectors: Any) -> Person:
    if vectors is None:
        return Person(user, documents, None, {})
    own = vectors[rows]
    by_text = {document.text.strip(): vector for document, vector in zip(documents, own, strict=True)}
    return Person(user, documents, own, by_text)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file; a line that a killed process left unfinished is cut off."""
    if not path.exists():
        return
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        path.write_bytes(whole)
    yield from map(json.loads, whole.splitlines())


def _append(path: Path, fields: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def _load(path: Path) -> Any:
    return np.load(path) if path.exists() else None
