"""The write path for what somebody wants remembered as it is: save, correct, pin."""

import hmac
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from recollect.errors import Conflict, Invalid, NotFound
from recollect.limits import (
    check_content,
    check_flag,
    check_given,
    check_many,
    check_metadata,
    check_number,
    check_text,
    check_texts,
    check_time,
    shown,
)
from recollect.model.changes import Append, Change, Chunk, Expect, ExpectOnly, Log, Put, Revise
from recollect.model.records import (
    DERIVED,
    MEMORY_KINDS,
    MEMORY_TYPES,
    Entity,
    MemoryRecord,
    Record,
    Role,
)
from recollect.model.scope import check_name
from recollect.model.searched import searchable_text
from recollect.model.shapes import FieldShape, shapes
from recollect.record.retention import TTL, mortal, quotas, renewed
from recollect.record.turns import Message, plan_turns
from recollect.text.chunk import spans
from recollect.text.names import name_key
from recollect.workspace import Workspace, rereading

NOTES = "_notes"
"""The conversation of explicit saves that were made outside of one."""

SLOT_LIMIT = 1000
"""The most characters of a slot that somebody names."""

_TYPES = {kind.kind: kind for kind in MEMORY_TYPES}
_OWN_FIELDS = frozenset(f.name for f in fields(MemoryRecord))
_GIVEN = ("valid_from", "valid_to", "expires_at", "confidence", "salience", "pinned", "metadata", "tense")


