"""MemPalace by the search that its server and command use, over a drawer for each turn. Candidates are
taken by vector and by words, the wider of the two ways it has."""

from pathlib import Path
from typing import Any

import harness
import palace
from mempalace.searcher import search_memories


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    drawers = palace.open_palace(folder, person)

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        found = search_memories(text, str(folder / "palace"), n_results=top_k, candidate_strategy="union")
        if "error" in found:
            raise RuntimeError(found["error"])
        return [int(hit["drawer_id"]) for hit in found["results"]]

    return harness.Memory(lambda: palace.add_drawers(drawers, person), search)
