"""A question as it is asked, and as it is once it was checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Invalid, StoreError, TooLarge
from recollect.limits import (
    check_flag,
    check_number,
    check_text,
    check_texts,
    check_time,
    check_vector,
    check_whole,
    shown,
)
from recollect.model.records import SEARCHABLE, Role
from recollect.model.search import Filter
from recollect.recall.techniques import configured, switched
from recollect.wishes import Wishes, chosen
from recollect.workspace import Workspace

INCLUDED = ("goals", "profile", "related")
HISTORY_LIMIT = 1000
"""The most messages of a conversation that are looked at."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of recall. None stands for the settings' or the scope's own."""

    query: str
    history: Sequence[str | Mapping[str, Any]] | None = ()
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
    vector: Vector | Sequence[float] | None = None
    techniques: Mapping[str, bool] | None = None
    include: Sequence[str] = ()
    explain: bool = False
    count: bool = True
    """Whether what is found counts as returned; not for somebody who only looks."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was checked, with every default filled in."""

    query: str
    said: tuple[str, ...]
    """What the user said before in this conversation, oldest first."""
    shown: frozenset[str]
    """Everything that the model has in front of it already, as `same` makes it."""
    filter: Filter
    top_k: int
    threshold: float
    context_tokens: int
    vector: Vector | None
    on: frozenset[str]
    include: frozenset[str]
    explain: bool
    rerank_model: str | None = None


def checked(work: Workspace, question: Question, wishes: Wishes) -> Asked:
    """What is asked, else what the user has set, else the deployment's."""
    _check_query(question.query, work.settings.query_limit)
    settings = work.settings
    check_flag("count", question.count)
    if question.top_k is not None:
        check_whole("top_k", question.top_k, least=1)
    if question.context_tokens is not None:
        check_whole("context_tokens", question.context_tokens)
    if question.threshold is not None:
        check_number("threshold", question.threshold)
    history = () if question.history is None else _listed(question.history)
    messages = [_message(item) for item in history[-HISTORY_LIMIT:]]
    on = configured(settings.techniques)
    if wishes.rerank is not None:
        on = on | {"rerank"} if wishes.rerank else on - {"rerank"}
    return Asked(
        query=question.query,
        said=tuple(content for role, content in messages if role == Role.USER),
        shown=frozenset(same(content) for _, content in messages),
        filter=_filter(work, question),
        top_k=chosen(question.top_k, chosen(wishes.top_k, settings.top_k)),
        threshold=chosen(question.threshold, chosen(wishes.threshold, settings.threshold)),
        context_tokens=chosen(
            question.context_tokens, chosen(wishes.context_tokens, settings.context_tokens)
        ),
        vector=None if question.vector is None else check_vector(question.vector, work.space),
        on=on if question.techniques is None else switched(on, question.techniques),
        include=frozenset(_several("include", question.include, INCLUDED)),
        explain=check_flag("explain", question.explain),
        rerank_model=wishes.rerank_model,
    )


def same(content: str) -> str:
    """Two contents with the same of this say the same."""
    return " ".join(content.casefold().split())


def _check_query(query: str, limit: int) -> None:
    if not isinstance(query, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The query must be text, not {type(query).__name__}.")
    if len(query) > limit:
        raise TooLarge(
            f"The query has {len(query):,} characters; the limit is {limit:,} (RECOLLECT_QUERY_LIMIT)."
        )


def _listed(history: Sequence[Any]) -> Sequence[Any]:
    if isinstance(history, str) or not isinstance(history, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"The history is a list of messages, not {shown(history)}.")
    return history


def _message(item: str | Mapping[str, Any]) -> tuple[str, str]:
    """Who said what. A text alone is the user's; content in parts, as in chat requests, is their text."""
    if isinstance(item, str):
        return Role.USER, item
    if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(
            f"A message of the history is a text or a dict with role and content, not {shown(item)}."
        )
    content: Any = item.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        texts: list[Any] = [part.get("text") for part in content if isinstance(part, Mapping)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return str(item.get("role", Role.USER)), content if isinstance(content, str) else ""


def _filter(work: Workspace, question: Question) -> Filter:
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
        channels=channels_of(work),
        agent=question.agent,
        conversation=question.conversation,
        exclude_conversation=question.exclude_conversation,
        roles=None if question.roles is None else _several("roles", question.roles, list(Role)),
        min_confidence=question.min_confidence,
        **times,  # pyright: ignore[reportArgumentType]
    )


def channels_of(work: Workspace) -> tuple[str, ...]:
    """The channels that a question is answered from."""
    try:
        return work.channels
    except StoreError:  # the search will say so; until then nothing of another channel is read
        return (work.scope.channel,)


def _several(name: str, given: str | Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    names = check_texts(name, given)
    if unknown := set(names) - set(known):
        raise Invalid(f"The {name} are {', '.join(known)}; {min(unknown)!r} is not one.")
    return names
