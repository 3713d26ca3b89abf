"""What can be done to one user's memory in one transaction.

Pipelines plan these; the store applies them, all or none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.model.records import AuditEntry, Json, Record, Role
from recollect.model.scope import GLOBAL


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a record's text that is searched as one piece; without a vector it waits for one."""

    start: int
    stop: int
    vector: NDArray[np.float32] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """A turn before it has its place. `index` None appends."""

    id: str
    conversation: str
    index: int | None
    role: Role
    content: str
    at: datetime
    recorded_at: datetime
    digest: str
    channel: str = GLOBAL
    agent: str | None = None
    zone: str | None = None
    model: str | None = None
    tokens: int = 0
    metadata: Json = field(default_factory=dict[str, Any])
    title: str | None = None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Append:
    """Store turns. One with an index that already holds the same text changes nothing; another
    text there is a `Conflict`."""

    drafts: tuple[TurnDraft, ...]


@dataclass(frozen=True, slots=True)
class Put:
    """Store a record as it is, in place of one with the same kind and id. `chunks` None leaves
    what is searched of it as it was."""

    record: Record
    chunks: tuple[Chunk, ...] | None = None


@dataclass(frozen=True, slots=True)
class Revise:
    """Set fields of a record that exists; `NotFound` otherwise. Never its content."""

    kind: str
    id: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remove:
    """Take records of one kind out, with their search entries and links. `scrub` leaves no byte of them in
    the files soon after; without it they go from there when something else is scrubbed. Not `erases` are
    those that live on in another record: what was asked about them stays in the audit."""

    kind: str
    ids: tuple[str, ...]
    scrub: bool = True
    erases: bool = True


@dataclass(frozen=True, slots=True)
class Expect:
    """Go on only if the record is stored just so, or, with None, is not stored; else `Conflict`.

    Whoever changes what it has read says so with this, and reads again after a `Conflict`.
    """

    kind: str
    id: str
    record: Record | None


@dataclass(frozen=True, slots=True)
class ExpectOnly:
    """Go on only if just these records of a kind are found by such a condition (as in `UserView.find`);
    else `Conflict`. So nobody adds another one meanwhile."""

    kind: str
    where: Mapping[str, Any]
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Renew:
    """Count anew how often these records are returned; how often in all stays."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Count what was counted of some records as another's of their kind, which takes their place."""

    kind: str
    ids: tuple[str, ...]
    into: str


@dataclass(frozen=True, slots=True)
class Log:
    """Note in the audit what the other changes do. With `turns`, how many turns are new is counted here, and
    nothing is noted when none is."""

    entry: AuditEntry
    turns: bool = False


@dataclass(frozen=True, slots=True)
class Unname:
    """Take names of conversations, channels or agents (`field`) out of the audit: they were forgotten.
    `scrub` is as of `Remove`."""

    field: str
    names: tuple[str, ...]
    scrub: bool = True


@dataclass(frozen=True, slots=True)
class Within:
    """Go on only if the user has no more turns and memories than these in the end, in a channel or, with
    None, in all; else `QuotaExceeded`. 0 is no limit."""

    channel: str | None
    turns: int = 0
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """Go on only while this worker has the user to itself (`UserStore.claim`); else `Conflict`. So one that
    was held up too long changes nothing that is another's by now, and nobody who was erased comes back."""

    holder: str


@dataclass(frozen=True, slots=True)
class Once:
    """Do a write that may be sent several times only once, whoever it comes to; `Repeated` when another one
    under this key (`token` tells them apart) was done since `since`, before which keys are let go.

    The ids of what the transaction stores of these `kinds` are kept with the key; without kinds, that it was
    done. A transaction that stores none of them is not the write, but made ready for it."""

    key: str
    token: str
    digest: str
    at: datetime
    since: datetime
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A write that was done once: what was sent, by a digest, and the kinds and ids of what it stored."""

    digest: str
    at: datetime
    made: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """Note that a run of messages, known by its digest, has led to where the conversation stands when all of
    the other changes are done. Goes with its conversation."""

    digest: str
    conversation: str


Change = (
    Append
    | Put
    | Revise
    | Remove
    | Expect
    | ExpectOnly
    | Renew
    | Pool
    | Log
    | Unname
    | Within
    | Held
    | Once
    | Thread
)