def as_items(items: Iterable[str | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What is to be remembered; a text stands for a fact."""
    check_many("The memories", items)
    given = [{"content": item} if isinstance(item, str) else item for item in items]
    if odd := [item for item in given if not isinstance(item, Mapping)]:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"A memory is a text or a dict with at least a content, not {shown(odd[0])}.")
    return given


Leaving = Callable[[Workspace, Sequence[MemoryRecord]], Sequence[Change]]
"""What has to change for memories to make way for others."""


@rereading
def remember(work: Workspace, given: Sequence[Mapping[str, Any]], leaving: Leaving) -> list[MemoryRecord]:
    """Store memories as given, each citing a verbatim note of itself, all or none."""
    changes: list[Change] = []
    memories: list[MemoryRecord] = []
    entities: dict[str, Entity] = {}
    for item in given:
        note, memory, about = _plan(work, item, entities)
        changes.append(note)
        for entity in about:
            changes += [Expect("entity", entity.id, None), Put(entity, indexed(work, entity))]
        memories.append(memory)
    changes += _in_place(work, memories, [item.get("replaces") for item in given], leaving)
    texts = indexed_all(work, memories)
    changes += (Put(memory, chunks) for memory, chunks in zip(memories, texts, strict=True))
    changes += (log for memory in memories for log in _logged(work, "remember", memory))
    work.apply(*changes, *quotas(work, turns=True, memories=True))
    return memories


def _in_place(
    work: Workspace, memories: Sequence[MemoryRecord], replaces: Sequence[Any], leaving: Leaving
) -> list[Change]:
    """What was remembered in the same slots goes: in each there is one memory."""
    changes: list[Change] = []
    for kind in {memory.kind for memory in memories if memory.slot}:
        given = [(m.slot, id) for m, id in zip(memories, replaces, strict=True) if m.slot and m.kind == kind]
        expected = dict(given)
        if len(expected) < len(given):
            raise Invalid("A slot holds one memory: two were given for the same one.")
        where = {"slot": sorted(expected), "channel": work.scope.channel}
        old = list(work.store.find(_TYPES[kind], where))
        latest = {memory.slot: memory.id for memory in old if memory.superseded_by is None}
        if any(id is not None and latest.get(slot) != id for slot, id in expected.items()):
            raise Conflict("Something else has been remembered in that slot since: read it again.")
        changes.append(ExpectOnly(kind, where, frozenset(memory.id for memory in old)))
        changes += leaving(work, old) if old else ()
    return changes


@rereading
def correct(work: Workspace, id: str, content: str, since: datetime | None) -> MemoryRecord:
    """A new memory in place of an old one, whose validity ends when the new one's starts."""
    old = find_memory(work, id)
    if old.superseded_by is not None:
        raise Invalid(f"{id} was corrected already: correct {old.superseded_by} instead.")
    now = work.clock.now()
    start = now if since is None else check_time("since", since)
    note, memory, _ = _plan(work, {"content": content, "kind": old.kind, "valid_from": start}, {})
    kept = {f.name: getattr(old, f.name) for f in fields(old) if f.name not in _OWN_FIELDS}
    metadata = {name: value for name, value in old.metadata.items() if name not in (*DERIVED, TTL)}
    memory = replace(
        memory,
        supersedes=old.id,
        channel=old.channel,
        about=old.about,
        slot=old.slot,
        promoted_from=old.promoted_from,
        pinned=old.pinned,
        expires_at=None,
        metadata=metadata,
        salience=old.salience,
        **kept,
    )
    memory = mortal(memory, work.retention(old.channel), now)
    ended: dict[str, Any] = {
        "valid_to": ended_at(old.valid_to, old.valid_from, start),
        "stated_to": old.valid_to,
        "superseded_by": memory.id,
    }
    if start <= now:
        ended["retired_at"] = now  # otherwise it holds until then
    work.apply(
        Expect(old.kind, old.id, old),
        note,
        Put(memory, indexed(work, memory)),
        Revise(old.kind, old.id, ended),
        *_logged(work, "correct", memory),
    )
    return memory


def _logged(work: Workspace, operation: str, memory: MemoryRecord) -> tuple[Log, ...]:
    return work.log(operation, f"{memory.kind} {memory.id}", kind=memory.kind)


def ended_at(stated: datetime | None, began: datetime, corrected: datetime) -> datetime:
    """When a corrected memory ceased to hold: at the correction, unless it had ended by itself."""
    end = max(corrected, began)
    return end if stated is None else min(stated, end)


@rereading
def pin(work: Workspace, id: str, pinned: bool) -> MemoryRecord:
    """Exempt a memory from decay, expiry and quotas, or no longer."""
    check_flag("pinned", pinned)
    old, now = find_memory(work, id), work.clock.now()
    memory = replace(old, pinned=pinned)
    if old.pinned and not pinned:  # it lives on from here, whatever has run out meanwhile
        policy = work.retention(memory.channel)
        memory = renewed(mortal(memory, policy, now), policy, now)
    changed = {name: getattr(memory, name) for name in ("pinned", "expires_at", "metadata")}
    logged = _logged(work, "pin" if pinned else "unpin", memory)
    work.apply(Expect(old.kind, id, old), Revise(old.kind, id, changed), *logged)
    return memory


def find_memory(work: Workspace, id: str) -> MemoryRecord:
    check_given("id", id)
    for found in work.store.get(MemoryRecord, [id]):
        return found
    raise NotFound(f"There is no memory {id!r}.")


def tombstone_digest(secret: bytes, content: str) -> str:
    """What a tombstone keeps of a forgotten content: enough to know it again, nothing to read."""
    normal = " ".join(content.casefold().split())
    return hmac.digest(secret, normal.encode("utf-8", "surrogatepass"), "sha256").hex()


def indexed(work: Workspace, record: Record) -> tuple[Chunk, ...]:
    return indexed_all(work, [record])[0]


def indexed_all(work: Workspace, records: Sequence[Record]) -> list[tuple[Chunk, ...]]:
    """The chunks of records, with vectors where the embedder gives them."""
    texts = [searchable_text(record) for record in records]
    cut = [spans(text) for text in texts]
    vectors = iter(work.embed([t[a:b] for t, parts in zip(texts, cut, strict=True) for a, b in parts]))
    return [tuple(Chunk(a, b, next(vectors)) for a, b in parts) for parts in cut]


def _plan(
    work: Workspace, item: Mapping[str, Any], entities: dict[str, Entity]
) -> tuple[Append, MemoryRecord, list[Entity]]:
    """The note, the memory that cites it, and the entities that are new."""
    values = dict(item)
    content, kind = values.pop("content", None), values.pop("kind", "fact")
    if not isinstance(content, str) or not content.strip():
        raise Invalid("There is nothing to remember: give the content as text.")
    if not isinstance(kind, str) or kind not in MEMORY_KINDS:
        raise Invalid(f"The kind must be one of {', '.join(MEMORY_KINDS)}, not {shown(kind)}.")
    check_content(content, work.settings)
    if values.get("metadata") is not None:
        check_metadata(values["metadata"], work.settings)
    slot = _own_slot(values.pop("slot", None), values.pop("replaces", None))
    own = check_text("conversation", values.pop("conversation", None))
    conversation = own or work.scope.conversation or NOTES
    now = work.clock.now()
    (draft,) = plan_turns(
        work, [Message(role=Role.NOTE, content=content, conversation=conversation)], conversation
    )
    about, new = _entities(work, values.pop("about", None), entities)
    given: dict[str, Any] = {
        "valid_from": now,
        "confidence": work.settings.explicit_confidence,
        **_checked(work, kind, values),
    }
    if given.get("valid_to") is not None and given["valid_to"] < given["valid_from"]:
        raise Invalid("A memory cannot end before it begins: valid_to is before valid_from.")
    memory = _TYPES[kind](
        id=work.new_id(),
        content=content,
        recorded_at=now,
        channel=work.scope.channel,
        agent=work.scope.agent,
        sources=(draft.id,),
        about=about,
        slot=slot,
        **given,
    )
    return Append((draft,)), mortal(memory, work.retention(), now), new


def _own_slot(slot: Any, replaces: Any) -> str | None:
    """The slot, which must not be taken for one that mining makes."""
    check_text("replaces", replaces)
    if check_text("slot", slot, SLOT_LIMIT) is None:
        if replaces is not None:
            raise Invalid("`replaces` names what is in a slot: give the slot as well.")
        return None
    if not slot or "|" in slot or slot.startswith("="):
        raise Invalid("A slot of your own is not empty, has no '|' and does not begin with '='.")
    return slot


def _checked(work: Workspace, kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """The fields a caller may set on a memory of this kind."""
    shaped = {field.name: field for field in shapes(_TYPES[kind])}
    own = set(shaped) - _OWN_FIELDS
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in own and name not in _GIVEN:
            raise Invalid(
                f"A {kind} has no field {shown(name)} to set; it has {', '.join(sorted([*own, *_GIVEN]))}."
            )
        if value is None:
            continue
        checked[name] = _value(shaped[name], value, work.settings.content_limit)
        if name in ("confidence", "salience"):
            check_number(f"The {name}", value, 0, 1)
    return checked


def _value(field: FieldShape, value: Any, limit: int) -> Any:
    """The value as its field takes it: what is stored must be readable ever after."""
    match field.shape:
        case "time":
            return check_time(field.name, value)
        case "enum" if isinstance(value, str) and value in list(field.type):
            return field.type(value)
        case "tuple" if type(value) in (tuple, list):
            return check_texts(field.name, value, limit)
        case "number" if type(value) is field.type or (type(value), field.type) == (int, float):
            return value
        case "text" if type(value) is str:
            return check_given(field.name, value, limit)
        case "json":  # checked as metadata
            return value
        case _:
            raise Invalid(f"The {field.name} cannot be {shown(value)}.")


def _entities(
    work: Workspace, given: Sequence[str] | None, known: dict[str, Entity]
) -> tuple[tuple[str, ...], list[Entity]]:
    """The ids of the entities with these names, and those among them that did not exist."""
    texts = () if given is None else check_texts("about", given, work.settings.content_limit)
    names = list(dict.fromkeys(texts))
    new: list[Entity] = []
    secret = work.store.secret() if names else b""
    for name in names:
        check_name("about", name)
        if name in known:
            continue
        called = list(work.store.find(Entity, {"name": name}))
        if not called:  # it may be known by another name
            called = work.store.get(Entity, list(work.store.linking("keys", [name_key(secret, name)])))
        found = [entity for entity in called if work.reaches(entity.channel)][:1]
        if not found:
            made = Entity(
                id=entity_id(secret, name, work.scope.channel if called else None),
                name=name,
                keys=(name_key(secret, name),),
                first_seen=work.clock.now(),
                channel=work.scope.channel,
            )
            found = [made]
            new.append(made)
        known[name] = found[0]
    return tuple(known[name].id for name in names), new


def entity_id(secret: bytes, name: str, channel: str | None = None) -> str:
    """The same for everybody who meets this name of this user first, so that it is stored once. Keyed,
    because an id outlives what it names. The name in a channel is for when another channel has it."""
    named = name if channel is None else f"{channel}\x1f{name}"
    digest = hmac.digest(secret, named.encode("utf-8", "surrogatepass"), "sha256")
    return str(uuid.UUID(bytes=digest[:16], version=5))
