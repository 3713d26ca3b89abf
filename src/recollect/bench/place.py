"""Where it is measured: how the product is opened there, and what it is measured against."""

from dataclasses import dataclass
from typing import Any, Protocol

from recollect.bench.corpus import Query, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the figures have to reach. What has none is shown for information."""

    recall_p50: float
    recall_p95: float | None = None
    others: float
    chat: float | None = None
    whole: float | None = None
    batches: float
    commits: float | None = None
    threads: float | None = None
    found: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that a bare search found, and the seconds that each of its steps took."""

    rows: list[int]
    steps: dict[str, float]


class BareSearch(Protocol):
    """The same rows, searched by hand."""

    def search(self, query: Query) -> Found: ...

    def close(self) -> None: ...


class BareCopy(Protocol):
    """The product's tables and indexes, to be filled by hand with the very rows the product wrote."""

    @property
    def count(self) -> int: ...

    def insert(self, start: int, stop: int) -> None:
        """The rows of some turns, in one transaction."""
        ...

    def close(self) -> None: ...


class BareCommits(Protocol):
    """One small row a commit, each flushed to the disk."""

    def commit(self, content: str) -> None: ...

    def close(self) -> None: ...


class Place(Protocol):
    """An engine, with room for scratch databases."""

    @property
    def limits(self) -> Limits: ...

    @property
    def approximate(self) -> bool:
        """Whether search may miss something, so that what it finds has to be checked."""
        ...

    @property
    def in_process(self) -> bool:
        """Whether the engine works in this process, so that its processor time tells all that is done."""
        ...

    def about(self) -> dict[str, Any]:
        """The engine, as far as figures depend on it."""
        ...

    def database(self, name: str) -> str:
        """The address of a new, empty database."""
        ...

    def settle(self, address: str) -> None:
        """Have done now what the engine does sooner or later to a database that has grown."""
        ...

    def megabytes(self, address: str) -> float: ...

    def search(self, address: str, rows: Rows) -> BareSearch: ...

    def copy(self, address: str, product: str) -> BareCopy: ...

    def commits(self, address: str) -> BareCommits: ...
