"""What mem0 keeps: what `get_all` answers, written to a file, and the backup of OpenMemory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.importing.arrays import Bad
from recollect.importing.files import Source, sources, values
from recollect.importing.items import (
    NOT_AN_OBJECT,
    Items,
    Known,
    Left,
    a_time,
    as_list,
    as_object,
    as_text,
    origin,
    unreadable,
)
from recollect.model.records import Json

SOURCE = "mem0"
FILES = r"memories\.(json|jsonl)(\.gz)?"
LISTS = ("results", "memories", "items")
"""Where an answer has its memories: of mem0, of its exports, of OpenMemory."""
RELATION = "it is a relation of the graph, which its memories say already"
DELETED = "it was deleted there"
NO_ID = "it has no id to know it again by"
_KEPT = ("categories", "agent_id", "run_id", "app_id", "app", "app_name", "actor_id", "role", "state")


def read(path: Path) -> Items:
    """Every memory."""
    found = sources(path, FILES)
    lined = [source for source in found if ".jsonl" in source.name]  # names the categories; the other has ids
    for source in lined or found:
        for where, value in _memories(source):
            if isinstance(value, Bad):
                yield Left(where, str(value))
            else:
                yield _memory(where, as_object(value))


def _memories(source: Source) -> Iterator[tuple[str, Any]]:
    """The memories of a file: one by one, or in answers that hold many."""
    for where, value in values(source):
        given = as_object(value)
        lists = [key for key in LISTS if isinstance(given.get(key), list)]
        if not lists:
            yield where, value
            continue
        for place, one in enumerate(as_list(given[lists[0]]), 1):
            yield f"{where}, {lists[0]} {place}", one
        for place, _ in enumerate(as_list(given.get("relations")), 1):
            yield f"{where}, relations {place}", Bad(RELATION)


def _memory(where: str, given: Json) -> Known | Left:
    texts = (as_text(given.get(key)) for key in ("memory", "content", "text"))
    text, id = next((text for text in texts if text), ""), given.get("id")
    if not ({"memory", "content", "text"} & given.keys()):
        return Left(where, NOT_AN_OBJECT)
    if reason := unreadable(text):
        return Left(where, reason)
    if not isinstance(id, (str, int)) or not str(id):
        return Left(where, NO_ID)
    if given.get("state") == "deleted" or given.get("deleted_at"):
        return Left(where, DELETED)
    own = as_object(given.get("metadata")) or as_object(given.get("metadata_"))
    kept = {key: given[key] for key in _KEPT if given.get(key) not in (None, "", [])}
    return Known(
        where=where,
        key=str(id),
        content=text,
        at=a_time(given.get("created_at")),
        since=a_time(given.get("updated_at")),
        expires=a_time(given.get("expiration_date")),
        owner=as_text(given.get("user_id")) or None,
        metadata=origin(SOURCE, id=str(id), metadata=own, **kept),
    )
