"""What is stored: frozen records, one class a kind, none of which knows a database.

Times are aware and in UTC. A record belongs to the user through whose handle it was read; the user
is therefore not a field. `Record.id` is unique for the user; a conversation's id is its caller's name
for it, an entity's is made from its name, every other id is a UUIDv7.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from recollect.model.scope import GLOBAL
from recollect.model.words import GoalStatus, Role, Tense

Json = Mapping[str, Any]

NEVER = datetime.max.replace(tzinfo=UTC)
"""When the background mines again what somebody has undone."""
PARKED = datetime(9999, 1, 1, tzinfo=UTC)
"""When it mines again what keeps failing by its own fault: once somebody retries it, or speaks there."""
FRESH: Json = {"mining_failures": 0, "mining_problem": None, "mining_after": None}
"""How a conversation is of which mining has not failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The base of everything stored."""

    kind: ClassVar[str]
    id: str
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Record):
    """A run of turns. `next_index` is where the next turn goes, `mined_to` how far mining has come.

    Mining that failed is tried again after `mining_after`; one that somebody has undone, never by itself.
    """

    kind = "conversation"
    channel: str = GLOBAL
    agent: str | None = None
    title: str | None = None
    started_at: datetime
    last_at: datetime
    next_index: int = 0
    mined_to: int = 0
    ended_at: datetime | None = None
    archived_at: datetime | None = None
    mining_failures: int = 0
    mining_problem: str | None = None
    mining_after: datetime | None = None
    concluded_to: int = 0
    """Up to where its episode and summary were made, once nobody spoke any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One message, word for word. Never paraphrased, never changed."""

    kind = "turn"
    conversation: str
    index: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(Record):
    """What is known, worked out from turns or written down by somebody.

    True from `valid_from` until `valid_to`; believed from `recorded_at` until `retired_at`. A
    correction retires a memory and ends its validity; it never overwrites it: `stated_to` keeps the
    end that the memory had on its own. Of the mined memories that answer the same, which is their `slot`,
    at most one is in force. `initial` is the confidence it had before time wore it down, `promoted_from`
    the channel that it was in before all channels read it.
    """

    content: str
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    stated_to: datetime | None = None
    retired_at: datetime | None = None
    channel: str = GLOBAL
    agent: str | None = None
    confidence: float = 1.0
    salience: float = 0.5
    tense: Tense = Tense.CURRENT
    origin: str = "explicit"
    slot: str | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    initial: float | None = None
    promoted_from: str | None = None
    sources: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(MemoryRecord):
    """Something that is so: a preference, a plan, a possession, a date."""

    kind = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(MemoryRecord):
    """How something is done, and how often that went well."""

    kind = "procedure"
    context: str = ""
    tools: tuple[str, ...] = ()
    successes: int = 0
    failures: int = 0
    last_used: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(MemoryRecord):
    """A task or a session as a whole: what was attempted, what was done with which tools, how it ended."""

    kind = "episode"
    goal: str = ""
    steps: tuple[str, ...] = ()
    outcome: str = ""
    lessons: str = ""
    success: bool | None = None
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection(MemoryRecord):
    """A lesson about the agent's own answers."""

    kind = "reflection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Record):
    """A person, place, project or thing that memories are about. `keys` are keyed hashes of its name and
    aliases, by which it is found whatever it is called; `initial` is the salience it had before time wore it
    down."""

    kind = "entity"
    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    description: str = ""
    channel: str = GLOBAL
    salience: float = 0.5
    initial: float | None = None
    first_seen: datetime
    last_seen: datetime | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Record):
    """What holds between two entities, and from when to when."""

    kind = "relation"
    source: str
    type: str
    target: str
    valid_from: datetime
    valid_to: datetime | None = None
    recorded_at: datetime
    retired_at: datetime | None = None
    channel: str = GLOBAL
    confidence: float = 1.0
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closet(Record):
    """A run of turns about one topic, in its place in the palace: a wing for each subject, in it a room for
    each conversation, in it closets. Its id is that place, such as `W-042/R-11/C-2`. What is erased leaves
    its number behind, and nothing else: then it has no conversation, subject and title."""

    kind = "closet"
    wing: int
    room: int
    number: int
    subject: str = ""
    type: str = "topic"
    slug: str = ""
    """The subject as wings are told apart by it."""
    title: str = ""
    conversation: str | None = None
    first: int = 0
    """The index of its first turn; `last` is that of its last."""
    last: int = 0
    at: datetime
    channel: str = GLOBAL
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Record):
    """Something the user or an agent is after."""

    kind = "goal"
    description: str
    created_at: datetime
    status: GoalStatus = GoalStatus.ACTIVE
    priority: int = 0
    deadline: datetime | None = None
    closed_at: datetime | None = None
    result: str | None = None
    parent: str | None = None
    blocked_by: tuple[str, ...] = ()
    channel: str = GLOBAL
    agent: str | None = None
    conversation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvocation(Record):
    """One call of a tool and what came of it."""

    kind = "tool_invocation"
    tool: str
    input: Any
    output: Any = None
    success: bool
    latency_ms: float | None = None
    error: str | None = None
    at: datetime
    conversation: str | None = None
    turn: str | None = None
    channel: str = GLOBAL
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """What one invocation of an agent was asked, did and reached; read in order, not searched."""

    kind = "summary"
    conversation: str
    query: str
    summary: str
    result: str
    at: datetime
    channel: str = GLOBAL
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(Record):
    """What a model answered through the gateway, and to which input, so that a client can go on from its id.
    Its id is the upstream's; `previous` is the response it goes on from, `sources` the turns recorded of it:
    it goes with any of them."""

    kind = "response"
    conversation: str
    at: datetime
    previous: str | None = None
    input: Any = None
    body: Any = None
    channel: str = GLOBAL
    agent: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Record):
    """What is known of the user as a person. One a user, its id is always `profile`."""

    kind = "profile"
    preferences: Json = field(default_factory=dict[str, Any])
    expertise: tuple[str, ...] = ()
    style: Json = field(default_factory=dict[str, Any])
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings(Record):
    """What the user has set for their own memory. One a user, its id is always `settings`."""

    kind = "settings"
    values: Json = field(default_factory=dict[str, Any])
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone(Record):
    """That something was forgotten, without saying what: a keyed hash that mining respects."""

    kind = "tombstone"
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(Record):
    """That something was done: who, what, when, by which settings (`details`). Never the content, but for
    `payload`, as JSON, which only the level `verbose` fills and any erasure empties."""

    kind = "audit"
    operation: str
    subject: str
    at: datetime
    count: int = 0
    channel: str = GLOBAL
    agent: str | None = None
    conversation: str | None = None
    memory_kind: str | None = None
    latency_ms: float | None = None
    success: bool = True
    error: str | None = None
    details: Json = field(default_factory=dict[str, Any])
    payload: str | None = None


