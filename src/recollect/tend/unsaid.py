"""What is left of an entity when turns that named it are gone: no name and no trait that only they told."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from recollect.mine.entities import ALIASES, APART, keys_of
from recollect.mine.identity import MERGED
from recollect.model.changes import Change, Expect, Put
from recollect.model.records import Entity, MemoryRecord, Record, Turn
from recollect.model.searched import searchable_text
from recollect.record.memories import indexed
from recollect.text.analyse import terms
from recollect.text.names import folded, name_key
from recollect.workspace import Workspace


def unsaid(
    work: Workspace, gone: Mapping[str, Record], turns: Collection[str], citing: Iterable[str]
) -> list[Change]:
    """What becomes of the entities that stay and cite turns that go. Comes before the removals, which change
    what is expected."""
    changes: list[Change] = []
    for entity in work.store.get(Entity, sorted({*citing} - gone.keys())):
        left = _left(work, entity, gone, turns)
        same = searchable_text(left) == searchable_text(entity)
        changes += [
            Expect("entity", entity.id, entity),
            Put(left, None if same else indexed(work, left)),
        ]
    return changes


def _left(work: Workspace, entity: Entity, gone: Mapping[str, Record], turns: Collection[str]) -> Entity:
    sources = tuple(id for id in entity.sources if id not in turns)
    about = [id for id in work.store.linking("about", [entity.id]) if id not in gone]
    told = [turn.content for turn in work.store.get(Turn, sources)]
    told += [memory.content for memory in work.store.get(MemoryRecord, about)]
    text = folded("\n".join(told))
    names = [name for name in (entity.name, *entity.aliases) if folded(name) in text]
    name = entity.name if entity.name in names or not names else max(names, key=len)
    aliases = tuple(alias for alias in names if alias != name)
    known = {*terms(text), *terms("the user's")}
    left = replace(
        entity,
        name=name,
        aliases=aliases,
        description=entity.description if {*terms(entity.description)} <= known else "",
        sources=sources,
        metadata=_traits(entity, aliases, text),
    )
    secret = work.store.secret()
    return replace(left, keys=keys_of(left, lambda one: name_key(secret, one)))


def _traits(entity: Entity, aliases: Collection[str], text: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in entity.metadata.items():
        if name == ALIASES:
            kept[name] = {alias: score for alias, score in value.items() if alias in aliases}
        elif name == MERGED:  # what was told of those may be gone
            known = {folded(alias) for alias in aliases}
            kept[name] = {n: {**came, "description": ""} for n, came in value.items() if n in known}
        elif name == APART or not isinstance(value, str) or folded(value) in text:
            kept[name] = value
    return kept
