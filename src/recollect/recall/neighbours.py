"""The graph around an entity: who and what it is related to, and how."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice

from recollect.limits import check_given, check_time, check_whole
from recollect.model.recollection import Neighbourhood
from recollect.model.records import Entity, Relation
from recollect.ports.store import UserView
from recollect.recall.graph import Graph
from recollect.recall.timeline import related_then
from recollect.workspace import Workspace

HOPS = 3
"""How far one may look: beyond that, everything is related to everything."""
LIMIT = 50
"""How many entities are told unless somebody says; at most `MOST`."""
MOST = 1000
BONDS = 8
"""How many relations are followed in one hop, for each entity that may be told."""


def neighbours(work: Workspace, entity: str, hops: int, as_of: datetime | None, limit: int) -> Neighbourhood:
    """Relations count in the channels that are read here; none leads to an entity out of reach."""
    check_given("entity", entity)
    check_whole("hops", hops, HOPS + 1, least=1)
    check_whole("limit", limit, MOST + 1, least=1)
    then = work.clock.now() if as_of is None else check_time("as_of", as_of)
    start = work.entity(entity)
    return work.reading(lambda work, view: _around(work, view, start, hops, then, limit))


def _around(
    work: Workspace, view: UserView, start: Entity, hops: int, then: datetime, limit: int
) -> Neighbourhood:
    graph = Graph(work, view, work.resting.warn)
    around = Neighbourhood(entities=(start,))
    level: Sequence[Entity] = around.entities
    for _ in range(hops):
        bonds = _bonds(graph, [one.id for one in level], work.channels, then, BONDS * limit)
        grown = joined(around, bonds, _others(view, around, bonds, work.reaches), limit)
        level = grown.entities[len(around.entities) :]
        around = grown
        if not level:
            break
    return around


def _bonds(
    graph: Graph, ids: Sequence[str], channels: Sequence[str], then: datetime, most: int
) -> list[Relation]:
    """The relations of these that held then, the newest first; of very many, the old ones are left out."""
    held = (bond for bond in graph.touching(ids, channels, most) if related_then(bond, then))
    return list(islice(held, most))


def _others(
    view: UserView, around: Neighbourhood, bonds: Iterable[Relation], reaches: Callable[[str], bool]
) -> dict[str, Entity]:
    """Whoever is at the other ends and may be told here, in the order of the relations."""
    known = {entity.id for entity in around.entities}
    ids = dict.fromkeys(id for bond in bonds for id in (bond.source, bond.target) if id not in known)
    return {entity.id: entity for entity in view.get(Entity, list(ids)) if reaches(entity.channel)}


def joined(
    around: Neighbourhood, bonds: Sequence[Relation], others: Mapping[str, Entity], limit: int
) -> Neighbourhood:
    """The neighbourhood with those others that there is room for, and every relation between two of it."""
    entities = (*around.entities, *others.values())[: max(limit, 1)]
    told = {entity.id for entity in entities}
    relations = {bond.id: bond for bond in (*around.relations, *bonds)}
    inside = (bond for bond in relations.values() if {bond.source, bond.target} <= told)
    return Neighbourhood(entities=entities, relations=tuple(inside))
