"""The write path for what was said."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Invalid
from recollect.limits import (
    check_content,
    check_many,
    check_metadata,
    check_progress,
    check_text,
    check_time,
    check_vectors,
    check_whole,
    shown,
)
from recollect.model.changes import Append, Chunk, TurnDraft
from recollect.model.records import Json, Role, Turn
from recollect.model.scope import check_name
from recollect.ports.store import UserView
from recollect.record.retention import quotas
from recollect.settings import Settings
from recollect.text.chunk import estimate_tokens, spans
from recollect.workspace import Workspace

INDEX_LIMIT = 2**31 - 1
TOKEN_LIMIT = 2**31
TOGETHER = 500
"""Of how many turns the times are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something said, on its way to becoming a turn.

    Without `index` it is appended; with one, recording it twice changes nothing. `vector` is for
    callers that have computed it themselves, in the embedder's space.
    """

    role: str
    content: str
    conversation: str | None = None
    index: int | None = None
    at: datetime | None = None
    zone: str | None = None
    model: str | None = None
    tokens: int | None = None
    title: str | None = None
    metadata: Json = field(default_factory=dict[str, Any])
    vector: NDArray[np.float32] | Sequence[float] | None = field(default=None, compare=False)


_ROLES: dict[str, Role] = {role.value: role for role in Role}
_FIELDS = frozenset(f.name for f in fields(Message))


def as_message(given: Message | Mapping[str, Any]) -> Message:
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping) or not {"role", "content"} <= given.keys():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid("A turn is a Message or a dict with at least a role and a content.")
    if unknown := set(given) - _FIELDS:
        first = shown(min(unknown, key=str))
        raise Invalid(f"A turn has no field {first}; it has {', '.join(sorted(_FIELDS))}.")
    try:
        return Message(**given)
    except TypeError as error:
        raise Invalid(f"Not a turn: {error}.") from None


def record(
    work: Workspace,
    messages: Iterable[Message | Mapping[str, Any]],
    progress: Callable[[int], None] | None = None,
    conversation: str | None = None,
) -> list[Turn]:
    """Store messages as turns, in order, each durable when this returns."""
    check_many("The turns", messages)
    check_progress(progress)
    check_text("conversation", conversation)
    turns: list[Turn] = []
    made = check_name("conversation", conversation or work.scope.conversation or work.new_id())
    for batch in _batches((as_message(message) for message in messages), work.settings.batch_limit):
        drafts = plan_turns(work, batch, made)
        known = _known(work, drafts)
        unknown = [draft for draft in drafts if (draft.conversation, draft.index) not in known]
        ready = {draft.id: draft for draft in embedded(work, unknown)}
        append = Append(tuple(ready.get(draft.id, draft) for draft in drafts))
        logged = work.log("record", "conversation", kind="turn", conversation=_only(drafts), turns=True)
        turns += work.apply(append, *quotas(work, turns=True), *logged).turns
        if progress:
            progress(len(turns))
    return turns


def _only(drafts: Sequence[TurnDraft]) -> str | None:
    """The conversation that all of them are in."""
    found = {draft.conversation for draft in drafts}
    return found.pop() if len(found) == 1 else None


def _known(work: Workspace, drafts: Sequence[TurnDraft]) -> set[tuple[str, int]]:
    """Which places are taken already: what is recorded again is not embedded again."""
    places: dict[str, list[int]] = {}
    for draft in drafts:
        if draft.index is not None:
            places.setdefault(draft.conversation, []).append(draft.index)
    return {
        (conversation, turn.index)
        for conversation, indexes in places.items()
        for turn in work.store.find(Turn, {"conversation": conversation, "index": indexes})
    }


def plan_turns(work: Workspace, messages: Sequence[Message], conversation: str) -> list[TurnDraft]:
    """Checked messages as drafts, chunked but without vectors except those that came with them."""
    now = work.clock.now()
    roles = [check_message(message, work.settings) for message in messages]
    given = [
        None if role is Role.NOTE else message.vector for role, message in zip(roles, messages, strict=True)
    ]
    vectors = iter(check_vectors([vector for vector in given if vector is not None], work.space))
    return [
        _draft(work, id, message, role, conversation, now, None if vector is None else next(vectors))
        for id, message, role, vector in zip(work.new_ids(len(messages)), messages, roles, given, strict=True)
    ]


def check_message(message: Message, settings: Settings) -> Role:
    """Its role; `Invalid` unless the message can be stored as it is. Its vector is checked when it is
    used."""
    role = _role(message.role)
    check_content(message.content, settings)
    if message.metadata != {}:  # as most are; the check takes longer
        check_metadata(message.metadata, settings)
    if message.conversation is not None:
        check_name("conversation", message.conversation)
    if message.index is not None:
        check_whole("The index of a turn", message.index, INDEX_LIMIT)
    if message.tokens is not None:
        check_whole("tokens", message.tokens, TOKEN_LIMIT)
    if message.at is not None:
        check_time("at", message.at)
    if message.zone is not None:
        _check_zone(message.zone)
    if message.model is not None:
        check_text("model", message.model)
    if message.title is not None:
        check_text("title", message.title)
    return role


def _draft(
    work: Workspace,
    id: str,
    message: Message,
    role: Role,
    conversation: str,
    now: datetime,
    vector: NDArray[np.float32] | None,
) -> TurnDraft:
    """A checked message as a draft."""
    return TurnDraft(
        id=id,
        conversation=message.conversation or conversation,
        index=message.index,
        role=role,
        content=message.content,
        at=now if message.at is None else message.at.astimezone(UTC),
        recorded_at=now,
        digest=digest(message.content),
        channel=work.scope.channel,
        agent=work.scope.agent,
        zone=message.zone,
        model=message.model,
        tokens=estimate_tokens(message.content) if message.tokens is None else message.tokens,
        metadata=message.metadata,
        title=message.title,
        chunks=() if role is Role.NOTE else _chunks(message.content, vector),
    )


def digest(content: str) -> str:
    """The hash by which the same content is known again."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _role(role: str) -> Role:
    known = _ROLES.get(role) if isinstance(role, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if known is None:
        raise Invalid(f"The role must be one of {', '.join(Role)}, not {shown(role)}.")
    return known


def _check_zone(name: str) -> None:
    check_text("zone", name)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"There is no time zone {name!r}; use a name like Europe/Lisbon.") from None


