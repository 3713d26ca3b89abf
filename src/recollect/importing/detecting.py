"""Which program a file is of, by what is in it."""

import zipfile
from contextlib import closing
from pathlib import Path

from recollect.errors import NotFound
from recollect.importing import chatgpt, claude, markdown, mem0, mempalace, messages
from recollect.importing.files import sources, values
from recollect.importing.items import as_list, as_object
from recollect.model.records import Json

OWN = "recollect"
"""What `recollect export` writes."""


def detect(path: Path) -> str | None:
    """The source, if there is no doubt about it."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    if path.is_dir():
        return _folder(path)
    if not path.is_file():  # what is read of a pipe is gone
        return None
    if path.name in (mempalace.CHROMA, mempalace.GRAPH):
        return mempalace.SOURCE
    if path.name.lower().endswith(markdown.ENDINGS):
        return markdown.SOURCE
    if zipfile.is_zipfile(path):
        return _first(path, chatgpt.FILES) or _first(path, mem0.FILES)
    return _first(path, ".*")


def _folder(path: Path) -> str | None:
    if any(
        (path / name).is_file() for name in (mempalace.CHROMA, f"palace/{mempalace.CHROMA}", mempalace.GRAPH)
    ):
        return mempalace.SOURCE
    if found := _first(path, chatgpt.FILES) or _first(path, mem0.FILES):
        return found
    if mempalace.is_exported(path):
        return mempalace.SOURCE
    return markdown.SOURCE if next(markdown.notes(path), None) else None


def _first(path: Path, pattern: str) -> str | None:
    """By the first value in the first of such files."""
    for source in sources(path, pattern)[:1]:
        with closing(values(source)) as found:
            return next((_like(as_object(value)) for _, value in found), None)
    return None


def _like(value: Json) -> str | None:
    if OWN in value:
        return OWN
    if "mapping" in value:
        return chatgpt.SOURCE
    if "chat_messages" in value:
        return claude.SOURCE
    if isinstance(value.get("messages"), list) or {"role", "content"} <= value.keys():
        return messages.SOURCE
    held = [one for key in mem0.LISTS for one in as_list(value.get(key))[:1]]
    first = as_object(held[0]) if held else value
    if "id" in first and ("memory" in first or ("content" in first and "created_at" in first)):
        return mem0.SOURCE
    return None
