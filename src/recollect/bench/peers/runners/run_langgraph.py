"""LangGraph's SqliteStore: an item a turn in one namespace, with an index over its text."""

import sqlite3
from pathlib import Path
from typing import Any

import harness

try:
    sqlite3.Connection.enable_load_extension  # noqa: B018
    driver: Any = sqlite3
except AttributeError:  # a Python built without it
    import pysqlite3 as driver

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

BATCH = 500
NAMESPACE = ("user", "turns")


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    def embed(texts: list[str]) -> list[list[float]]:
        return [person.vector_of(text).tolist() for text in texts]

    connection = driver.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
    index = {"dims": int(person.vectors.shape[1]), "embed": embed}
    store = SqliteStore(connection, index=index)
    store.setup()

    def fill() -> None:
        puts = [
            PutOp(
                NAMESPACE,
                str(place),
                {"text": d.text, "session": d.session, "index": d.index, "role": d.role, "at": d.at},
                index=["text"],
            )
            for place, d in enumerate(person.documents)
        ]
        for start in range(0, len(puts), BATCH):
            store.batch(puts[start : start + BATCH])

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        return [int(item.key) for item in store.search(NAMESPACE, query=text, limit=top_k)]

    return harness.Memory(fill, search, connection.close)
