"""Which program a file is of, by what is in it."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from recollect.errors import Invalid, NotFound
from recollect.importing import chatgpt, claude, markdown, mem0, mempalace, messages
from recollect.importing.files import Source, sources, values
from recollect.importing.items import as_list, as_object
from recollect.model.records import Json

OWN = "recollect"
"""What `recollect export` writes."""
_DATA = r".*\.(json|jsonl|ndjson)(\.gz)?"


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


def others(path: Path, source: str) -> Iterator[tuple[str, str]]:
    """What else is in a folder that is imported as of one source: a file, and what it is of."""
    if not path.is_dir() or source == mempalace.SOURCE:
        return
    read = re.compile(mem0.FILES if source == mem0.SOURCE else chatgpt.FILES)
    for one in sources(path, _DATA):
        with suppress(Invalid, OSError):
            found = _one(one)
            if found is not None and (found != source or not read.fullmatch(one.name)):
                yield one.name, found
    if source != markdown.SOURCE:
        yield from ((note.relative_to(path).as_posix(), markdown.SOURCE) for note in markdown.notes(path))


def _first(path: Path, pattern: str) -> str | None:
    """By the first of such files."""
    return next((_one(source) for source in sources(path, pattern)), None)


def _one(source: Source) -> str | None:
    """By the first value in a file."""
    with closing(values(source)) as found:
        return next((_like(as_object(value)) for _, value in found), None)


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
