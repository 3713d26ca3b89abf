"""The product as it is measured: opened as anybody opens it, with vectors that come with the rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect import Memory, ScopedMemory
from recollect.bench.corpus import DIMENSIONS, Query, Rows
from recollect.errors import EmbedderError
from recollect.model.recollection import Recollection
from recollect.model.space import Space
from recollect.ports.embedder import Embedder

USER = "somebody"
BATCH = 1000

Advance = Callable[[int], None]


class NoModel:
    """An embedder that only names its space: a benchmark that embeds by mistake fails."""

    space = Space("bench", DIMENSIONS)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbedderError("The benchmark brings its own vectors.")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise EmbedderError("The benchmark brings its own vectors.")


def open_memory(address: str, embedder: Embedder | None = None, **settings: Any) -> Memory:
    return Memory.open(address, embedder=embedder or NoModel(), **settings)


def fill(scope: ScopedMemory, rows: Rows, advance: Advance | None = None) -> None:
    """Record the rows, in batches."""
    for start in range(0, len(rows), BATCH):
        messages = rows.messages(start, start + BATCH)
        scope.record_many(messages)
        if advance:
            advance(len(messages))


def ask(scope: ScopedMemory, query: Query) -> Recollection:
    """Recall; a problem would make the figures worthless, so it is raised."""
    found = scope.recall(query.text, vector=query.vector)
    if found.problems:
        raise EmbedderError("; ".join(found.problems))
    return found
