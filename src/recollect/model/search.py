"""What a store is asked when recall gathers, and what it answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.model.records import SEARCHABLE
from recollect.model.space import Space


@dataclass(frozen=True, slots=True)
class AtMost:
    """In the condition of a `find`: a time or number that a field has reached."""

    value: datetime | float


@dataclass(frozen=True, slots=True)
class AtLeast:
    """In the condition of a `find`: a time, number or text that a field has not fallen below."""

    value: datetime | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories may be found at all; applied before ranking, never after.

    Without `as_of` and `known_at`: what is believed and valid at `now`. With them: what held at
    `as_of`, as far as it was known at `known_at`.
    """

    now: datetime
    kinds: tuple[str, ...] = SEARCHABLE
    channels: tuple[str, ...] | None = None
    agent: str | None = None
    conversation: str | None = None
    exclude_conversation: str | None = None
    roles: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: float = 0.0
    in_force: bool = True
    """Whether only what holds is wanted; if not, also what is corrected, ended or expired."""

    @property
    def wanted(self) -> dict[str, tuple[str, ...]]:
        """The columns that must have one of some values, as far as anything is asked of them."""
        asked = {
            "kind": None if self.kinds == SEARCHABLE else self.kinds,
            "role": self.roles,
            "channel": self.channels,
            "agent": None if self.agent is None else (self.agent,),
            "conversation": None if self.conversation is None else (self.conversation,),
        }
        return {column: values for column, values in asked.items() if values is not None}


@dataclass(frozen=True, slots=True)
class Near:
    """What an index beside the store names for a vector, and for words: documents, by their number. What
    changed `since` a place of the feed it may not know of."""

    docs: tuple[int, ...]
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One question to a store: a vector, terms, or both, within a filter."""

    filter: Filter
    terms: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = None
    space: Space | None = None
    """The space of the vector; None takes the one that is searched."""
    threshold: float = 0.0
    """The least similarity, on the space's common scale, of a candidate found by its vector alone."""
    limit: int = 50
    near: Near | None = None
    """With it the vector is compared with these documents and those that changed since, and no others."""

    def vector_in(self, searched: Space | None) -> NDArray[np.float32] | None:
        """The vector, if it can be compared with those of the space that is searched."""
        vector = self.vector
        if vector is None or searched is None or vector.shape != (searched.dimensions,):
            return None
        if self.space is not None and not self.space.compares_with(searched):
            return None
        return vector if np.isfinite(vector).all() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a text says, term by term, each as often as it occurs: asked which records of this kind and
    channel have most of them."""

    kind: str
    channel: str
    terms: tuple[str, ...]


class Candidate(NamedTuple):
    """A chunk that was found: by its vector, its words, or both; with what ranking looks at."""

    kind: str
    owner: str
    start: int
    stop: int
    similarity: float | None
    """On the common scale; None when the chunk has no vector or the query had none."""
    text: float
    """BM25 with this user's statistics; 0 when no word matched."""
    at: datetime
    conversation: str | None = None
    role: str | None = None
    place: int | None = None
    """A turn's in its conversation."""
    weight: float = 1.0
    """How much a find of this record counts, whatever is asked."""
