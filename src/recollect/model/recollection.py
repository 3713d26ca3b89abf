"""What recall returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


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
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The memories for one question, best first, and the block to give to a model."""

    query: str
    hits: tuple[Hit, ...] = ()
    context: str = ""
    """One `<memory_context>` block, or nothing at all when nothing was found."""
    problems: tuple[str, ...] = ()
    """What could not be used and why, for instance an embedder that is down."""
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])

    def __bool__(self) -> bool:
        return bool(self.hits)

    def explain(self) -> str:
        """Why each memory is here: its score signal by signal, and its sources."""
        lines = [f"{len(self.hits)} memories for {self.query!r}"]
        for place, hit in enumerate(self.hits, 1):
            signals = "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())
            lines.append(f"{place}. {hit.score:.3f}  {hit.kind} {hit.id}  {hit.at:%Y-%m-%d %H:%M}")
            lines.append(f"   {signals}")
            if hit.sources:
                lines.append(f"   from {', '.join(hit.sources)}")
            lines.append(f"   {hit.content[:200]}")
        lines += [f"! {problem}" for problem in self.problems]
        lines.append("   ".join(f"{step} {ms:.1f} ms" for step, ms in self.timings_ms.items()))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something in a timeline: a turn that was said, a memory that began or ended."""

    at: datetime
    what: str
    kind: str
    id: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
