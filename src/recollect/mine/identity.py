"""Two entities that are one, and one that is two: what mining gets wrong, put right by somebody who knows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from recollect.errors import Invalid
from recollect.limits import check_given
from recollect.mine.bonds import group, settled
from recollect.mine.entities import ALIASES, APART, keys_of, unfaded
from recollect.model.changes import Change, Expect, ExpectOnly, Put, Remove
from recollect.model.records import Entity, MemoryRecord, Relation, Turn
from recollect.model.searched import searchable_text
from recollect.record.memories import entity_id, indexed
from recollect.text.names import folded, name_key
from recollect.workspace import Workspace, rereading

MERGED = "merged"
"""Where the metadata of an entity keeps what came with those that were taken for it."""


@rereading
def merge(work: Workspace, name: str, into: str) -> Entity:
    """Take the entity `name` for the entity `into`, with all that is known of it."""
    gone, kept = work.entity(check_given("entity", name)), work.entity(check_given("into", into))
    if gone.id == kept.id:
        raise Invalid(f"{name!r} and {into!r} are the same already.")
    names = [
        n
        for n in (gone.name, *gone.aliases)
        if folded(n) not in {folded(kept.name), *map(folded, kept.aliases)}
    ]
    apart = {folded(n) for n in names}
    scores = {**kept.metadata.get(ALIASES, {}), **dict.fromkeys(names, 1.0)}
    merged = replace(
        kept,
        aliases=(*kept.aliases, *names),
        description=kept.description or gone.description,
        sources=tuple(dict.fromkeys((*kept.sources, *gone.sources))),
        first_seen=min(kept.first_seen, gone.first_seen),
        salience=max(unfaded(kept), unfaded(gone)),
        initial=None,
        last_seen=max(filter(None, (kept.last_seen, gone.last_seen)), default=None),
        metadata={
            **gone.metadata,
            **kept.metadata,
            ALIASES: scores,
            APART: [n for n in kept.metadata.get(APART, ()) if n not in apart],
            MERGED: {**kept.metadata.get(MERGED, {}), folded(gone.name): _brought(work, gone, kept)},
        },
    )
    changes = _moved(_about(work, gone), gone, kept.id)
    relations = _relations(work, gone)
    for end in ("source", "target"):
        known = frozenset(r.id for r in relations if getattr(r, end) == gone.id)
        changes.append(ExpectOnly("relation", {end: gone.id}, known))
    loops = [r for r in relations if {r.source, r.target} <= {gone.id, kept.id}]
    changes += _redirected(work, [r for r in relations if r not in loops], gone.id, kept.id)
    if loops:
        changes.append(Remove("relation", tuple(r.id for r in loops)))
    changes += [Expect("entity", gone.id, gone), Remove("entity", (gone.id,), erases=False)]
    changes += work.log("merge", f"entity {kept.id}", kind="entity", details={"from": f"entity {gone.id}"})
    return _stored(work, changes, kept, merged)


@rereading
def split(work: Workspace, name: str, alias: str) -> Entity:
    """Make an alias of an entity an entity of its own, with the memories that call it so. Mining takes the
    two for two from then on."""
    one = work.entity(check_given("entity", name))
    if folded(check_given("alias", alias)) not in {*map(folded, one.aliases)}:
        raise Invalid(
            f"{alias!r} is no alias of {one.name!r}; its aliases are {', '.join(one.aliases) or 'none'}."
        )
    left = [known for known in one.aliases if folded(known) != folded(alias)]
    scores = {n: score for n, score in one.metadata.get(ALIASES, {}).items() if folded(n) != folded(alias)}
    merged = dict(one.metadata.get(MERGED, {}))
    brought = merged.pop(folded(alias), {"ids": [], "shared": [], "description": ""})
    turns = {turn.id: turn.content for turn in work.store.get(Turn, one.sources)}
    theirs = [
        id
        for id in one.sources
        if id in brought["ids"] or _calls(turns.get(id, ""), alias, [one.name, *left])
    ]
    apart = [*one.metadata.get(APART, ()), folded(alias)]
    rest = replace(
        one,
        aliases=tuple(left),
        description="" if brought["description"] == one.description else one.description,
        sources=tuple(id for id in one.sources if id not in theirs or id in brought["shared"]),
        metadata={**one.metadata, ALIASES: scores, APART: apart, MERGED: merged},
    )
    known, other = _called(work, one, alias)
    apart = dict.fromkeys((*other.metadata.get(APART, ()), *map(folded, (one.name, *left))))
    other = replace(
        other,
        description=other.description or brought["description"],
        sources=tuple(dict.fromkeys((*other.sources, *theirs))),
        metadata={**other.metadata, APART: list(apart)},
    )
    moved = [
        m for m in _about(work, one) if m.id in brought["ids"] or _calls(m.content, alias, [one.name, *left])
    ]
    changes: list[Change] = [Expect("entity", other.id, known)]
    changes += _moved(moved, one, other.id)
    own = {*theirs} - {*brought["shared"]}
    relations = [r for r in _relations(work, one) if r.id in brought["ids"] or (own and {*r.sources} <= own)]
    changes += _redirected(work, relations, one.id, other.id)
    other = _keyed(work, other)
    changes.append(Put(other, None if known else indexed(work, other)))
    changes += work.log("split", f"entity {one.id}", kind="entity", details={"off": f"entity {other.id}"})
    _stored(work, changes, one, rest)
    return other


def _brought(work: Workspace, gone: Entity, kept: Entity) -> dict[str, Any]:
    """What comes with an entity that is taken for another, so that it can go with it again."""
    known = [*_about(work, gone), *_relations(work, gone)]
    return {
        "ids": [*(record.id for record in known), *gone.sources],
        "shared": [id for id in gone.sources if id in kept.sources],
        "description": gone.description,
    }


def _called(work: Workspace, one: Entity, alias: str) -> tuple[Entity | None, Entity]:
    """Who goes by the alias already, if anybody does, and who it shall be."""
    secret = work.store.secret()
    for id in (entity_id(secret, alias), entity_id(secret, alias, one.channel)):
        known = next(iter(work.store.get(Entity, [id])), None)
        if known is None or (known.channel == one.channel and known.id != one.id):
            break
    return known, known or Entity(
        id=id, name=alias, type=one.type, first_seen=one.first_seen, channel=one.channel
    )


def _calls(text: str, alias: str, others: Sequence[str]) -> bool:
    """Whether a text names somebody by this alias and by none of their other names."""
    longest = sorted((n for n in (alias, *others) if n.strip()), key=len, reverse=True)
    if not longest:
        return False
    found = re.findall(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", text, re.IGNORECASE)
    return bool(found) and {folded(n) for n in found} == {folded(alias)}


def _keyed(work: Workspace, entity: Entity) -> Entity:
    secret = work.store.secret()
    return replace(entity, keys=keys_of(entity, lambda name: name_key(secret, name)))


def _stored(work: Workspace, changes: list[Change], old: Entity, new: Entity) -> Entity:
    new = _keyed(work, new)
    same = searchable_text(new) == searchable_text(old)
    work.apply(*changes, Expect("entity", old.id, old), Put(new, None if same else indexed(work, new)))
    return new


def _about(work: Workspace, entity: Entity) -> list[MemoryRecord]:
    owners = list(work.store.linking("about", [entity.id]))
    return work.store.get(MemoryRecord, owners)


def _moved(memories: Iterable[MemoryRecord], old: Entity, new: str) -> list[Change]:
    changes: list[Change] = []
    for memory in memories:
        about = tuple(dict.fromkeys(new if id == old.id else id for id in memory.about))
        changes += [Expect(memory.kind, memory.id, memory), Put(replace(memory, about=about))]
    return changes


def _relations(work: Workspace, entity: Entity) -> list[Relation]:
    found = {r.id: r for end in ("source", "target") for r in work.store.find(Relation, {end: entity.id})}
    return list(found.values())


def _redirected(work: Workspace, relations: Sequence[Relation], old: str, new: str) -> list[Change]:
    """The relations with another end, and what that makes of those beside them."""
    sources = dict.fromkeys(id for r in relations for id in (r.source, old, new))
    stored = {r.id: r for id in sources for r in work.store.find(Relation, {"source": id})}
    moved = {r.id for r in relations}
    left = dict(stored)
    for id, r in stored.items():
        if id in moved:
            source, target = (new if end == old else end for end in (r.source, r.target))
            left[id] = replace(r, source=source, target=target)
    for one in {group(r) for r in left.values()}:
        left |= {r.id: r for r in settled([r for r in left.values() if group(r) == one])}
    changes: list[Change] = []
    for id, relation in left.items():
        if relation != stored[id]:
            changes += [Expect("relation", id, stored[id]), Put(relation)]
    return changes
