"""What is measured with: texts and vectors like those of real use, made up, the same for the same seed.

Vectors are unit vectors around cluster centres. Words are made of syllables and drawn by Zipf and
Mandelbrot's law, so a few are in most texts and most are in a few; none is one of the analyser's stop
words, so the product and a bare index look for the same words. A query takes words of a stored text,
the common ones included, and a vector near that text's own; a rare query takes its rarest words only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect import Message

DIMENSIONS = 384
VOCABULARY = 20_000
WORDS_A_TEXT = 30
WORDS_A_QUERY = 6
RARE_WORDS = 3
TURNS_A_CONVERSATION = 50

_CLUSTERS = 200
_SPREAD = 1.0  # of a text around its centre: two texts of one cluster have a cosine of about .5
_QUERY_SPREAD = 0.5
_MANDELBROT = 2.7
_START = datetime(2025, 1, 1, tzinfo=UTC)
_SYLLABLES: tuple[str, ...] = tuple(f"{c}{v}" for c in "bdfgklmnprstvz" for v in "aeiou")

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts with their vectors."""

    texts: list[str]
    vectors: Vectors

    def __len__(self) -> int:
        return len(self.texts)

    def messages(self, start: int = 0, stop: int | None = None, *, prefix: str = "c") -> list[Message]:
        """Some of the rows as turns of conversations, ready to be recorded."""
        return [
            Message(
                role=("user", "assistant")[i % 2],
                content=self.texts[i],
                conversation=f"{prefix}{i // TURNS_A_CONVERSATION}",
                at=_START + timedelta(seconds=30 * i),
                vector=self.vectors[i],
            )
            for i in range(start, len(self) if stop is None else min(stop, len(self)))
        ]


@dataclass(frozen=True, slots=True)
class Query:
    """A question: words, and its vector."""

    words: tuple[str, ...]
    vector: Vectors

    @property
    def text(self) -> str:
        return " ".join(self.words)


class Corpus:
    """A source of rows and queries."""

    def __init__(self, seed: int = 7) -> None:
        self.seed = seed
        random = np.random.default_rng(seed)
        self._words = _vocabulary(random)
        self._ranks = {word: rank for rank, word in enumerate(self._words)}
        weights = 1.0 / (np.arange(1, VOCABULARY + 1) + _MANDELBROT)
        self._cumulated = np.cumsum(weights / weights.sum())
        self._centres = _unit(random.standard_normal((_CLUSTERS, DIMENSIONS), np.float32))

    def rows(self, count: int, stream: int) -> Rows:
        """So many rows; another `stream` gives others."""
        random = np.random.default_rng([self.seed, stream])
        drawn = np.searchsorted(self._cumulated, random.random((count, WORDS_A_TEXT)))
        chosen: list[list[int]] = np.minimum(drawn, VOCABULARY - 1).tolist()
        words = self._words
        centres = self._centres[random.integers(0, _CLUSTERS, count)]
        return Rows([" ".join([words[i] for i in row]) for row in chosen], _near(random, centres, _SPREAD))

    def queries(self, rows: Rows, count: int, *, rare: bool = False) -> list[Query]:
        """Questions about some of the rows."""
        random = np.random.default_rng([self.seed, 1, len(rows), rare])
        picked: list[int] = random.integers(0, len(rows), count).tolist()
        vectors = _near(random, rows.vectors[picked], _QUERY_SPREAD)
        return [
            Query(self._rarest(rows.texts[row]) if rare else _some(random, rows.texts[row].split()), vector)
            for row, vector in zip(picked, vectors, strict=True)
        ]

    def _rarest(self, text: str) -> tuple[str, ...]:
        return tuple(sorted(set(text.split()), key=self._ranks.__getitem__)[-RARE_WORDS:])


def _some(random: np.random.Generator, words: Sequence[str]) -> tuple[str, ...]:
    places: list[int] = random.permutation(len(words))[:WORDS_A_QUERY].tolist()
    return tuple(dict.fromkeys(words[i] for i in places))


def _vocabulary(random: np.random.Generator) -> list[str]:
    """Distinct words of three or four syllables: longer than any stop word."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables: list[int] = random.integers(0, len(_SYLLABLES), int(random.integers(3, 5))).tolist()
        words["".join(_SYLLABLES[i] for i in syllables)] = None
    return list(words)


def _near(random: np.random.Generator, centres: Vectors, spread: float) -> Vectors:
    noise = random.standard_normal(centres.shape, np.float32)
    noise *= np.float32(spread / DIMENSIONS**0.5)
    return _unit(centres + noise)


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
