"""An embedder without a model: words and letter trigrams, hashed into a vector.

Texts that share words, or parts of words, are near; meaning is beyond it. For tests, and for machines
that can have no weights. The same vector everywhere and always: no `hash()`, no random state. Some
50,000 short texts a second.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.model.space import Space
from recollect.models._vectors import unit, well_formed
from recollect.ports.embedder import Vectors

_WORD = re.compile(r"\w+")
_LONGEST_REMEMBERED = 40

# A word counts by its length up to this: there are no word frequencies here, and what is short is mostly
# "the", "is", "my".
_FULL_WEIGHT_LENGTH = 6

# Trigrams of a word together weigh this much of the word itself.
_TRIGRAM_SHARE = 0.5

Features = tuple[list[int], list[float]]


class HashingEmbedder:
    """The `Embedder` port by signed feature hashing."""

    def __init__(self, dimensions: int = 384) -> None:
        # The name carries the scheme's version: another way of hashing is another space. `unrelated` is
        # measured as for the models of the registry.
        self._space = Space(f"hashing-1-{dimensions}", dimensions, unrelated=0.05)

    @property
    def space(self) -> Space:
        return self._space

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        dimensions = self._space.dimensions
        checksums: list[int] = []
        weights: list[float] = []
        counts: list[int] = []
        for text in texts:
            before = len(checksums)
            for word in _WORD.findall(well_formed(text).casefold()):
                features = _remembered(word) if len(word) <= _LONGEST_REMEMBERED else _features(word)
                checksums += features[0]
                weights += features[1]
            counts.append(len(checksums) - before)
        hashes = _mixed(np.asarray(checksums, np.uint32)).astype(np.int64)
        owners = np.repeat(np.arange(len(texts)), np.asarray(counts, np.int64))
        slots = owners * dimensions + (hashes >> 1) % dimensions
        signed = np.asarray(weights) * np.where(hashes & 1, 1.0, -1.0)
        sums = np.bincount(slots, signed, len(texts) * dimensions).astype(np.float64)
        rows = sums.reshape(len(texts), dimensions)
        # A text without words, or whose features cancel out, still needs a direction.
        rows[:, 0] += 1e-6
        return unit(rows)

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])[0]


def _features(word: str) -> Features:
    """Checksums and weights of a word and its trigrams, its ends marked."""
    marked = f"<{word}>"
    trigrams = [marked[i : i + 3] for i in range(len(marked) - 2)]
    weight = min(len(word), _FULL_WEIGHT_LENGTH) / _FULL_WEIGHT_LENGTH
    # As these add up by their squares, the trigrams together have the share asked for.
    small = weight * _TRIGRAM_SHARE / len(trigrams) ** 0.5
    checksums = [zlib.crc32(marked.encode()), *(zlib.crc32(b"3" + part.encode()) for part in trigrams)]
    return checksums, [weight, *([small] * len(trigrams))]


_remembered = lru_cache(maxsize=1 << 16)(_features)


def _mixed(checksums: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Checksums spread evenly over all bits; a CRC alone keeps the pattern of similar words.

    The finaliser is Wellons' lowbias32.
    """
    values = checksums ^ (checksums >> np.uint32(16))
    values = values * np.uint32(0x7FEB352D)
    values ^= values >> np.uint32(15)
    values = values * np.uint32(0x846CA68B)
    return values ^ (values >> np.uint32(16))
