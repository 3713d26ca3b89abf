"""What the tests of the verbs share."""

from collections.abc import Callable, Sequence

from recollect import EmbedderError, Memory, Recollection
from recollect.model.space import Space
from recollect.models.hashing import HashingEmbedder
from recollect.ports.embedder import Vectors

OpenMemory = Callable[..., Memory]


def contents(found: Recollection) -> list[str]:
    return [hit.content for hit in found.hits]


class SwitchedEmbedder:
    """The `Embedder` port over hashing; `down` makes it fail, `seen` lists every passage it was given,
    `failed` counts how often it was asked in vain."""

    def __init__(self, dimensions: int = 384) -> None:
        self._hashing = HashingEmbedder(dimensions)
        self.down = False
        self.failed = 0
        self.seen: list[str] = []

    @property
    def space(self) -> Space:
        return self._hashing.space

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._check()
        self.seen += texts
        return self._hashing.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        self._check()
        return self._hashing.embed_query(text)

    def _check(self) -> None:
        if self.down:
            self.failed += 1
            raise EmbedderError("The model server does not answer.")
