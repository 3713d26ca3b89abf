"""A palace of MemPalace: the drawers in its ChromaDB, read with SQLite alone, the facts of its knowledge
graph, and what `mempalace export` writes."""

import re
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from recollect.errors import Invalid, NotFound
from recollect.importing.items import (
    NOT_AN_OBJECT,
    Items,
    Known,
    Left,
    a_time,
    as_text,
    origin,
    unreadable,
)
from recollect.limits import check_number
from recollect.model.scope import NAME_LIMIT

SOURCE = "mempalace"
CHROMA = "chroma.sqlite3"
GRAPH = "knowledge_graph.sqlite3"
DRAWERS = "mempalace_drawers"
REGISTRY = "it only notes that a file was read"
_KEPT = ("wing", "room", "hall", "source_file", "chunk_index", "added_by", "ingest_mode", "topic", "agent")

_SELECT_DRAWERS = """
SELECT e.id, e.embedding_id, m.key, m.string_value, m.int_value, m.float_value
FROM embeddings e
JOIN segments s ON s.id = e.segment_id AND s.scope = 'METADATA'
JOIN collections c ON c.id = s.collection AND c.name = ?
LEFT JOIN embedding_metadata m ON m.id = e.id
ORDER BY e.id
"""
_SELECT_FACTS = """
SELECT t.id, s.name, t.predicate, o.name, t.valid_from, t.valid_to, t.confidence, t.extracted_at
FROM triples t
LEFT JOIN entities s ON s.id = t.subject
LEFT JOIN entities o ON o.id = t.object
ORDER BY t.rowid
"""
_INDEXES = (b"# Palace Export", b"# Snapshot Index")
_DRAWER = re.compile(r"^## (\S+)\n\n((?:>[^\n]*\n)+)\n(?=\| Field \| Value \|)", re.MULTILINE)
_FILED = re.compile(r"^\| Filed \| ([^|\n]+) \|$", re.MULTILINE)


def read(path: Path) -> Items:
    """Every drawer, and every fact of the graph that is kept with them."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    folder = path if path.is_dir() else path.parent
    chroma = next((one for one in (folder / CHROMA, folder / "palace" / CHROMA) if one.is_file()), None)
    graph = next((one / GRAPH for one in (folder, folder.parent) if (one / GRAPH).is_file()), None)
    if path.is_file() and path.name == GRAPH:
        chroma = None
    if chroma is not None:
        yield from _drawers(chroma)
    if graph is not None:
        yield from _facts(graph)
    if chroma is None and graph is None:
        if not (exported := _rooms(folder)):
            raise Invalid(
                f"{path} is no palace: give the folder that {CHROMA} is in, or what it was exported to."
            )
        for room in exported:
            yield from _exported(folder, room)


@contextmanager
def _rows(path: Path, select: str, *values: str) -> Generator[Iterator[tuple[Any, ...]]]:
    """The rows of somebody else's database, which is not written to."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = _decoded
            database.execute("PRAGMA trusted_schema = OFF")
            yield database.execute(select, values)
    except sqlite3.Error as error:
        raise Invalid(f"{path} cannot be read as MemPalace's: {error}.") from None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _drawers(path: Path) -> Items:
    with _rows(path, _SELECT_DRAWERS, DRAWERS) as rows:
        for place, (_, one) in enumerate(groupby(rows, key=lambda row: row[0]), 1):
            found = [*one]
            values = {row[2]: next((value for value in row[3:] if value is not None), None) for row in found}
            yield _drawer(f"{path.name}, drawer {place}", as_text(found[0][1]), values)


def _drawer(where: str, id: str, values: dict[str, Any]) -> Known | Left:
    text = as_text(values.get("chroma:document"))
    if id.startswith("_reg_") or values.get("room") == "_registry":
        return Left(where, REGISTRY)
    if reason := unreadable(text):
        return Left(where, reason)
    kept = {key: values[key] for key in _KEPT if key in values}
    at = a_time(values.get("filed_at"), zone=None)
    return Known(where=where, key=id, content=text, at=at, metadata=origin(SOURCE, id=id, **kept))


def _facts(path: Path) -> Items:
    with _rows(path, _SELECT_FACTS) as rows:
        for place, row in enumerate(rows, 1):
            yield _fact(f"{path.name}, fact {place}", *row)


def _fact(
    where: str,
    id: Any,
    subject: Any,
    predicate: Any,
    object: Any,
    since: Any,
    until: Any,
    sure: Any,
    noted: Any,
) -> Known | Left:
    parts = [as_text(part).strip() for part in (subject, as_text(predicate).replace("_", " "), object)]
    if not all(parts) or not isinstance(id, str):
        return Left(where, NOT_AN_OBJECT)
    text = " ".join(parts)
    if reason := unreadable(text):
        return Left(where, reason)
    return Known(
        where=where,
        key=id,
        content=text,
        at=a_time(since) or a_time(noted),
        until=_ended(until),
        confidence=_sure(sure),
        about=tuple(name for name in dict.fromkeys((parts[0], parts[2])) if len(name) <= NAME_LIMIT),
        metadata=origin(SOURCE, id=id, predicate=as_text(predicate)),
    )


def _ended(value: Any) -> datetime | None:
    """When a fact ended: a day counts to its end."""
    at = a_time(value)
    whole = at is not None and len(as_text(value)) == len("2026-01-31")
    return at + timedelta(days=1) if at is not None and whole else at


def _sure(value: Any) -> float | None:
    try:
        return check_number("confidence", value, 0, 1)
    except Invalid:
        return None


def is_exported(folder: Path) -> bool:
    """Whether a folder is an export as Markdown."""
    index = folder / "index.md"
    if not index.is_file():
        return False
    with index.open("rb") as stream:
        return stream.readline(100).startswith(_INDEXES)


def _rooms(folder: Path) -> list[Path]:
    """The files of an export: one a room, in a folder a wing."""
    files = sorted(one for one in folder.glob("*/*.md") if one.name != "index.md" and not one.is_symlink())
    return files if is_exported(folder) else []


def _exported(folder: Path, room: Path) -> Items:
    """The drawers of a room."""
    text = room.read_bytes().decode("utf-8", "surrogateescape")
    name = room.relative_to(folder).as_posix()
    found = [*_DRAWER.finditer(text)]
    if not found:
        yield Left(name, NOT_AN_OBJECT)
    ends = [*(one.start() for one in found[1:]), len(text)]
    for place, (one, end) in enumerate(zip(found, ends, strict=False), 1):
        filed = _FILED.search(text, one.end(), end)
        lines = (line.removeprefix(">").removeprefix(" ") for line in one[2].rstrip("\n").split("\n"))
        values = {"chroma:document": "\n".join(lines), "filed_at": filed[1] if filed else None}
        values |= {"wing": room.parent.name, "room": room.stem}
        yield _drawer(f"{name}, drawer {place}", one[1], values)
