"""One order out of two: meaning and words, on one scale."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.model.search import Candidate

HALF_TEXT = 16.0
"""The BM25 score that counts as half of a perfect match by words."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A record that was found, by its best chunk."""

    kind: str
    id: str
    score: float
    signals: Mapping[str, float]
    span: tuple[int, int]
    """Where in the record's text that chunk is."""


def fuse(candidates: Iterable[Candidate], semantic_weight: float, has_vector: bool) -> list[Fused]:
    """Candidates as records, best first: a weighted sum of similarity and saturated BM25."""
    weight = semantic_weight if has_vector else 0.0
    best: dict[str, Fused] = {}
    for candidate in candidates:
        semantic = max(0.0, min(1.0, candidate.similarity or 0.0))
        text = candidate.text / (candidate.text + HALF_TEXT)
        score = weight * semantic + (1 - weight) * text
        known = best.get(candidate.owner)
        if known is None or score > known.score:
            signals = {"semantic": semantic, "text": text, "bm25": candidate.text}
            best[candidate.owner] = Fused(
                candidate.kind, candidate.owner, score, signals, (candidate.start, candidate.stop)
            )
    return sorted(best.values(), key=lambda fused: (-fused.score, fused.id))


def top(fused: Sequence[Fused], top_k: int) -> list[Fused]:
    """The first `top_k`, the best match by words among them: an exact code is not crowded out by what
    merely resembles the question."""
    chosen = list(fused[:top_k])
    by_words = max(fused, key=lambda found: found.signals["bm25"], default=None)
    if by_words is not None and by_words.signals["bm25"] > 0 and by_words not in chosen and top_k > 1:
        chosen[-1] = by_words
    return chosen
