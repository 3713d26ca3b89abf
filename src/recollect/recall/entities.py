"""Who and what is related to those that a question names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from recollect.model.records import Entity, Relation
from recollect.ports.store import UserView
from recollect.recall.graph import Graph

DEPTH = 2
MOST = 10
"""How many entities are followed."""
BONDS = 20
"""How many relations of each."""
_NAME = re.compile(r"[^\W\d_a-z][\w'’.-]*(?:\s+[^\W\d_a-z][\w'’.-]*){0,3}")
_QUESTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "What When Where Which Who Whom Whose Why How Did Do Does Is Are Was Were Have Has Had Can Could "
        "Will Would Should I The A An My In On At And Or Of Tell Please Am If It That This Not",
    )
)


class Related(NamedTuple):
    """An entity that was reached, and over which relations."""

    entity: Entity
    path: str
    depth: int


def names_in(text: str) -> list[str]:
    """What is written like a name, whole and without what the sentence began with."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        parts = [re.sub(r"['’]s$", "", part).rstrip(".") for part in match.group().split()]
        while parts and parts[0] in _QUESTION_WORDS:
            parts.pop(0)
        if parts:
            found[" ".join(parts)] = None
            found.update(dict.fromkeys(part for part in parts if part not in _QUESTION_WORDS))
    return list(found)[: 3 * MOST]


def named(view: UserView, text: str, channels: Sequence[str] | None) -> list[Entity]:
    """The entities that the text names."""
    names = names_in(text)
    if not names:
        return []
    where: dict[str, object] = {"name": names}
    if channels is not None:
        where["channel"] = list(channels)
    return list(view.find(Entity, where, limit=MOST))


def related(
    graph: Graph,
    start: Iterable[Entity],
    at: datetime,
    channels: Sequence[str] | None = None,
    depth: int = DEPTH,
) -> list[Related]:
    """What is reached from the entities over relations that hold at a time, the nearest first. Nothing
    leads through what belongs to other channels."""
    known = {entity.id: Related(entity, entity.name, 0) for entity in start}
    level = list(known.values())
    reached: list[Related] = []
    for step in range(1, depth + 1):
        bonds = _bonds(graph, [one.entity.id for one in level], at, channels)
        others = {id: None for bond in bonds for id in (bond.source, bond.target) if id not in known}
        entities = {
            entity.id: entity
            for entity in graph.view.get(Entity, list(others)[: MOST * step])
            if channels is None or entity.channel in channels
        }
        level = list[Related]()
        for bond in bonds:
            if (found := _along(bond, known, entities, step)) is not None:
                known[found.entity.id] = found
                level.append(found)
        reached += level
        if not level:
            break
    return reached[:MOST]


def _bonds(graph: Graph, ids: Sequence[str], at: datetime, channels: Sequence[str] | None) -> list[Relation]:
    """The relations of the entities that hold, the newest first: of many, the old ones are left out."""
    most = BONDS * max(1, len(ids))
    believed = (bond for bond in graph.touching(ids, channels, most) if bond.retired_at is None)
    newest = islice(believed, most)
    return [b for b in newest if b.valid_from <= at and (b.valid_to is None or b.valid_to > at)]


def _along(
    bond: Relation, known: Mapping[str, Related], entities: Mapping[str, Entity], depth: int
) -> Related | None:
    """The entity at the other end, if one end is known and the other is new."""
    for here, there in ((bond.source, bond.target), (bond.target, bond.source)):
        if here in known and there in entities and there not in known:
            arrow = f"-[{bond.type}]->" if here == bond.source else f"<-[{bond.type}]-"
            return Related(entities[there], f"{known[here].path} {arrow} {entities[there].name}", depth)
    return None
