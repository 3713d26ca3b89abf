"""MemPalace by its published benchmark: a drawer holds the user's side of a session, and the collection
of drawers is asked by vector."""

from pathlib import Path
from typing import Any

import harness
import palace


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    drawers = palace.open_palace(folder, person)

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        count = min(top_k, len(person.documents))
        found = drawers.query(query_texts=[text], n_results=count, include=["distances", "metadatas"])
        return [int(id) for id in found["ids"][0]]

    return harness.Memory(lambda: palace.add_drawers(drawers, person), search)
