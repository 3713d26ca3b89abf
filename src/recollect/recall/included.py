"""What a recollection brings along beside its hits, when it is asked for."""

from collections.abc import Sequence

from recollect.model.recollection import Hit
from recollect.model.records import Entity
from recollect.model.search import Filter
from recollect.ports.store import UserView
from recollect.recall.entities import named, related
from recollect.recall.graph import Graph


def related_names(
    view: UserView, graph: Graph, hits: Sequence[Hit], filter: Filter
) -> dict[str, tuple[str, ...]]:
    """The paths from each entity that is a hit, or is named in one, to what it is related to."""
    channels, at = filter.channels, filter.as_of or filter.now
    start = {entity.id: entity for hit in hits for entity in named(view, hit.content[:2000], channels)}
    start |= {entity.id: entity for entity in view.get(Entity, [h.id for h in hits if h.kind == "entity"])}
    found = {e.name: tuple(r.path for r in related(graph, [e], at, channels)) for e in start.values()}
    return {name: paths for name, paths in found.items() if paths}