RAN_OUT = "ran_out"
"""In the metadata of a tombstone: nobody wanted it forgotten, it went by the retention policy."""
ENDED = "ended"
"""In the metadata of a conversation: what was said of how it ended, and after which turn."""
MINED = "mined"
"""Where the metadata of a mined record keeps what it was made of."""
LEARNT = "learnt"
"""The origin of a procedure that was learnt, and where its metadata keeps what of."""
WORDINGS = "wordings"
"""In the metadata of a memory that others were merged into: its own turns, and the words of the others."""
DERIVED = (MINED, LEARNT, WORDINGS)
"""What is ours in the metadata of a memory; the rest was given."""


def mined(record: Record) -> Json:
    """What mining knows of a record: when it was said, what it is about. Nothing of one that was given."""
    found: object = record.metadata.get(MINED)
    return cast(Json, found) if isinstance(found, Mapping) else {}


def noted(record: Record, changed: Json) -> Json:
    """The metadata of a mined record, with more or other things known of it; None takes one out."""
    known = {**mined(record), **changed}
    kept = {name: value for name, value in known.items() if value is not None}
    return {**record.metadata, MINED: kept}


def learnt_from(procedure: Procedure) -> Json:
    """What a procedure that was learnt rests on."""
    found: object = procedure.metadata.get(LEARNT)
    return cast(Json, found) if isinstance(found, Mapping) else {}


def counted(procedure: Procedure) -> dict[str, bool]:
    """How the tasks that it names went, each by the turn that it began with."""
    found: object = learnt_from(procedure).get("counted")
    cases: Mapping[str, object] = cast(Mapping[str, object], found) if isinstance(found, Mapping) else {}
    return {turn: went is True for turn, went in cases.items()}


MEMORY_TYPES: tuple[type[MemoryRecord], ...] = (Fact, Procedure, Episode, Reflection)
MEMORY_KINDS = tuple(t.kind for t in MEMORY_TYPES)

RECORD_TYPES: tuple[type[Record], ...] = (
    Conversation,
    Turn,
    *MEMORY_TYPES,
    Entity,
    Relation,
    Closet,
    Goal,
    ToolInvocation,
    Summary,
    Response,
    Profile,
    UserSettings,
    Tombstone,
    AuditEntry,
)
BY_KIND: dict[str, type[Record]] = {t.kind: t for t in RECORD_TYPES}

SEARCHABLE = ("turn", *MEMORY_KINDS, "entity")
"""The kinds that recall can return."""
