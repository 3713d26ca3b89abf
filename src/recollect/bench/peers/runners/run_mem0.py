"""mem0: one memory a turn (infer=False), Qdrant in a folder, our vectors instead of its embedder.

Nothing calls a language model; the one it insists on is never reached.
"""

from pathlib import Path
from typing import Any

import harness
from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory

USER = "user"
Given: dict[str, Any] = {}


class Lookup(EmbeddingBase):
    """An embedder that knows the vectors of the memory that is open."""

    def embed(self, text: str, memory_action: Any = None) -> list[float]:
        return Given["vector_of"](text).tolist()

    def embed_batch(self, texts: list[str], memory_action: Any = "add") -> list[list[float]]:
        return [self.embed(text) for text in texts]


EmbedderFactory.provider_to_class["openai"] = f"{__name__}.Lookup"


def open_memory(folder: Path, person: harness.Person, filled: bool) -> harness.Memory:
    Given["vector_of"] = person.vector_of
    store = {
        "collection_name": "turns",
        "embedding_model_dims": int(person.vectors.shape[1]),
        "path": str(folder / "qdrant"),
        "on_disk": True,
    }
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": str(folder / "history.db"),
        }
    )

    def fill() -> None:
        for place, one in enumerate(person.documents):
            memory.add(
                [{"role": one.role, "content": one.text}],
                user_id=USER,
                metadata={"place": place, "session": one.session, "index": one.index, "at": one.at},
                infer=False,
            )

    def search(text: str, vector: Any, top_k: int) -> list[int]:
        found = memory.search(text, filters={"user_id": USER}, top_k=top_k, threshold=0.0)
        return [one["metadata"]["place"] for one in found["results"]]

    def close() -> None:
        memory.vector_store.client.close()
        memory.close()

    return harness.Memory(fill, search, close)
