"""Exports of other programs, of our own making: the shapes that theirs have."""

import json
import sqlite3
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from recollect.importing.items import Items, Known, Left, Said


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def zipped(path: Path, **files: Any) -> Path:
    """A zip of JSON files; `conversations_000` is conversations-000.json."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(f"{name.replace('_', '-')}.json", json.dumps(value))
    return path


def node(
    id: str,
    parent: str | None,
    role: str = "user",
    *parts: Any,
    children: list[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A message in the tree of a conversation of ChatGPT."""
    content = more.pop("content", {"content_type": "text", "parts": [*parts]})
    message = {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": more.pop("at", 1_700_000_000.0),
        "content": content,
        "recipient": more.pop("recipient", "all"),
        "metadata": more,
    }
    return {"id": id, "message": message, "parent": parent, "children": children or []}


def chatgpt(
    id: str, *nodes: dict[str, Any], current: str | None = None, title: Any = "A talk"
) -> dict[str, Any]:
    return {
        "title": title,
        "create_time": 1_699_999_999.5,
        "update_time": 1_700_000_100.0,
        "conversation_id": id,
        "id": id,
        "current_node": nodes[-1]["id"] if current is None else current,
        "mapping": {"root": {"id": "root", "message": None, "parent": None}}
        | {one["id"]: one for one in nodes},
    }


def claude(id: str, *messages: dict[str, Any], name: str = "A talk", **more: Any) -> dict[str, Any]:
    return {
        "uuid": id,
        "name": name,
        "created_at": "2026-03-29T07:00:00.000000Z",
        "updated_at": "2026-03-29T08:00:00.000000Z",
        "account": {"uuid": "account"},
        "chat_messages": [*messages],
        **more,
    }


def sent(id: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of an export of Claude."""
    return {
        "uuid": id,
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text}] if text else [],
        "created_at": "2026-03-29T07:06:35.552627Z",
        "attachments": [],
        "files": [],
        **more,
    }


def palace(folder: Path, **drawers: dict[str, Any]) -> Path:
    """A palace as ChromaDB 1.5 stores it: a drawer by its id, with its text as `document`."""
    folder.mkdir()
    database = sqlite3.connect(folder / "chroma.sqlite3")
    database.executescript("""
        CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT, scope TEXT NOT NULL, collection TEXT NOT NULL);
        CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT);
        CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER,
            float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));
        INSERT INTO collections VALUES ('c', 'mempalace_drawers'), ('d', 'mempalace_closets');
        INSERT INTO segments VALUES ('v', 'vector', 'VECTOR', 'c'), ('m', 'metadata', 'METADATA', 'c'),
            ('n', 'metadata', 'METADATA', 'd');
        INSERT INTO embeddings VALUES (1000, 'n', 'a closet');
        INSERT INTO embedding_metadata VALUES (1000, 'chroma:document', 'a closet', NULL, NULL, NULL);
    """)
    for number, (id, values) in enumerate(drawers.items(), 1):
        database.execute("INSERT INTO embeddings VALUES (?, 'm', ?)", (number, id))
        for key, value in values.items():
            name = "chroma:document" if key == "document" else key
            row = (value, None) if isinstance(value, (str, bytes)) else (None, value)
            database.execute(
                "INSERT INTO embedding_metadata VALUES (?, ?, ?, ?, NULL, NULL)", (number, name, *row)
            )
    database.commit()
    database.close()
    return folder


def graph(folder: Path, *triples: tuple[Any, ...]) -> Path:
    """A knowledge graph of MemPalace: subject, predicate, object, from, to, confidence."""
    database = sqlite3.connect(folder / "knowledge_graph.sqlite3")
    database.executescript("""
        CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT);
        CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT, predicate TEXT, object TEXT, valid_from TEXT,
            valid_to TEXT, confidence REAL, extracted_at TEXT);
    """)
    for number, (subject, predicate, object, *rest) in enumerate(triples):
        for name in (subject, object):
            database.execute("INSERT OR IGNORE INTO entities VALUES (?, ?, 'thing')", (name.lower(), name))
        row = (f"t{number}", subject.lower(), predicate, object.lower(), *rest, "2026-01-01 00:00:00")
        database.execute("INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return folder


def said(items: Items) -> list[tuple[str | None, int | None, str, str]]:
    found = [item.message for item in items if isinstance(item, Said)]
    return [(one.conversation, one.index, one.role, one.content) for one in found]


def known(items: Items) -> dict[str, Known]:
    return {item.key: item for item in items if isinstance(item, Known)}


def left(items: Items) -> dict[str, int]:
    return Counter(item.reason for item in items if isinstance(item, Left))
