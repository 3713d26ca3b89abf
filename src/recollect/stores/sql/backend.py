"""What differs between SQL databases; everything else is shared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Select

from recollect.model.search import Candidate, Search

T = TypeVar("T")


class Backend(Protocol):
    """Transactions, text search, vector search and erasure of one database."""

    def read(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the database."""
        ...

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction that is durable when this returns; all or nothing."""
        ...

    def locked(self, statement: Select[Any]) -> Select[Any]:
        """The statement, holding the rows it reads until the transaction ends."""
        ...

    def add_text(
        self, connection: Connection, number: int, documents: Sequence[tuple[int, list[str]]]
    ) -> None:
        """Index the terms of documents of the user with this number."""
        ...

    def remove_text(self, connection: Connection, number: int, documents: Sequence[int]) -> None: ...

    def clear_text(self, connection: Connection) -> None: ...

    def search(self, user: str, search: Search) -> list[Candidate]: ...

    def scrub(self) -> bool:
        """Leave no byte of what was erased in the files; False when others are in the way."""
        ...

    def stats(self) -> dict[str, Any]: ...

    def check(self) -> Iterator[str]: ...

    def close(self) -> None: ...