def _chunks(content: str, vector: NDArray[np.float32] | None) -> tuple[Chunk, ...]:
    if vector is None:
        return tuple(Chunk(start, stop) for start, stop in spans(content))
    return (Chunk(0, len(content), vector),)


def embedded(work: Workspace, drafts: Sequence[TurnDraft]) -> tuple[TurnDraft, ...]:
    """The drafts with vectors for every chunk that has none yet."""
    missing = [
        draft.content[chunk.start : chunk.stop]
        for draft in drafts
        for chunk in draft.chunks
        if chunk.vector is None
    ]
    if not missing:
        return tuple(drafts)
    vectors = iter(work.embed(missing))
    return tuple(_filled(draft, vectors) for draft in drafts)


def _filled(draft: TurnDraft, vectors: Iterator[NDArray[np.float32] | None]) -> TurnDraft:
    chunks = tuple(c if c.vector is not None else Chunk(c.start, c.stop, next(vectors)) for c in draft.chunks)
    return replace(draft, chunks=chunks)


def _batches(messages: Iterator[Message], size: int) -> Iterator[list[Message]]:
    while batch := list(islice(messages, size)):
        yield batch


def said_at(view: UserView, turns: Sequence[str]) -> dict[str, datetime]:
    """When each of the turns was said, of those that there are."""
    groups = (list(turns[start : start + TOGETHER]) for start in range(0, len(turns), TOGETHER))
    return dict(found for ids in groups for found in view.fields(Turn, ("id", "at"), {"id": ids}))
