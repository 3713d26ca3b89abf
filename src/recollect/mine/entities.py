"""Who is who: names as they were said, and the entities they stand for.

A name is somebody known when it is their name or one of their aliases, or when one of the two is the first
name of the other and nobody else's. Each alias that was taken on is kept with how sure that was, so that it
can be split off again; what was split apart stays apart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.mine.extracted import USER, Mention
from recollect.model.records import Entity
from recollect.text.names import folded

MOST_SOURCES = 50
"""How many turns an entity cites: the first ones that name it."""
MOST_ALIASES = 20
REINFORCED = 0.1
"""How much of what is missing to 1 a memory's or entity's salience gains when it is said again."""
EXACT, ALIAS, FIRST_NAME = 1.0, 0.95, 0.8
ALIASES, APART = "alias_scores", "apart"

Name = Callable[[str], Entity]
"""A new entity of this name."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The entities that a window names, as they become."""

    ids: Mapping[str, str]
    """Ids by folded name."""
    entities: Mapping[str, Entity]

    def id_of(self, name: str) -> str:
        return self.ids[folded(name)]


def keys_of(entity: Entity, key: Callable[[str], str]) -> tuple[str, ...]:
    """What an entity is found by: its names, and the first word of a person's."""
    names = [entity.name, *entity.aliases]
    if entity.type == "person":
        names += [first_name(name) for name in names]
    return tuple(dict.fromkeys(key(name) for name in names))


def first_name(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else name


def cast(
    mentions: Sequence[Mention],
    names: Iterable[str],
    known: Sequence[Entity],
    new: Name,
    key: Callable[[str], str],
    least: float,
) -> Cast:
    """The entities behind the mentions, and behind names that are merely used; `least` is how sure it must
    be that two names are one's."""
    entities = {entity.id: entity for entity in known}
    ids: dict[str, str] = {}
    bare = (Mention(name=name, type="topic", turns=()) for name in names)
    for mention in (*mentions, *bare):
        if (name := folded(mention.name)) in ids and not mention.turns:
            continue
        found, score = _best(mention, list(entities.values()))
        entity = found if found is not None and score >= least else new(mention.name)
        entity = _joined(entity, mention, score if entity is found else EXACT)
        entities[entity.id] = replace(entity, keys=keys_of(entity, key))
        ids |= dict.fromkeys((name, *map(folded, mention.aliases)), entity.id)
    return Cast(ids, entities)


def unfaded(entity: Entity) -> float:
    """How much it mattered before time wore it down: somebody speaks of it again."""
    return entity.salience if entity.initial is None else entity.initial


def seen(people: Cast, named: Iterable[tuple[str, datetime]]) -> Cast:
    """The same entities, with the hour in which somebody last spoke of each. By the hour, so that a long
    talk does not rewrite an entity with every window."""
    entities = dict(people.entities)
    for name, said in named:
        if (id := people.ids.get(folded(name))) is not None:
            hour, last = said.replace(minute=0, second=0, microsecond=0), entities[id].last_seen
            entities[id] = replace(entities[id], last_seen=hour if last is None else max(last, hour))
    return replace(people, entities=entities)


def _best(mention: Mention, known: Sequence[Entity]) -> tuple[Entity | None, float]:
    scored = [(match(mention, entity), entity) for entity in known]
    best = max((score for score, _ in scored), default=0.0)
    first = [entity for score, entity in scored if score == best and score > 0]
    if len(first) != 1 and best < ALIAS:  # two Annas: whose name it is cannot be told
        return None, 0.0
    return (first[0], best) if first else (None, 0.0)


def match(mention: Mention, entity: Entity) -> float:
    """How sure it is that a mention means an entity."""
    said = folded(mention.name)
    if said in entity.metadata.get(APART, ()):
        return 0.0
    name, aliases = folded(entity.name), {folded(alias) for alias in entity.aliases}
    if said == name:
        return EXACT
    if USER in (said, name):  # a namesake that the user speaks of is somebody else
        return 0.0
    if said in aliases or name in {folded(alias) for alias in mention.aliases}:
        return ALIAS
    if mention.type == entity.type == "person":
        for known in (name, *aliases):
            short, long = sorted((said, known), key=len)
            if " " not in short and long.startswith(f"{short} "):
                return FIRST_NAME
    return 0.0


def _joined(entity: Entity, mention: Mention, score: float) -> Entity:
    """The entity with what the mention adds to it."""
    known = {folded(entity.name), *map(folded, entity.aliases)}
    given = {folded(name): name for name in (mention.name, *mention.aliases) if folded(name) not in known}
    added = list(given.values())[: max(0, MOST_ALIASES - len(entity.aliases))]
    seen = [turn for turn in mention.turns if turn not in entity.sources]
    sources = (*entity.sources, *seen)[:MOST_SOURCES]
    metadata: dict[str, Any] = {**mention.properties, **entity.metadata}
    if added:
        scores: Mapping[str, float] = entity.metadata.get(ALIASES, {})
        metadata[ALIASES] = {**scores, **dict.fromkeys(added, score)}
    again = bool(seen) and bool(entity.sources)
    own = unfaded(entity) if again else entity.salience
    return replace(
        entity,
        type=mention.type if entity.type == "thing" and mention.turns else entity.type,
        aliases=(*entity.aliases, *added),
        description=entity.description or mention.description,
        salience=own + (1 - own) * REINFORCED if again else own,
        initial=None if again else entity.initial,
        sources=sources,
        metadata=metadata,
    )
