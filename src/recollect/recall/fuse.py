"""One order out of two: meaning and words, on one scale."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.model.search import Candidate

HALF_TEXT = 16.0
"""The BM25 score that counts as half of a perfect match by words."""


class Fused(NamedTuple):
    """A record that was found, by its best chunk."""

    score: float
    semantic: float
    text: float
    chunk: Candidate

    @property
    def id(self) -> str:
        return self.chunk.owner

    @property
    def signals(self) -> Mapping[str, float]:
        return {"semantic": self.semantic, "text": self.text, "bm25": self.chunk.text}


def fuse(candidates: Iterable[Candidate], semantic_weight: float, has_vector: bool) -> list[Fused]:
    """Candidates as records, best first: a weighted sum of similarity and saturated BM25."""
    weight = semantic_weight if has_vector else 0.0
    best: dict[str, Fused] = {}
    for chunk in candidates:
        semantic = 0.0 if chunk.similarity is None else max(0.0, min(1.0, chunk.similarity))
        text = chunk.text / (chunk.text + HALF_TEXT)
        score = weight * semantic + (1 - weight) * text
        known = best.get(chunk.owner)
        if known is None or score > known.score:
            best[chunk.owner] = Fused(score, semantic, text, chunk)
    return sorted(best.values(), key=lambda fused: (-fused.score, fused.id))


def ranked(fused: Sequence[Fused], top_k: int) -> list[Fused]:
    """All of them, the best match by words among the first `top_k`: an exact code is not crowded out by
    what merely resembles the question."""
    order = list(fused)
    place = max(range(len(order)), key=lambda i: order[i].text, default=0)
    if place >= top_k > 1 and order[place].text > 0:
        order.insert(top_k - 1, order.pop(place))
    return order
