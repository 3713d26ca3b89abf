"""What a store tells besides records: values, none of which knows a database."""

from dataclasses import dataclass, field
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from recollect.model.records import Turn
from recollect.model.space import Space


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was returned: for life, and since its last renewal."""

    count: int
    since_renewal: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Spent:
    """What a model was asked for, on one day (UTC), and how many tokens that took."""

    day: date
    source: str
    model: str
    calls: int
    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a transaction did: the turns of each `Append` as stored, in order, and its place in the feed."""

    seq: int
    turns: tuple[Turn, ...]
    created: int
    """How many of the turns are new."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is in a wing of the palace, or in a room of one."""

    number: int
    rooms: int
    closets: int
    drawers: int
    first: datetime
    last: datetime
    closet: str
    """The id of a closet in it, which tells what it is called."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A record that changed, or with `deleted` one that is gone. Of a conversation that is gone only
    a keyed hash of its id (HMAC-SHA256, by `secret`) is kept, because its id is a name."""

    seq: int
    kind: str
    id: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A chunk that waits for its vector. `number` is the user's: whoever is erased and comes back has
    another, so that a vector computed before is not given to a text stored after."""

    doc: int
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Led:
    """Where a run of messages has led to: up to which turn of a conversation, and whether it still ends
    there."""

    digest: str
    conversation: str
    index: int
    at_the_end: bool


@dataclass(frozen=True, slots=True)
class SpaceState:
    """An embedding space and how far it is filled: how many of the chunks still wait for their vector."""

    space: Space
    active: bool
    """Whether it is the one that is searched."""
    chunks: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a projection has come with a user: `seq` is where their feed stands, `noted` up to where it was
    written, below zero when what was written is to be forgotten first, `reached` up to where whoever reads it
    is sure to see it; `documents` is how much of theirs is searched. `epoch` is the making that is meant;
    empty when nothing of the user was ever written to one. `secret` is the user's."""

    number: int
    seq: int
    documents: int
    noted: int
    reached: int
    secret: bytes = field(repr=False)
    epoch: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """A chunk with all that a search goes by: what filters look at, its terms if they were asked for, and its
    vector, if it has one."""

    doc: int
    kind: str
    channel: str
    agent: str | None
    conversation: str | None
    role: str | None
    confidence: float
    at: datetime
    valid_from: datetime
    valid_to: datetime | None
    stated_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    expires_at: datetime | None
    corrects: bool
    terms: tuple[str, ...]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class SearchedFeed:
    """Chunks that changed up to a place of the feed, with vectors of the space that is searched, and the
    numbers of those that are gone."""

    upto: int
    space: Space | None
    chunks: tuple[Searched, ...]
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a projection is behind: with how many users, by how many changes, and since when the one that
    waits longest."""

    users: int
    changes: int
    since: datetime | None
