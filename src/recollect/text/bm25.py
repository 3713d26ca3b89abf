"""BM25, over postings that any engine can give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
COUNT_LIMIT = 4
"""From here on it makes no difference how often a term occurs: an index need not count any further."""


class Occurring(NamedTuple):
    """The documents with one term, ascending, and how often it occurs in each."""

    docs: NDArray[np.int64]
    counts: NDArray[np.int64]


def occurring(occurrences: NDArray[np.int64]) -> Occurring:
    """Of documents that are named, in order, once for each time the term occurs."""
    new = np.ones(len(occurrences) + 1, np.bool_)
    np.not_equal(occurrences[1:], occurrences[:-1], out=new[1:-1])
    bounds = new.nonzero()[0]
    return Occurring(occurrences[bounds[:-1]], bounds[1:] - bounds[:-1])


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term occurs: places in `lengths`, ascending, and how often in each; and how many documents
    have it, where these are not all."""

    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    frequency: int | None = None


def scores(
    postings: Sequence[Postings], lengths: NDArray[np.int32], documents: int, tokens: int
) -> NDArray[np.float32]:
    """One score for each place, from the user's own number of documents and tokens."""
    total = np.zeros(len(lengths), np.float32)
    mean = tokens / documents if documents else 1.0
    for term in postings:
        rarity = _rarity(len(term.places) if term.frequency is None else term.frequency, documents)
        length = lengths[term.places]
        counts = np.minimum(term.counts, COUNT_LIMIT)
        saturation = counts / (counts + K1 * (1 - B + B * length / mean))
        total[term.places] += (rarity * (K1 + 1) * saturation).astype(np.float32)
    return total


def most(frequency: int, documents: int) -> float:
    """What a term that so many of the documents have adds to a score at most: in the shortest of texts."""
    return _rarity(frequency, documents) * (K1 + 1) * COUNT_LIMIT / (COUNT_LIMIT + K1 * (1 - B))


def _rarity(frequency: int, documents: int) -> float:
    return float(np.log1p((documents - frequency + 0.5) / (frequency + 0.5)))
