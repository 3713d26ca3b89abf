"""What a client may attach to a conversation by itself: the palace and the entities, as JSON."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from recollect.errors import NotFound
from recollect.limits import shown
from recollect.server.mcp import telling
from recollect.server.mcp.telling import row
from recollect.server.mcp.toolkit import Seen
from recollect.server.mcp.tools import MOST, palace

SCHEME = "recollect://"
PALACE, ENTITIES = f"{SCHEME}palace", f"{SCHEME}entities"
MIME = "application/json"


class Resource(NamedTuple):
    """What lies at an address, or at all that begin with it."""

    uri: str
    name: str
    description: str


FIXED = (
    Resource(PALACE, "palace", "All subjects that were talked about."),
    Resource(ENTITIES, "entities", "People, places, projects and things that are known, the newest first."),
)
TEMPLATES = (
    Resource(f"{PALACE}/{{+place}}", "place", "What is in a place: W-042, W-042/R-11, W-042/R-11/D-007."),
    Resource(f"{ENTITIES}/{{name}}", "entity", "What is known of one entity, whom it knows, what happened."),
)


def read(seen: Seen, uri: str) -> str:
    """What lies there; `NotFound` where nothing does."""
    for beginning, opened in _OPENED.items():
        if uri.rstrip("/") == beginning:
            return _json(opened(seen, None))
        if uri.startswith(f"{beginning}/"):
            return _json(opened(seen, unquote(uri.removeprefix(f"{beginning}/"))))
    places = ", ".join(one.uri for one in (*FIXED, *TEMPLATES))
    raise NotFound(f"There is no resource {shown(uri)}; there are {places}.")


def entity_uri(name: str) -> str:
    return f"{ENTITIES}/{quote(name, safe='')}"


def _palace(seen: Seen, place: str | None) -> Any:
    return palace(seen, place, limit=MOST).data


def _entities(seen: Seen, name: str | None) -> Any:
    if name is not None:
        return _entity(seen, name)
    found: list[Any] = [*seen.memory.list("entity", limit=MOST)]
    return {"entities": [{**telling.entity_row(one), "uri": entity_uri(one.name)} for one in found]}


def _entity(seen: Seen, name: str) -> Any:
    around = seen.memory.neighbours(name, limit=MOST)
    names = {one.id: one.name for one in around.entities}
    events = seen.memory.timeline(name, limit=MOST, latest=True)
    return row(
        entity=telling.entity_row(around.entities[0]),
        related=[telling.relation_row(one, names) for one in around.relations],
        timeline=[telling.shortened(telling.event_row(one)) for one in events],
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_OPENED: dict[str, Callable[[Seen, str | None], Any]] = {PALACE: _palace, ENTITIES: _entities}
