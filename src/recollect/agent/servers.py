"""Which MCP servers an agent has: as commands, as URLs, or in a file such as other clients have."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from recollect.errors import SettingsError

FILE_LIMIT = 1024 * 1024
"""The most bytes of a file of servers."""
SEPARATORS = ";\n"
"""Between several servers in one setting; a command may well have commas and spaces."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: `command`, the words of one, or else the `url` of one that speaks streamable HTTP."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Variables for the command; of ours it gets the harmless ones alone, such as PATH and HOME."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Headers for the URL, such as Authorization."""


def servers_of(given: str) -> list[McpServer]:
    """The servers that a text names: commands, URLs and files with `mcpServers`, separated by semicolons or
    lines."""
    for separator in SEPARATORS[1:]:
        given = given.replace(separator, SEPARATORS[0])
    return [server for one in given.split(SEPARATORS[0]) if one.strip() for server in _named(one.strip())]


def _named(given: str) -> Iterator[McpServer]:
    if given.startswith(("http://", "https://")):
        yield McpServer(urlsplit(given).hostname or "server", url=given)
        return
    if given.endswith(".json"):
        yield from _in_file(Path(given))
        return
    try:
        words = tuple(shlex.split(given))
    except ValueError as error:
        raise SettingsError(f"A command of an MCP server cannot be read: {error}.") from None
    yield McpServer(Path(words[0]).name, words)


def _in_file(path: Path) -> Iterator[McpServer]:
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise SettingsError(f"{path} is no file of MCP servers: it has more than {FILE_LIMIT:,} bytes.")
        found: Any = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise SettingsError(f"{path} is not JSON.") from None
    entries: Any = cast("dict[str, Any]", found).get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(entries, dict):
        raise SettingsError(f'{path} names no servers: it needs {{"mcpServers": {{"name": {{…}}}}}}.')
    for name, entry in cast("dict[str, Any]", entries).items():
        yield _entry(path, name, entry)


def _entry(path: Path, name: str, given: Any) -> McpServer:
    """A server as other clients' files have it."""
    entry = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    command, url, args = entry.get("command"), entry.get("url"), entry.get("args", [])
    if isinstance(command, str) and command and _texts(args):
        return McpServer(name, (command, *args), env=_pairs(path, name, entry, "env"))
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return McpServer(name, url=url, headers=_pairs(path, name, entry, "headers"))
    raise SettingsError(f"{path}: the server {name!r} needs a command with args, or a url.")


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in cast("list[Any]", values))


def _pairs(path: Path, name: str, entry: Mapping[str, Any], what: str) -> dict[str, str]:
    pairs: Any = entry.get(what, {})
    if not isinstance(pairs, dict) or not _texts(list(cast("dict[Any, Any]", pairs).values())):
        raise SettingsError(f"{path}: the {what} of {name!r} must map names to texts.")
    return cast("dict[str, str]", pairs)
