"""A projection that is searched in place of the database's own scan."""

from typing import Protocol

from recollect.model.search import Search
from recollect.ports.projection import Projection


class SearchIndex(Projection, Protocol):
    """Vectors, with what filters look at. Words are the store's: it scores them by the user's own statistics,
    and to count how common a word is it would read the posting list all the same."""

    def propose(self, epoch: str, number: int, search: Search, limit: int) -> tuple[int, ...]:
        """Documents of a user whose vectors are near the search's and that pass its filter, as far as it was
        told of them; at most `limit`, the nearest first. `ProjectionError` when there is no such epoch any
        more, when it has vectors of another space, or when it fails."""
        ...
