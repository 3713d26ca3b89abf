"""What is counted for operators, for everybody together: in memory as it happens, written later.

A time is counted in a bucket, of which each reaches to the square root of 2 times the one before. So a
percentile of any stretch of days is known from a few dozen numbers, and is off by at most a fifth.
"""

import math
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, date
from time import perf_counter

from recollect.ports.clock import Clock
from recollect.ports.tending import Measure

RECALL, RECORD = "recall", "record"
"""What is timed, as somebody waits for it. What raised is counted apart, as `failed(name)`."""
SKIPPED, IMPAIRED = "recall_skipped", "recall_impaired"
"""Recalls that the gate did not search for, and those that something could not be used for."""
HITS, TURNS, MEMORIES = "hits", "turns", "memories"
"""Memories returned; turns recorded; memories saved or mined."""
MINED = "mined_turns"
INJECTED, UNAIDED, UNRECORDED = "gateway_injected", "gateway_unaided", "gateway_unrecorded"
"""Requests through the gateway that memories were put into; those that went on without, because of a problem;
and those that could not be recorded."""
CACHE_HITS, CACHE_MISSES = "cache_hits", "cache_misses"
"""Searches that found the user's columns in memory, and those that had to read all of them."""
ANSWER_HITS, ANSWER_MISSES = "answer_hits", "answer_misses"
VECTOR_HITS, VECTOR_MISSES = "vector_hits", "vector_misses"
"""Recalls, and vectors of questions, that were in the cache that processes share, and those that were not."""

LARGEST = 72
"""The last bucket: up to about 19 hours, and whatever took longer."""
WITHIN = 2**0.25
"""By which factor a percentile may be off, up or down."""


def failed(name: str) -> str:
    return f"{name}_failed"


def microseconds(name: str) -> str:
    """Under which name it is added up how long something took."""
    return f"{name}_microseconds"


def tended(action: str) -> str:
    """Something that the background did."""
    return f"tend_{action}"


def called(source: str) -> str:
    """A call of a model, by what it was for."""
    return f"call_{source}"


class Measures:
    """Adds up until it is taken. Safe in any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[tuple[date, str, int], int] = {}

    def count(self, name: str, times: int = 1) -> None:
        if times > 0:
            self._add((name, 0, times))

    def time(self, name: str, seconds: float) -> None:
        taken = max(0, round(seconds * 1e6))
        self._add((name, bucket(taken), 1), (microseconds(name), 0, taken))

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        """Time what is done meanwhile; if it raises, only that is counted."""
        started = perf_counter()
        try:
            yield
        except BaseException:
            self.count(failed(name))
            raise
        self.time(name, perf_counter() - started)

    def take(self) -> list[Measure]:
        """What was counted since this was last called."""
        with self._lock:
            counts, self._counts = self._counts, {}
        return [Measure(*key, count) for key, count in counts.items()]

    def _add(self, *more: tuple[str, int, int]) -> None:
        now = self._clock.now()
        day = (now if now.tzinfo is UTC else now.astimezone(UTC)).date()  # each recall passes here
        with self._lock:
            for name, place, times in more:
                key = (day, name, place)
                self._counts[key] = self._counts.get(key, 0) + times


def bucket(taken: int) -> int:
    """The first bucket that reaches so many microseconds."""
    return 0 if taken <= 1 else min(LARGEST, math.ceil(2 * math.log2(taken)))


def upper(number: int) -> float:
    """Up to how many seconds a bucket reaches."""
    return 2 ** (number / 2) / 1e6


def percentile(buckets: Mapping[int, int], share: float) -> float | None:
    """The seconds within which that share of what is in the buckets was done, or None of nothing. It is in
    the middle of its bucket: the true value is at most `WITHIN` times more, or less."""
    total = sum(buckets.values())
    if not total:
        return None
    rank, seen = max(1, math.ceil(share * total)), 0
    for number in sorted(buckets):
        seen += buckets[number]
        if seen >= rank:
            return upper(number) / WITHIN
    return None
