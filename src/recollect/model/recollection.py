"""What recall returns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from recollect.model.records import Entity, Goal, Profile, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One memory that was found, why, and where it comes from."""

    id: str
    kind: str
    content: str
    excerpt: str
    """The part of the content that was found; all of it when it is short."""
    score: float
    at: datetime
    channel: str
    agent: str | None = None
    conversation: str | None = None
    role: str | None = None
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    sources: tuple[str, ...] = ()
    citation: str | None = None
    """The pointer by which an answer cites it, if it has one."""
    says: tuple[str, ...] = ()
    """Facts that were found too and that it says: they are not told beside it, and count as returned."""
    went: str = ""
    """How what it tells of went: "went well 3 of 4 times", "failed"."""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])
    """What its score is made of."""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """When it is explained: what each signal adds to the score, so that they add up to it."""
    paths: tuple[str, ...] = ()
    """How it was found."""


class Used(NamedTuple):
    """A step that was taken, or a technique that was used in one."""

    name: str
    ms: float
    found: int = 0
    note: str = ""


class LeftOut(NamedTuple):
    """A memory that was found and is no hit, and why."""

    id: str
    kind: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The memories for one question, best first, and the block to give to a model."""

    query: str
    hits: tuple[Hit, ...] = ()
    context: str = ""
    """One `<memory_context>` block, or nothing at all when nothing was found."""
    context_tokens: int = 0
    """About how many tokens of a model's the block takes."""
    told: tuple[str, ...] = ()
    """The ids of the hits that the block has room for, in its order."""
    problems: tuple[str, ...] = ()
    """What could not be used and why, for instance an embedder that is down."""
    skipped: str | None = None
    """Why nothing was searched: a greeting, a request to a tool, general knowledge."""
    used: tuple[Used, ...] = ()
    """What was done, step by step, with how long it took and how much it found."""
    left_out: tuple[LeftOut, ...] = ()
    goals: tuple[Goal, ...] = ()
    profile: Profile | None = None
    related: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What is known to be related to the entities among the hits, by name."""

    def __bool__(self) -> bool:
        return bool(self.hits)

    @property
    def timings_ms(self) -> dict[str, float]:
        """How long each step took."""
        return {step.name: step.ms for step in self.used}

    def of(self, kind: str) -> tuple[Hit, ...]:
        """The hits of one kind."""
        return tuple(hit for hit in self.hits if hit.kind == kind)

    def compact(self) -> dict[str, Any]:
        """The hits as small as can be, for a tool's answer: what is empty is left out."""
        rows = [
            {
                "id": hit.id,
                "kind": hit.kind,
                "content": hit.content,
                "score": round(hit.score, 3),
                "at": hit.at.isoformat(timespec="seconds"),
                "role": hit.role,
                "went": hit.went,
                "until": hit.valid_to and hit.valid_to.isoformat(timespec="seconds"),
                "conversation": hit.conversation,
                "citation": hit.citation,
            }
            for hit in self.hits
        ]
        found = {
            "memories": [{name: value for name, value in row.items() if value} for row in rows],
            "skipped": self.skipped,
            "problems": list(self.problems),
        }
        return {name: value for name, value in found.items() if value}

    def explain(self) -> str:
        """Why each memory is here: its score signal by signal, how it was found, where it comes from;
        what was left out and why; and what each step took."""
        memories = "1 memory" if len(self.hits) == 1 else f"{len(self.hits)} memories"
        lines = [f"{memories} for {self.query[:200]!r}"]
        if self.skipped:
            lines.append(f"Not searched: {self.skipped}.")
        for place, hit in enumerate(self.hits, 1):
            lines += _explained(place, hit)
        lines += [f"- {out.kind} {out.id} ({out.score:.3f}): {out.reason}" for out in self.left_out]
        lines += [f"! {problem}" for problem in self.problems]
        lines += [
            f"  {step.name:<10} {step.ms:7.1f} ms  {step.found or '':>4}  {step.note}".rstrip()
            for step in self.used
        ]
        return "\n".join(lines)


def _explained(place: int, hit: Hit) -> Iterator[str]:
    yield f"{place}. {hit.score:.3f}  {hit.kind} {hit.id}  {hit.at:%Y-%m-%d %H:%M}"
    yield "   " + "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items() if value)
    if hit.paths:
        yield f"   found by {', '.join(hit.paths)}"
    if hit.sources:
        yield f"   from {', '.join(hit.sources)}"
    yield f"   {hit.content[:200]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something in a timeline: a turn that was said, a memory or a relation that began or ended."""

    at: datetime
    what: str
    kind: str
    id: str
    content: str
    valid_to: datetime | None = None
    """Until when it holds, if that is known; it began to at its first event."""
    sources: tuple[str, ...] = ()
    """The turns that say so."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """An entity, those around it, the nearest first, and the relations that lead there."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...] = ()
