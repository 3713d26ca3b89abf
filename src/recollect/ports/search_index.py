"""A projection that is searched in place of the database's own scan."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.model.search import Search
from recollect.model.space import Space
from recollect.ports.projection import Projection


class Proposed(NamedTuple):
    """Documents of a user that may answer, the nearest first."""

    by_vector: Sequence[int]
    by_words: Sequence[int] | None
    """None where the index knows nothing of words: the store of record is asked."""


class SearchIndex(Projection, Protocol):
    """Vectors, and where the engine can, words."""

    def propose(self, epoch: str, number: int, search: Search, space: Space, limit: int) -> Proposed:
        """At most `limit` of each that pass the search's filter, as far as it was told of them;
        `ProjectionError` when it is not of this epoch any more, or fails."""
        ...
