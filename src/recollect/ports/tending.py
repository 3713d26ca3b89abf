"""What the background keeps: how far it has come with whom, what was counted, what was erased."""

from dataclasses import dataclass, field
from datetime import date, datetime

PARKED_AFTER = 5
"""How often something is tried that fails by its own fault, before it is parked: left alone until somebody
has it tried again (`Store.unpark`)."""

CONSOLIDATED = ("fact", "procedure", "reflection")
"""The kinds of memories of which two that say the same become one."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a chore has come with one user: up to which place of the feed, when, and what went wrong."""

    seq: int = 0
    at: datetime | None = None
    after: datetime | None = None
    """After a failure: when it is tried again."""
    failures: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of one user's memory: `number` is the user's, whom another may be called like after an erasure,
    `seq` where the feed stands. `secret` is what the user's digests are keyed with: read along because those
    who ask for the one need the other, and each statement is a way to a server."""

    number: int
    seq: int
    secret: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Visit:
    """When somebody should look after a user again: at `due` in any case, at `soon` if anything changed
    after `seq`."""

    seq: int
    due: datetime
    soon: datetime


@dataclass(frozen=True, slots=True)
class Size:
    """How much a user has, in one channel or in all."""

    turns: int = 0
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a quota of a policy is used up, everybody taken together. Says nothing of whose."""

    quota: str
    """Its name in the policy: `turn_quota` and `memory_quota` are of users, the others of channels."""
    most: int
    """How many there may be; 0: as many as one likes."""
    fullest: int
    """How many the fullest of the users, or of the channels, has."""
    near: int
    """How many of them have as much as there is a warning of, the full ones among them."""
    full: int


@dataclass(frozen=True, slots=True)
class JobState:
    """What a job did when it last ran, and in all. While one goes on, `at` is when that was last heard of."""

    name: str
    at: datetime
    seconds: float
    done: int
    problem: str | None = None
    runs: int = 1
    total: int = 0
    progress: int = 0
    """How many rows the run that goes on has put right so far; 0 when none goes on."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How often something happened on a day (UTC), everybody taken together; of what was timed, how often
    it took so long: `bucket` is a power of the square root of 2, up to so many microseconds. 0 of what is
    only counted."""

    day: date
    name: str
    bucket: int
    count: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """That something was erased: when, and how many records of each kind. Says neither what nor whose."""

    id: str
    at: datetime
    what: str
    counts: dict[str, int]
