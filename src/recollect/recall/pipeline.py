"""The read path: gather, fuse, fetch, render. It never fails a request: what goes wrong is reported
in the recollection and memory is left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Invalid, StoreError, TooLarge
from recollect.limits import (
    check_number,
    check_text,
    check_texts,
    check_time,
    check_vector,
    check_whole,
)
from recollect.model.recollection import Hit, Recollection
from recollect.model.records import (
    BY_KIND,
    SEARCHABLE,
    Entity,
    MemoryRecord,
    Record,
    Role,
    Turn,
    searchable_text,
)
from recollect.model.search import Filter
from recollect.recall.fuse import Fused, fuse, ranked
from recollect.recall.gather import embed_query, gather, not_compared
from recollect.recall.render import render
from recollect.workspace import Workspace, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of recall. None stands for the settings' or the scope's own."""

    query: str
    top_k: int | None = None
    kinds: Sequence[str] | None = None
    threshold: float | None = None
    agent: str | None = None
    conversation: str | None = None
    exclude_conversation: str | None = None
    roles: Sequence[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: float = 0.0
    context_tokens: int | None = None
    vector: NDArray[np.float32] | Sequence[float] | None = None


def recall(work: Workspace, question: Question) -> Recollection:
    filter = _checked(work, question)
    settings = work.settings
    top_k = settings.top_k if question.top_k is None else question.top_k
    threshold = settings.threshold if question.threshold is None else question.threshold
    budget = settings.context_tokens if question.context_tokens is None else question.context_tokens
    watch = _Watch()
    vector, problem = _vector(work, question)
    watch.lap("embed")
    hits: list[Hit] = []
    problems = [problem] if problem else []
    try:
        if question.query.strip() or vector is not None:
            candidates = gather(
                work, question.query, vector, filter, threshold, max(settings.candidates, top_k)
            )
            watch.lap("gather")
            by_meaning = vector is not None
            if by_meaning and (problem := not_compared(work, candidates)):
                by_meaning = False
                problems.append(problem)
            fused = ranked(fuse(candidates, settings.semantic_weight, by_meaning), top_k)
            watch.lap("fuse")
            hits = _hits(work, fused, top_k)
            watch.lap("fetch")
    except StoreError as error:
        log.warning("Nothing recalled: %s", error)
        problems.append(f"Nothing recalled: {error}")
    context = render(hits, budget)
    watch.lap("render")
    return Recollection(
        query=question.query,
        hits=tuple(hits),
        context=context,
        problems=tuple(problems),
        timings_ms=watch.laps,
    )


class _Watch:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name] = (now - self._last) * 1000
        self._last = now


def _several(name: str, given: str | Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    names = check_texts(name, given)
    if unknown := set(names) - set(known):
        raise Invalid(f"The {name} are {', '.join(known)}; {min(unknown)!r} is not one.")
    return names


def _checked(work: Workspace, question: Question) -> Filter:
    if not isinstance(question.query, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The query must be text, not {type(question.query).__name__}.")
    if len(question.query) > work.settings.query_limit:
        raise TooLarge(
            f"The query has {len(question.query):,} characters; the limit is {work.settings.query_limit:,} "
            "(RECOLLECT_QUERY_LIMIT)."
        )
    if question.top_k is not None:
        check_whole("top_k", question.top_k, least=1)
    if question.context_tokens is not None:
        check_whole("context_tokens", question.context_tokens)
    if question.threshold is not None:
        check_number("threshold", question.threshold)
    check_number("min_confidence", question.min_confidence)
    for name in ("agent", "conversation", "exclude_conversation"):
        check_text(name, getattr(question, name))
    times = {
        name: check_time(name, value)
        for name in ("since", "until", "as_of", "known_at")
        if (value := getattr(question, name)) is not None
    }
    return Filter(
        now=work.clock.now(),
        kinds=SEARCHABLE if question.kinds is None else _several("kinds", question.kinds, SEARCHABLE),
        channels=work.scope.channels,
        agent=question.agent,
        conversation=question.conversation,
        exclude_conversation=question.exclude_conversation,
        roles=None if question.roles is None else _several("roles", question.roles, list(Role)),
        min_confidence=question.min_confidence,
        **times,
    )


def _vector(work: Workspace, question: Question) -> tuple[NDArray[np.float32] | None, str | None]:
    if question.vector is not None:
        return check_vector(question.vector, work.space), None
    return embed_query(work, question.query) if question.query.strip() else (None, None)


def _hits(work: Workspace, fused: Sequence[Fused], top_k: int) -> list[Hit]:
    """The best records behind what was found, each content once; one that was erased in the meantime
    is left out."""
    hits: list[Hit] = []
    seen: set[str] = set()
    for start in range(0, len(fused), top_k):
        some = fused[start : start + top_k]
        records = _fetched(work, some)
        for found in some:
            if found.id in records:
                hit = _hit(found, records[found.id])
                content = " ".join(hit.content.casefold().split())
                if content not in seen:
                    seen.add(content)
                    hits.append(hit)
        if len(hits) >= top_k:
            break
    return hits[:top_k]


def _fetched(work: Workspace, fused: Sequence[Fused]) -> dict[str, Record]:
    ids: dict[str, list[str]] = {}
    for found in fused:
        ids.setdefault(found.chunk.kind, []).append(found.id)
    return {
        record.id: record for kind, wanted in ids.items() for record in work.store.get(BY_KIND[kind], wanted)
    }


def _hit(found: Fused, record: Record) -> Hit:
    text = searchable_text(record)
    own: dict[str, Any]
    match record:
        case Turn():
            own = {
                "at": record.at,
                "agent": record.agent,
                "conversation": record.conversation,
                "role": str(record.role),
                "sources": (record.id,),
            }
        case MemoryRecord():
            own = {
                "at": record.valid_from,
                "agent": record.agent,
                "confidence": record.confidence,
                "valid_from": record.valid_from,
                "valid_to": record.valid_to,
                "sources": record.sources,
            }
        case Entity():
            own = {"at": record.first_seen, "sources": record.sources}
        case _:
            raise TypeError(f"A {record.kind} cannot be recalled.")
    return Hit(
        id=record.id,
        kind=record.kind,
        content=text,
        excerpt=text[found.chunk.start : found.chunk.stop],
        score=found.score,
        channel=record.channel,
        signals=found.signals,
        **own,
    )
