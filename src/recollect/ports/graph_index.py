"""A projection that is walked in place of the database's own tables."""

from collections.abc import Sequence
from typing import Protocol

from recollect.ports.projection import Projection


class GraphIndex(Projection, Protocol):
    """Who and what is related, by ids; `ProjectionError` when it is not of this epoch any more, or fails."""

    def bonds(
        self,
        epoch: str,
        number: int,
        entities: Sequence[str],
        channels: Sequence[str] | None,
        most: int,
        before: str | None = None,
    ) -> list[str]:
        """The relations that begin or end at one of the entities, the newest first: in descending order of
        their ids, character by character, those before one of them, at most so many."""
        ...

    def about(self, epoch: str, number: int, entity: str) -> list[str]:
        """The memories about an entity, in any order."""
        ...
