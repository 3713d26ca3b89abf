"""What reads a question and its candidates side by side."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges how well texts answer a query. Safe in any thread; raises `ModelError` and nothing else."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One relevance a text, in their order; higher is better. Scales differ between rerankers: compare
        within one answer only."""
        ...

    def close(self) -> None:
        """Let go of connections; the next call opens them again."""
        ...
