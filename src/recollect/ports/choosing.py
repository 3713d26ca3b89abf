"""A port that can be had with another model."""

from typing import Protocol, TypeVar

P_co = TypeVar("P_co", covariant=True)


class Choosing(Protocol[P_co]):
    """A reranker or language model whose service has several models."""

    def choosing(self, model: str) -> P_co:
        """The same, over the same connections, that asks for this model."""
        ...
