"""Who is in the database and what they have said: made up, the same for the same seed, and recorded as a
loader would, by several threads, each for another user."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter, process_time

import numpy as np

from recollect import Memory, Message
from recollect.bench.corpus import Corpus, Rows
from recollect.bench.subject import BATCH, USER, Advance

LARGE = "large"
SHARES = (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1)
"""How much of everything is there at each step of growth: of 1.2 million rows 10,000 at first."""

_SMALL_STREAM, _LARGE_STREAM, _OTHER_STREAM = 50_000_000, 60_000_000, 70_000_000
_TOGETHER = 20
"""Batches made up at a time: they are made before the clock starts."""


@dataclass(frozen=True, slots=True)
class Size:
    """So many users with so many memories each, and one with many more."""

    users: int
    memories: int
    large: int

    @property
    def rows(self) -> int:
        return self.users * self.memories + self.large

    def steps(self) -> list["Size"]:
        """From little to all of it, everybody in proportion."""
        sizes = (
            Size(round(self.users * share), self.memories, round(self.large * share)) for share in SHARES
        )
        return [size for size in sizes if size.users and size.large]


@dataclass(slots=True)
class Loaded:
    """What recording took."""

    rows: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of this process."""


Batch = tuple[str, list[Message]]
"""Whose, and what they said: one transaction."""


@dataclass(slots=True)
class Crowd:
    """Everybody who is to be recorded, in the order in which they come."""

    corpus: Corpus
    memories: int
    there: Size = field(init=False)
    asked_about: Rows = field(init=False)
    """Some of what the large user said, from all of it."""

    def __post_init__(self) -> None:
        self.there = Size(0, self.memories, 0)
        self.asked_about = Rows([], self.corpus.rows(1, _LARGE_STREAM).vectors[:0])

    def small(self) -> Rows:
        """What the user said whose recall is measured."""
        return self.corpus.rows(self.memories, _SMALL_STREAM)

    def grow(self, memory: Memory, size: Size, threads: int, advance: Advance) -> Loaded:
        """Record what is missing until there is as much as this; the small and the large in turn."""
        loaded = Loaded()
        batches = _mixed([*self._large_batches(size.large)], [*self._small_numbers(size.users)])
        for start in range(0, len(batches), _TOGETHER):
            made = [batch for each in batches[start : start + _TOGETHER] for batch in self._made(each)]
            record_all(memory, made, threads, loaded)
            advance(sum(len(messages) for _, messages in made))
        self.there = size
        return loaded

    def others(self, count: int, each: int, number: int) -> list[Batch]:
        """Users that are not there yet, for so many rows in all; another `number` gives others."""
        rows = self.corpus.rows(count, _OTHER_STREAM + number)
        return [
            (f"late-{number}-{start}", rows.messages(start, start + each)) for start in range(0, count, each)
        ]

    def _large_batches(self, until: int) -> Iterator[tuple[str, int, int]]:
        for start in range(self.there.large, until, BATCH):
            yield LARGE, start, min(start + BATCH, until)

    def _small_numbers(self, until: int) -> Iterator[tuple[str, int, int]]:
        together = max(1, BATCH // self.memories)
        for start in range(self.there.users, until, together):
            yield "", start, min(start + together, until)

    def _made(self, wanted: tuple[str, int, int]) -> list[Batch]:
        user, start, stop = wanted
        if user:
            rows = self.corpus.rows(stop - start, _LARGE_STREAM + start)
            some = slice(0, None, max(1, len(rows) // 2))
            texts, vectors = self.asked_about.texts, self.asked_about.vectors
            joined = np.concatenate((vectors, rows.vectors[some]))
            self.asked_about = Rows([*texts, *rows.texts[some]], joined)
            return [(user, rows.messages(prefix=f"{start}-"))]
        rows = self.corpus.rows((stop - start) * self.memories, _SMALL_STREAM + 1 + start)
        own = [
            (f"user-{start + n}", rows.messages(n * self.memories, (n + 1) * self.memories))
            for n in range(stop - start)
        ]
        return [(USER, self.small().messages()), *own[1:]] if start == 0 else own


def record_all(memory: Memory, batches: Sequence[Batch], threads: int, loaded: Loaded) -> None:
    """Record the batches by several threads, and add what that took."""

    def record(batch: Batch) -> None:
        user, messages = batch
        memory.scope(user).record_many(messages)

    with ThreadPoolExecutor(threads) as pool:
        begun, spent = perf_counter(), process_time()
        for _ in pool.map(record, batches):
            pass
        loaded.seconds += perf_counter() - begun
        loaded.processor += process_time() - spent
    loaded.rows += sum(len(messages) for _, messages in batches)


def _mixed(
    first: list[tuple[str, int, int]], second: list[tuple[str, int, int]]
) -> list[tuple[str, int, int]]:
    """Both, evenly spread over each other."""
    places = [((n + 0.5) / len(some), one) for some in (first, second) for n, one in enumerate(some)]
    return [one for _, one in sorted(places, key=lambda place: place[0])]
