"""Chroma: a persistent collection with cosine distance, given our vectors."""

from pathlib import Path
from typing import Any

import chromadb
import harness
from chromadb.config import Settings

BATCH = 5000


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    turns = client.get_or_create_collection(
        "turns", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )

    def fill() -> None:
        for start in range(0, len(person.documents), BATCH):
            some = person.documents[start : start + BATCH]
            turns.add(
                ids=[str(start + place) for place in range(len(some))],
                embeddings=person.vectors[start : start + BATCH],
                documents=[one.text for one in some],
                metadatas=[
                    {"session": d.session, "index": d.index, "role": d.role, "at": d.at} for d in some
                ],
            )

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        found = turns.query(query_embeddings=[vector], n_results=top_k, include=["documents", "metadatas"])
        return [int(id) for id in found["ids"][0]]

    return harness.Memory(fill, search, lambda: client.close() if hasattr(client, "close") else None)
