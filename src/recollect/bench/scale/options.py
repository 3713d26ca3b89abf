"""What a part of the measurement is told, and how it says what had to hold.

A part is a function of `Options` that returns its figures, among them `checks` by name and, where it
has some, `growth` and `costs`. One that cannot run here raises `Unavailable` with what it would need.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.bench.latency import Stage

INDEXED_FROM = 50_000
"""Chunks from which on the large user has an index, here."""


class Unavailable(Exception):
    """This part cannot run here. The message says what would let it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured, and where."""

    folder: Path
    """For files; gone afterwards."""
    stage: Stage
    db: str | None = None
    """A PostgreSQL server; without one, one is started."""
    users: int = 10_000
    memories: int = 100
    """What each of the users has."""
    large: int = 200_000
    """What one more user has."""
    file_rows: int = 1_000_000
    """Of everybody in one SQLite file, in the same proportion."""
    queries: int = 100
    ingested: int = 60_000
    """Rows by which ingestion is compared with COPY, once all the others are there."""
    threads: int = 4
    index_over: int = INDEXED_FROM
    seed: int = 7
    quick: bool = False
    """So small that the figures say that it works, not how well."""

    @property
    def rows(self) -> int:
        return self.users * self.memories + self.large


def scaled(options: dict[str, Any], rows: int) -> Options:
    """Options of so many rows in all, in the usual proportion of users."""
    usual = Options(**options)
    share = rows / usual.rows
    return Options(
        **options,
        users=max(10, round(usual.users * share)),
        large=max(500, round(usual.large * share)),
        file_rows=max(1000, round(usual.file_rows * share)),
        ingested=max(1000, round(usual.ingested * min(1, 4 * share))),
        queries=min(usual.queries, 20) if rows < usual.rows / 20 else usual.queries,
        index_over=max(200, round(usual.index_over * share)),
        quick=rows < usual.rows / 2,
    )


Check = tuple[float, str, bool | None]
"""A figure, what it has to be, and whether it is; None where it is too small to judge."""


def at_most(value: float, limit: float) -> Check:
    return value, f"at most {limit:g}", value <= limit


def at_least(value: float, limit: float) -> Check:
    return value, f"at least {limit:g}", value >= limit
