"""Notes in Markdown: a file, or a folder of them. Each section is a memory, because notes are edited: what
changed since is then a correction, and not another turn of a conversation that nobody had."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.errors import NotFound
from recollect.importing.items import BROKEN, NO_TEXT, Items, Known, Left, a_time, origin, unreadable

SOURCE = "markdown"
ENDINGS = (".md", ".markdown", ".mdown")
FILE_LIMIT = 16 * 1024 * 1024
"""The most bytes of one file."""
TOO_LONG = "the file is longer than 16 MiB"
_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_DATES = ("date", "created", "created_at")
_CHANGED = ("updated", "updated_at", "modified", "lastmod")


def read(path: Path) -> Items:
    """The sections of every note, each under its headings."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    for file in notes(path):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        name = name.encode("utf-8", "backslashreplace").decode()  # names of files may be any bytes
        if file.stat().st_size > FILE_LIMIT:
            yield Left(name, TOO_LONG)
            continue
        try:
            text = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            yield Left(name, BROKEN)
            continue
        yield from _note(name, text, datetime.fromtimestamp(file.stat().st_mtime, UTC))


def notes(path: Path) -> Iterator[Path]:
    """The notes in a folder, in order; none in hidden folders, none behind a link."""
    if path.is_file():
        yield path
        return
    for root, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(root, name)
            if name.lower().endswith(ENDINGS) and not name.startswith(".") and not file.is_symlink():
                yield file


def _note(name: str, text: str, written: datetime) -> Items:
    matter, body = _front_matter(text)
    title = next(iter(matter.get("title", ())), "")
    times = [a_time(value, zone=None) for key in _DATES for value in matter.get(key, ())]
    changed = [a_time(value, zone=None) for key in _CHANGED for value in matter.get(key, ())]
    at = next((time for time in times if time is not None), written)
    since = next((time for time in changed if time is not None), written)
    seen: Counter[tuple[str, ...]] = Counter()
    above = text[: len(text) - len(body)].count("\n")
    for line, headings, section in _sections(body):
        path = headings if not title or headings[:1] == (title,) else (title, *headings)
        seen[headings] += 1
        where = f"{name}, line {line + above}"
        if reason := unreadable(section):
            if headings or reason != NO_TEXT:
                yield Left(where, reason)
            continue
        times_seen = f" ({seen[headings]})" if seen[headings] > 1 else ""
        key = "#".join((name, *headings)) + times_seen
        yield Known(
            where=where,
            key=key,
            content="\n\n".join(filter(None, (" > ".join(path), section))),
            at=at,
            since=since,
            metadata=origin(
                SOURCE, id=key, file=name, title=title, headings=[*headings], tags=[*matter.get("tags", ())]
            ),
        )


def _front_matter(text: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """What stands between the lines at the top, and the rest: names with their values, as far as they are
    texts or lists of texts."""
    found = _MATTER.match(text)
    if found is None:
        return {}, text
    matter: dict[str, Any] = {}
    key = ""
    for line in (found[1] or "").splitlines():
        if (item := re.fullmatch(r"\s*-\s+(.+)", line)) and key:
            matter[key] = (*matter[key], _bare(item[1]))
        elif pair := re.fullmatch(r"([\w-]+):(?:\s+(.*))?", line):
            key, value = pair[1].lower(), (pair[2] or "").strip()
            listed = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
            matter[key] = tuple(bare for one in listed if (bare := _bare(one)))
    return matter, text[found.end() :]


def _bare(value: str) -> str:
    """A value without the quotes around it."""
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _sections(text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """The line it begins at, the headings above it, and the text of each section. What looks like a heading
    inside of a fence is code."""
    headings: list[tuple[int, str]] = []
    begun, lines, fence = 1, list[str](), ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and line.strip() == mark[1] else fence
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            yield begun, tuple(name for _, name in headings), "\n".join(lines).strip()
            level = len(heading[1])
            headings = [(above, name) for above, name in headings if above < level] + [(level, heading[2])]
            begun, lines = number, []
            continue
        lines.append(line)
    yield begun, tuple(name for _, name in headings), "\n".join(lines).strip()
