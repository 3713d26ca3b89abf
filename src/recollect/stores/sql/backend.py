"""What differs between SQL databases; everything else is shared."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

from recollect.model.search import Candidate, Search
from recollect.stores.sql.rows import UserRows

T = TypeVar("T")
P = ParamSpec("P")


class Backend(Protocol):
    """Transactions, text search, vector search and erasure of one database.

    A transaction is one user's, or with no user the operators': which of the two it is, is all that a
    database with a wall of its own has to know.
    """

    def read(self, user: str | None = None, *, latest: bool = True) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the database: the `latest`, or one that may lack what others
        wrote in the last seconds, but nothing that this process wrote."""
        ...

    def again(self, step: Callable[[], T]) -> T:
        """What a step that only reads returns; taken again should its connection be lost."""
        ...

    def write(self, work: Callable[[Connection], T], user: str | None = None, *, durable: bool = True) -> T:
        """Run `work` in a transaction that is durable when this returns; all or nothing. It may be run
        again after it was undone. What the background does, and what was counted in memory until now, need
        not be `durable`: nobody waits for it, and should a power cut undo it, it is found to be missing."""
        ...

    def write_alone(self, work: Callable[[Connection], T]) -> T:
        """The operators' `write`, while nobody else is writing."""
        ...

    def locked(self, statement: Select[Any]) -> Select[Any]:
        """The statement, holding the rows it reads until the transaction ends."""
        ...

    def user_number(self, rows: UserRows) -> int:
        """A number that nobody had before, for a user who is new."""
        ...

    def partition_of(self, rows: UserRows) -> int:
        """Which part of the database the user's rows are in, of those that are scrubbed on their own."""
        ...

    def add_text(self, rows: UserRows, number: int, documents: Sequence[tuple[int, list[str]]]) -> None:
        """Index the terms of documents of the user, who has this number."""
        ...

    def remove_text(self, rows: UserRows, number: int, documents: Sequence[int]) -> None: ...

    def clear_text(self, connection: Connection) -> None: ...

    def having(
        self, rows: UserRows, number: int, terms: Sequence[str], most: int
    ) -> Iterable[NDArray[np.int64]]:
        """For each term documents of the user with it, ascending, at most so many of them; one may be named
        as often as the term occurs in it."""
        ...

    def search(self, rows: UserRows, search: Search) -> list[Candidate]: ...

    def scrub(self, partition: int) -> bool:
        """Leave no byte of what was erased in the partition's files; False when others are in the way."""
        ...

    def maintain(self) -> int:
        """Do what this database wants done now and then; how much there was to do."""
        ...

    def drop_audit(self, before: datetime) -> int:
        """Let go of the audit from before a day; how many entries, or days of them, went."""
        ...

    def stats(self) -> dict[str, Any]: ...

    def tally(self) -> dict[str, int]:
        """How often what happened in this process since it was last asked."""
        ...

    def check(self) -> Iterator[str]: ...

    def close(self) -> None: ...


class HasBackend(Protocol):
    _backend: Backend


S = TypeVar("S", bound=HasBackend)


def only_reads(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that only reads: a lost connection delays it, and no more."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        backend = self._backend  # pyright: ignore[reportPrivateUsage]
        return backend.again(lambda: method(self, *args, **kwargs))

    return run
