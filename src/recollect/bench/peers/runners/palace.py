"""A palace of MemPalace whose vectors are ours."""

from pathlib import Path
from typing import Any

import harness
import mempalace.embedding
from mempalace.palace import get_collection

BATCH = 1000
Given: dict[str, Any] = {}


class Lookup:
    """A Chroma embedding function that knows the vectors of the palace that is open."""

    dimension = 0

    @staticmethod
    def name() -> str:
        return "default"

    def __call__(self, input: list[str]) -> list[Any]:
        return [Given["vector_of"](text) for text in input]

    def embed_query(self, input: list[str]) -> list[Any]:
        return self(input)

    def is_legacy(self) -> bool:
        return True

    def default_space(self) -> str:
        return "cosine"

    def supported_spaces(self) -> list[str]:
        return ["cosine"]

    def get_config(self) -> dict[str, Any]:
        return {}


mempalace.embedding.get_embedding_function = lambda device=None, model=None: Lookup()


def open_palace(folder: Path, person: harness.Person) -> Any:
    Given["vector_of"] = person.vector_of
    return get_collection(str(folder / "palace"), create=True)


def add_drawers(drawers: Any, person: harness.Person) -> None:
    for start in range(0, len(person.documents), BATCH):
        some = person.documents[start : start + BATCH]
        drawers.add(
            ids=[str(start + place) for place in range(len(some))],
            documents=[one.text for one in some],
            metadatas=[
                {
                    "wing": "talk",
                    "room": one.session,
                    "source_file": f"{one.session}-{one.index}",
                    "chunk_index": 0,
                    "filed_at": one.at,
                }
                for one in some
            ],
        )
