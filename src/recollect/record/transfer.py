"""Export and import: a user's whole memory as JSON Lines, there and back."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, cast

from recollect.errors import Conflict, Invalid, TooLarge
from recollect.limits import (
    TEXT_LIMIT,
    check_content,
    check_json,
    check_many,
    check_metadata,
    check_progress,
    check_text,
    check_texts,
)
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import (
    RECORD_TYPES,
    AuditEntry,
    Closet,
    Conversation,
    Goal,
    MemoryRecord,
    Profile,
    Record,
    Role,
    Tombstone,
    ToolInvocation,
    Turn,
    UserSettings,
)
from recollect.model.scope import check_name
from recollect.model.searched import searchable_text
from recollect.model.shapes import from_json, shapes, to_json
from recollect.record.memories import indexed_all, tombstone_digest
from recollect.record.turns import INDEX_LIMIT, digest
from recollect.workspace import Workspace, rereading

FORMAT = 1
LINE_OVERHEAD = 8
"""How many characters a line may have for each character of content: JSON escapes, and the rest."""


@dataclass(frozen=True, slots=True)
class Imported:
    """How many records of each kind were taken in, and how many were there already."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    unchanged: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def export(work: Workspace) -> Iterator[str]:
    """One JSON object a line: a header, then every record. Vectors are left out: they are computed."""
    header: dict[str, Any] = {"recollect": FORMAT, "user": work.scope.user}
    if work.store.count(Tombstone):
        header["secret"] = work.store.secret().hex()
    yield json.dumps(header)
    for kind in RECORD_TYPES:
        if kind is AuditEntry:  # tells what was done here, and a file could tell anything
            continue
        for record in work.store.find(kind):
            yield line_of(record)


def line_of(record: Record) -> str:
    """The record as a line of an export."""
    return json.dumps(to_json(record), allow_nan=False)


def import_(work: Workspace, lines: Iterable[str], progress: Callable[[int], None] | None = None) -> Imported:
    """Take in what `export` wrote. Taking in the same lines again changes nothing."""
    check_many("The lines", lines)
    check_progress(progress)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if _is_written(number, line))
    _read_header(work, numbered)
    tombstones = {tombstone.digest for tombstone in work.store.find(Tombstone)}
    counts: dict[str, int] = {}
    unchanged = 0
    while batch := list(islice(numbered, work.settings.batch_limit)):
        records = _distinct([(number, _read(work, number, line)) for number, line in batch])
        new = _take(work, [record for record in records if not _forgotten(work, tombstones, record)])
        unchanged += len(batch) - len(new)
        for record in new:
            counts[record.kind] = counts.get(record.kind, 0) + 1
        if progress:
            progress(sum(counts.values()) + unchanged)
    return Imported(counts, unchanged)


def _is_written(number: int, line: str) -> bool:
    if not isinstance(line, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"Line {number} must be text, not {type(line).__name__}.")
    return bool(line.strip())


@rereading
def _take(work: Workspace, given: Sequence[Record]) -> list[Record]:
    """Store those that are new, unless something was said or changed where they go in the meantime."""
    stored = _stored_conversations(work, given)
    records = _placed(work, given, stored)
    conversations = _conversations(records, stored)
    new, old = _new(work, [conversations.pop(r.id) if isinstance(r, Conversation) else r for r in records])
    grown, _ = _new(work, list(conversations.values()))
    if new or grown:
        touched = {r.id for r in (*grown, *new) if isinstance(r, Conversation)}
        touched |= {r.conversation for r in new if isinstance(r, Turn)}
        expected = [Expect("conversation", id, stored.get(id)) for id in sorted(touched)]
        logged = work.log("import", "records", count=len(new))
        work.apply(*expected, *old, *_puts(work, [*grown, *new]), *logged)
    return new


def _stored_conversations(work: Workspace, records: Sequence[Record]) -> dict[str, Conversation]:
    wanted = {r.id for r in records if isinstance(r, Conversation)}
    wanted |= {r.conversation for r in records if isinstance(r, Turn)}
    return {conversation.id: conversation for conversation in work.store.get(Conversation, sorted(wanted))}


def _read_header(work: Workspace, lines: Iterator[tuple[int, str]]) -> None:
    for number, line in lines:
        header = _object(work, number, line)
        if header.get("recollect") != FORMAT:
            raise Invalid(
                f"Line {number} is not the header of an export of format {FORMAT}. "
                "Import a file that `recollect export` wrote."
            )
        if "secret" in header and not work.store.adopt_secret(_secret(number, header)):
            raise Invalid(
                "This memory has forgotten things of its own, which an import with another key would forget "
                "to forget. Import into a new user."
            )
        return
    raise Invalid("There is nothing to import: the file is empty.")


