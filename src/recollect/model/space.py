"""Embedding spaces: vectors compare only inside one."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

N = TypeVar("N", float, NDArray[np.float32])

LARGEST = 65504
"""The largest number of 16 bits, which is what vectors are stored with."""


@dataclass(frozen=True, slots=True)
class Space:
    """A model and its dimensions.

    `unrelated` is the cosine two unrelated texts typically have in this space. Similarities are
    rescaled so that it becomes 0 and identity stays 1, which lets one threshold mean the same for
    every model.
    """

    model: str
    dimensions: int
    unrelated: float = 0.0

    @property
    def embedder(self) -> str:
        """What RECOLLECT_EMBEDDER is set to for it, if it is no address and no directory."""
        return "hashing" if self.model.startswith("hashing-") else self.model

    @property
    def code(self) -> str:
        """What the names of things made for it have in them: a model's own may be of any letters."""
        named = f"{self.model}\0{self.dimensions}".encode("utf-8", "surrogatepass")
        return blake2b(named, digest_size=6).hexdigest()

    def similarity(self, cosine: N) -> N:
        """A cosine of this space, or many, on the common scale: 0 unrelated, 1 the same."""
        return (cosine - self.unrelated) / (1.0 - self.unrelated)

    def compares_with(self, other: "Space") -> bool:
        """Whether vectors of both can be compared."""
        return (self.model, self.dimensions) == (other.model, other.dimensions)
