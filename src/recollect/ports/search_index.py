"""A projection that is searched in place of the database's own scan."""

from typing import NamedTuple, Protocol

from recollect.model.search import Search
from recollect.ports.projection import Projection


class Proposed(NamedTuple):
    """Documents, by their number, the best first: near by vector, and alike by words, where the engine ranks
    by words too."""

    by_vector: tuple[int, ...] = ()
    by_words: tuple[int, ...] | None = None

    @property
    def docs(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.by_vector, *(self.by_words or ()))))


class SearchIndex(Projection, Protocol):
    """Vectors, words as far as it can, and what filters look at. Scores are the store's: it works them out by
    the user's own statistics, and finds by words itself what has no vector yet."""

    def propose(self, epoch: str, number: int, secret: bytes, search: Search, limit: int) -> Proposed:
        """Documents of a user that pass the search's filter, as far as it was told of them; at most `limit`
        by vector and by words each. `secret` is the user's, by which words are told to it. `ProjectionError`
        when there is no such epoch any more, when it has vectors of another space, or when it fails."""
        ...
