"""What turns text into vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.model.space import Space

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts in, unit vectors out: one float32 row a text, in the same order.

    Texts may have any length: one longer than the model's window is embedded window by window and
    averaged, never cut. Both methods raise `EmbedderError` and nothing else.
    """

    @property
    def space(self) -> Space:
        """The space the vectors live in; two embedders with the same space are interchangeable."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for texts that are stored."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The vector, of shape (dimensions,), for a text that searches."""
        ...
