"""How records are drawn: which nodes and edges they become.

A relation is a node between two entities, not an edge: it cites turns, to which an edge cannot lead, and is
found by its id alone. What it is called is a property: no name that a user gave is ever part of a statement,
and labels and the types of edges are those listed here.
"""

import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

from recollect.model.records import BY_KIND, SEARCHABLE, MemoryRecord, Procedure, Record, Role, Turn, counted
from recollect.model.space import Space
from recollect.ports.store import FeedEntry, UserView

Row = dict[str, Any]
K = TypeVar("K")
V = TypeVar("V")

MOST_TEXT = 2000
"""How many characters of a text are drawn: the graph is for finding and looking at, not for keeping."""
MOST_LISTED = 50
TOGETHER = 500
"""How many turns are looked up at once."""

LABELS: Mapping[str, str] = {
    "conversation": "Conversation",
    "turn": "Turn",
    "fact": "Fact",
    "procedure": "Procedure",
    "episode": "Episode",
    "reflection": "Reflection",
    "entity": "Entity",
    "relation": "Relation",
    "goal": "Goal",
    "tool_invocation": "ToolInvocation",
}
"""The kinds that are drawn."""
TOOL, USER, CHANNEL = "Tool", "User", "Channel"
ALL_LABELS = (*LABELS.values(), TOOL, USER, CHANNEL)
VECTORED = tuple(LABELS[kind] for kind in SEARCHABLE)
"""What has a vector: what is searched."""

_HELD = ("valid_from", "valid_to", "recorded_at", "retired_at", "confidence")
_MEMORY = (*("content", *_HELD, "agent", "salience", "tense", "origin", "expires_at", "pinned"),)
_PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "conversation": ("title", "agent", "started_at", "last_at", "ended_at", "archived_at"),
    "turn": ("index", "role", "content", "at", "agent", "model", "tokens"),
    "fact": _MEMORY,
    "procedure": (*_MEMORY, "context", "successes", "failures", "last_used"),
    "episode": (*_MEMORY, "goal", "steps", "outcome", "lessons", "success"),
    "reflection": _MEMORY,
    "entity": ("name", "type", "aliases", "description", "salience", "first_seen", "last_seen"),
    "relation": ("type", *_HELD),
    "goal": ("description", "status", "priority", "agent", "created_at", "deadline", "closed_at", "result"),
    "tool_invocation": ("tool", "success", "latency_ms", "error", "at", "agent"),
}


class Edge(NamedTuple):
    """What leads from a record to those that it names, or, not `forward`, from them to it."""

    type: str
    label: str
    named: Callable[[Any], str | tuple[str, ...] | None]
    forward: bool = True

    def targets(self, record: Record) -> list[str]:
        named = self.named(record)
        several = named if isinstance(named, tuple) else (named,)
        return list(dict.fromkeys(target for target in several if target is not None))


def _somebody(record: Record) -> str:
    return "user"


def _promoted_from(memory: MemoryRecord) -> str | None:
    """One that was taken back is where it came from."""
    return None if memory.promoted_from == memory.channel else memory.promoted_from


def _succeeded_in(procedure: Procedure) -> tuple[str, ...]:
    """Turns that tasks began with; those that it does not cite are gone."""
    return tuple(turn for turn, went in counted(procedure).items() if went and turn in procedure.sources)


_CITES = Edge("DERIVED_FROM", "Turn", attrgetter("sources"))
_TOOLS = Edge("USES_TOOL", TOOL, attrgetter("tools"))
_MEMORYS = (
    _CITES,
    Edge("ABOUT", "Entity", attrgetter("about")),
    Edge("PROMOTED_FROM", CHANNEL, _promoted_from),
)


def _of_memory(kind: str) -> tuple[Edge, ...]:
    return *_MEMORYS, Edge("SUPERSEDES", LABELS[kind], attrgetter("supersedes"))


EDGES: Mapping[str, tuple[Edge, ...]] = {
    "conversation": (),
    "turn": (Edge("HAS_TURN", "Conversation", attrgetter("conversation"), forward=False),),
    "fact": _of_memory("fact"),
    "procedure": (*_of_memory("procedure"), _TOOLS, Edge("SUCCEEDED_IN", "Turn", _succeeded_in)),
    "episode": (*_of_memory("episode"), _TOOLS),
    "reflection": _of_memory("reflection"),
    "entity": (Edge("MENTIONS", "Turn", attrgetter("sources"), forward=False),),
    "relation": (
        Edge("HAS_RELATION", "Entity", attrgetter("source"), forward=False),
        Edge("RELATES_TO", "Entity", attrgetter("target")),
        _CITES,
    ),
    "goal": (
        Edge("HAS_GOAL", USER, _somebody, forward=False),
        Edge("SUBGOAL_OF", "Goal", attrgetter("parent")),
        Edge("BLOCKED_BY", "Goal", attrgetter("blocked_by")),
    ),
    "tool_invocation": (
        Edge("USED_TOOL", "Conversation", attrgetter("conversation"), forward=False),
        Edge("INVOKED", TOOL, attrgetter("tool")),
    ),
}
LINKS = ("DERIVED_FROM", "ABOUT", "BLOCKED_BY", "MENTIONS", "SUCCEEDED_IN")
"""What is a link in the store, which goes with what it leads to."""
FOLLOWED_BY = "FOLLOWED_BY"
"""From a turn to the next."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn, all of one user: what is gone, by kind; nodes, by kind, with vectors of a space;
    edges."""

    space: Space | None
    gone: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    nodes: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    edges: dict[tuple[str, Edge], list[Row]] = field(default_factory=dict[tuple[str, Edge], list[Row]])