def _secret(number: int, header: Mapping[str, Any]) -> bytes:
    try:
        secret = bytes.fromhex(header["secret"])
    except (KeyError, TypeError, ValueError):
        secret = b""
    if len(secret) != 32:
        raise Invalid(f"Line {number}: the header has no usable secret.")
    return secret


def _object(work: Workspace, number: int, line: str) -> Mapping[str, Any]:
    limit = work.settings.content_limit * LINE_OVERHEAD + work.settings.metadata_limit
    if len(line) > limit:
        raise TooLarge(f"Line {number} has {len(line):,} characters; the limit is {limit:,}.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"Line {number} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise Invalid(f"Line {number} is not a JSON object.")
    return cast("dict[str, Any]", value)


def _read(work: Workspace, number: int, line: str) -> Record:
    data = _object(work, number, line)
    try:
        record = from_json(data)
        _check_values(record)
        check_name("id", record.id)
        for name in ("channel", "conversation", "agent"):
            if (value := getattr(record, name, None)) is not None:
                check_name(name, value)
        _check_sizes(work, record)
        if isinstance(record, Turn) and record.digest != digest(record.content):
            raise Invalid("the turn's content does not match its hash; the file was changed")
        if isinstance(record, Closet):
            _check_place(record)
    except Invalid as error:
        raise type(error)(f"Line {number}: {error}") from None
    return record


def _check_sizes(work: Workspace, record: Record) -> None:
    """The limits that the verbs have."""
    limit = max(work.settings.content_limit, TEXT_LIMIT)
    check_content(getattr(record, "content", ""), work.settings)
    for shape in shapes(type(record)):
        value = getattr(record, shape.name)
        if shape.shape == "text":
            check_text(shape.name, value, limit)
        elif shape.shape == "tuple":
            check_texts(shape.name, value, limit)
        elif shape.shape == "json" and isinstance(record, ToolInvocation) and shape.name != "metadata":
            check_json(shape.name, value, limit, "RECOLLECT_CONTENT_LIMIT")
        elif shape.shape == "json":
            check_metadata(value, work.settings, shape.name)


def _check_values(record: Record) -> None:
    """Nothing missing that has to be there, and no number that a database cannot hold."""
    for f in fields(record):
        value = getattr(record, f.name)
        if value is None and f.default is not None and f.name not in ("input", "output"):
            raise Invalid(f"{f.name} is missing")
        if isinstance(value, float) and not math.isfinite(value):
            raise Invalid(f"{f.name} is not a finite number")
        if isinstance(value, int) and not 0 <= abs(value) <= INDEX_LIMIT:
            raise Invalid(f"{f.name} is too large")


def _check_place(closet: Closet) -> None:
    """Wings, rooms and closets count from 1: places are told apart, and added up, by their numbers."""
    if min(closet.wing, closet.room, closet.number) < 1 or not 0 <= closet.first <= closet.last:
        raise Invalid("the closet is in no place that there is; the file was changed")


def _distinct(numbered: Sequence[tuple[int, Record]]) -> list[Record]:
    """The records without those that are there twice."""
    found: dict[tuple[str, str], Record] = {}
    for number, record in numbered:
        if found.setdefault((record.kind, record.id), record) != record:
            raise Invalid(f"Line {number}: another {record.kind} with the id {record.id!r} came before.")
    return list(found.values())


def _forgotten(work: Workspace, tombstones: set[str], record: Record) -> bool:
    """Whether this memory, or the note of one, was forgotten here: an old export does not bring it back.
    Nor does it bring an audit of its own."""
    if isinstance(record, AuditEntry):
        return True
    if not tombstones or not (isinstance(record, MemoryRecord) or _is_note(record)):
        return False
    return tombstone_digest(work.store.secret(), getattr(record, "content", "")) in tombstones


def _is_note(record: Record) -> bool:
    return isinstance(record, Turn) and record.role is Role.NOTE


def _placed(
    work: Workspace, records: Sequence[Record], conversations: Mapping[str, Conversation]
) -> list[Record]:
    """The turns where they can go: where they were, or behind the others if another turn is there."""
    turns = [record for record in records if isinstance(record, Turn)]
    stored = {turn.id: turn for turn in work.store.get(Turn, [turn.id for turn in turns])}
    wanted: dict[str, list[int]] = {}
    for turn in turns:
        wanted.setdefault(turn.conversation, []).append(turn.index)
    taken = {
        (conversation, turn.index)
        for conversation, indexes in wanted.items()
        for turn in work.store.find(Turn, {"conversation": conversation, "index": indexes})
    }
    ends = {id: conversation.next_index for id, conversation in conversations.items()}
    ends = {name: max(ends.get(name, 0), *(index + 1 for index in wanted[name])) for name in wanted}
    placed: list[Record] = []
    for record in records:
        if isinstance(record, Turn):
            if record.id in stored:
                record = replace(record, index=stored[record.id].index)
            elif (record.conversation, record.index) in taken:
                record = replace(record, index=ends[record.conversation])
                ends[record.conversation] += 1
        placed.append(record)
    return placed


def _conversations(records: Sequence[Record], stored: Mapping[str, Conversation]) -> dict[str, Conversation]:
    """The conversations of a batch, joined with what is stored of them: the next turn goes behind all."""
    turns = [record for record in records if isinstance(record, Turn)]
    given = {record.id: record for record in records if isinstance(record, Conversation)}
    joined = {**stored, **given}
    for turn in turns:
        if turn.conversation not in joined:
            raise Invalid(
                f"Conversation {turn.conversation!r} of turn {turn.id} is missing; the file was changed."
            )
        joined[turn.conversation] = _reaching(joined[turn.conversation], turn.index + 1)
    for id in stored.keys() & given.keys():
        new, old = joined[id], stored[id]
        times = {"started_at": min(new.started_at, old.started_at), "last_at": max(new.last_at, old.last_at)}
        joined[id] = replace(_reaching(new, old.next_index), **times)
    return joined


def _reaching(conversation: Conversation, index: int) -> Conversation:
    return replace(conversation, next_index=max(conversation.next_index, index))


def _new(work: Workspace, records: Sequence[Record]) -> tuple[list[Record], list[Expect]]:
    """The records that are not stored yet just so, and what they replace."""
    by_kind: dict[type[Record], list[str]] = {}
    for record in records:
        by_kind.setdefault(type(record), []).append(record.id)
    stored = {(kind, r.id): r for kind, ids in by_kind.items() for r in work.store.get(kind, ids)}
    kept = [_as_since(record, stored.get((type(record), record.id))) for record in records]
    new = [record for record in kept if _adds(record, stored.get((type(record), record.id)))]
    return new, [Expect(r.kind, r.id, stored.get((type(r), r.id))) for r in new]


def _as_since(record: Record, stored: Record | None) -> Record:
    """The record, still pinned, renewed and promoted if it was since the export."""
    if not (isinstance(record, MemoryRecord) and isinstance(stored, MemoryRecord)):
        return record
    ends = (record.expires_at, stored.expires_at)
    moved = stored if record.promoted_from is None else record
    return replace(
        record,
        pinned=record.pinned or stored.pinned,
        expires_at=None if None in ends else max(end for end in ends if end is not None),
        channel=moved.channel,
        promoted_from=moved.promoted_from,
    )


def _adds(record: Record, stored: Record | None) -> bool:
    """Whether the record says more than what is stored of it. An old export undoes nothing: what was
    corrected or closed since then stays so, and no content is ever replaced."""
    if stored is None or stored == record:
        return stored is None
    if isinstance(stored, MemoryRecord) and isinstance(record, MemoryRecord) and _is_later(stored, record):
        return False
    if getattr(stored, "content", None) != getattr(record, "content", None):
        raise Conflict(f"The {record.kind} {record.id} is already stored with another content.")
    match stored, record:
        case MemoryRecord(), MemoryRecord():
            return stored.superseded_by is None or record.superseded_by is not None
        case Goal(), Goal():
            return stored.closed_at is None or record.closed_at is not None
        case (Profile(), Profile()) | (UserSettings(), UserSettings()):
            return stored.updated_at <= record.updated_at
        case Closet(), Closet():  # a place that is taken, or was erased, is not given to others
            return stored.conversation == record.conversation and stored.last < record.last
        case _:
            return True


def _is_later(stored: MemoryRecord, record: MemoryRecord) -> bool:
    """Whether others were merged into it since the export, or it was made again of what was said since: only
    a memory that somebody has saved keeps its words for ever."""
    worded = stored.content != record.content and stored.origin != "explicit"
    return worded or not {*stored.sources} <= {*record.sources}


def _puts(work: Workspace, records: list[Record]) -> list[Change]:
    searchable = [record for record in records if searchable_text(record).strip()]
    chunks = dict(zip((r.id for r in searchable), indexed_all(work, searchable), strict=True))
    return [Put(record, chunks.get(record.id)) for record in records]