def parts(drawing: Drawing, most: int) -> Iterator[Drawing]:
    """A large drawing in parts of so many records, what is gone first; records keep their edges."""
    gone = [(kind, id) for kind, ids in drawing.gone.items() for id in ids]
    nodes = [(kind, row) for kind, rows in drawing.nodes.items() for row in rows]
    if len(gone) + len(nodes) <= most:
        yield drawing
        return
    for at in range(0, len(gone), most):
        yield Drawing(drawing.space, gone=_grouped(gone[at : at + most]))
    edges: dict[tuple[str, str], list[tuple[tuple[str, Edge], Row]]] = {}
    for which, rows in drawing.edges.items():
        for row in rows:
            edges.setdefault((which[0], row["id"]), []).append((which, row))
    for at in range(0, len(nodes), most):
        some = nodes[at : at + most]
        theirs = [edge for kind, row in some for edge in edges.get((kind, row["id"]), ())]
        yield Drawing(drawing.space, nodes=_grouped(some), edges=_grouped(theirs))


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for group, one in pairs:
        groups.setdefault(group, []).append(one)
    return groups


def vector_name(space: Space) -> str:
    """The property that vectors of a space are in: of another model, they are other vectors."""
    return f"vector_{space.code}"


def drawn(view: UserView, entries: Iterable[FeedEntry], space: Space | None) -> Drawing:
    """The drawing of what a part of the feed names, as it is in this state of the store."""
    gone: dict[str, list[str]] = {}
    changed: dict[str, list[str]] = {}
    for entry in entries:
        ids = gone if entry.deleted else changed
        ids.setdefault(entry.kind, []).append(entry.id)
    drawing = Drawing(space, {kind: [key(id) for id in ids] for kind, ids in gone.items()})
    secret = view.secret()
    cited: dict[str, None] = {}
    for kind, ids in changed.items():
        vectors = _vectors(view, ids, space) if kind in SEARCHABLE and space is not None else {}
        for record in view.get(BY_KIND[kind], ids):
            _draw(drawing, record, vectors.get(record.id, {}), secret)
            cited |= dict.fromkeys(getattr(record, "sources", ()))
    for note in _notes(view, list(cited)):
        _draw(drawing, note, {}, secret)
    return drawing


def _notes(view: UserView, turns: Sequence[str]) -> Iterator[Turn]:
    """Those of the turns that are notes. They are not searched, so the feed names them only when they go."""
    for at in range(0, len(turns), TOGETHER):
        yield from view.find(Turn, {"id": list(turns[at : at + TOGETHER]), "role": Role.NOTE})


def _vectors(view: UserView, ids: Sequence[str], space: Space) -> dict[str, Row]:
    """The vector of each, of its first chunk; no more of a long one, as no more of its text."""
    first = {id: chunks[0].vector for id, chunks in view.chunks(ids, space).items()}
    return {id: {vector_name(space): one.tolist()} for id, one in first.items() if one is not None}


def _draw(drawing: Drawing, record: Record, vector: Row, secret: bytes) -> None:
    kind = record.kind
    id = key(_named(record.id, secret) if kind == "conversation" else record.id)
    row = _properties(record) | vector | {"id": id, "channel": key(getattr(record, "channel", ""))}
    if kind == "conversation":
        row["name"] = plain(record.id)
    if isinstance(record, Turn):
        row["conversation"] = key(_named(record.conversation, secret))
    drawing.nodes.setdefault(kind, []).append(row)
    for edge in EDGES[kind]:
        targets = edge.targets(record)
        if edge.label == "Conversation":
            targets = [_named(target, secret) for target in targets]
        rows = drawing.edges.setdefault((kind, edge), [])
        rows += [{"id": id, "target": key(target)} for target in targets]


def _named(conversation: str, secret: bytes) -> str:
    """What the feed calls a conversation that is gone: its own id is a name."""
    return hmac.digest(secret, conversation.encode("utf-8", "surrogatepass"), "sha256").hex()


def _properties(record: Record) -> Row:
    values = {name: _value(getattr(record, name)) for name in _PROPERTIES[record.kind]}
    return {name: value for name, value in values.items() if value is not None}


def _value(value: Any) -> Any:
    match value:
        case Enum():
            return str(value.value)
        case str():
            return plain(value)
        case tuple() | list():
            return [plain(str(one)) for one in cast(Sequence[Any], value)[:MOST_LISTED]]
        case None | bool() | int() | float() | datetime():
            return value
        case _:
            return plain(str(value))


def plain(text: str) -> str:
    """A text that every server takes, of a length that is worth looking at."""
    cut = text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"
    return cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


_BARE = re.compile(r"[%-}]*", re.ASCII)
_CODED = re.compile(r"[ ~]([0-9a-f]{2})")


def key(id: str) -> str:
    """An id, or a channel's name, in letters that every server has and sorts alike, and in the order that ids
    have: what is below them is written behind a blank, what is above behind a tilde. A dollar is below:
    not every server takes a value that begins with one for a value. Most stay as they are."""
    if _BARE.fullmatch(id):
        return id
    return "".join(_coded(byte) for byte in id.encode("utf-8", "surrogatepass"))


def _coded(byte: int) -> str:
    if 0x24 < byte < 0x7E:
        return chr(byte)
    return f"{' ' if byte <= 0x24 else '~'}{byte:02x}"


def id_of(key: str) -> str:
    """The id of a key."""
    if _BARE.fullmatch(key):
        return key
    return (
        _CODED.sub(lambda coded: chr(int(coded[1], 16)), key)
        .encode("latin-1")
        .decode("utf-8", "surrogatepass")
    )
