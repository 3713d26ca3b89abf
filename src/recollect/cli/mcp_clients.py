"""Where MCP clients keep their configuration, and what stands in it for a memory."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

from platformdirs import user_config_path

from recollect import settings as settings_module
from recollect import wiring
from recollect.cli.frame import Options
from recollect.errors import Invalid, SettingsError
from recollect.settings import CONFIG, PREFIX, SECRET, Settings

FILE_LIMIT = 64 * 1024 * 1024
"""The largest configuration that is read, in bytes; one client keeps its history in it."""
SET = "…"
"""In place of what is secret."""
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its file for all of one's work, its file in a project, and what it calls its servers."""

    name: str
    title: str
    own: Callable[[], Path]
    project: Path | None
    servers: str = "mcpServers"
    typed: bool = True
    """Whether an entry says how to reach it, which may be over HTTP."""


def _of_app(app: str, *parts: str) -> Path:
    return user_config_path(app, appauthor=False, roaming=True).joinpath(*parts)


CLIENTS: dict[str, Client] = {
    one.name: one
    for one in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            lambda: _of_app("Claude", "claude_desktop_config.json"),
            None,
            typed=False,
        ),
        Client("claude-code", "Claude Code", lambda: Path.home() / ".claude.json", Path(".mcp.json")),
        Client("cursor", "Cursor", lambda: Path.home() / ".cursor" / "mcp.json", Path(".cursor", "mcp.json")),
        Client(
            "vscode",
            "VS Code",
            lambda: _of_app("Code", "User", "mcp.json"),
            Path(".vscode", "mcp.json"),
            servers="servers",
        ),
    )
}


def entry(client: Client, options: Options, settings: Settings, *, project: bool) -> Entry:
    """What starts this memory, or leads to it. A project's file is shared: it says nothing of one machine or
    one person but what was asked for."""
    if project and client.project is None:
        raise SettingsError(f"{client.title} has no configuration for a project: leave out --project.")
    if project and settings.server_key:
        raise SettingsError("A project's file is shared, and no place for a key: leave out --project.")
    agent = options.agent or client.name
    if settings.server_url and client.typed:
        seen = {"channel": options.channel, "agent": agent, "conversation": options.conversation}
        query = urlencode({name: value for name, value in seen.items() if value})
        headers = {"Authorization": f"Bearer {settings.server_key}"} if settings.server_key else {}
        headers |= {"X-Recollect-User": options.user} if options.user else {}
        url = f"{settings.server_url.rstrip('/')}/mcp?{query}"
        return {"type": "http", "url": url, **({"headers": headers} if headers else {})}
    user = options.user or (None if project or settings.server_url else settings.user)
    given = {"user": user, "channel": options.channel, "agent": agent, "conversation": options.conversation}
    words = [word for name, value in given.items() if value for word in (f"--{name}", value)]
    started = ["recollect"] if project else [sys.executable, "-m", "recollect"]
    command, *before = started
    env = _env(options, settings, project=project)
    kind = {"type": "stdio"} if client.typed else {}
    return {**kind, "command": command, "args": [*before, "mcp", *words], **({"env": env} if env else {})}


def _env(options: Options, settings: Settings, *, project: bool) -> dict[str, str]:
    """The settings that hold here and would not where the client starts it."""
    if settings.server_url:
        key = {f"{PREFIX}SERVER_KEY": settings.server_key} if settings.server_key else {}
        return {f"{PREFIX}SERVER_URL": settings.server_url, **key}
    given = _given(options)
    if project:
        given = {name: value for name, value in given.items() if value is getattr(options, name, None)}
    found = {f"{PREFIX}{name.upper()}": str(value) for name, value in given.items() if name not in SECRET}
    if f"{PREFIX}DB" in found and not wiring.is_server(settings):
        found[f"{PREFIX}DB"] = str(wiring.database_file(settings).absolute())
    if not project and (file := settings_module.config_file()) is not None:
        found[CONFIG] = str(file)
    return found


def unsaid(options: Options) -> list[str]:
    """The secrets that hold here and are not written down."""
    return [f"{PREFIX}{name.upper()}" for name in _given(options) if name in SECRET]


def _given(options: Options) -> dict[str, Any]:
    """The settings of the command line and the environment, but for who and where."""
    said = {name: value for name in ("db", "embedder") if (value := getattr(options, name)) is not None}
    found = settings_module.sourced(**said)
    elsewhere = ("user", "server_url", "server_key")
    return {
        name: one.value
        for name, one in found.items()
        if one.origin in ("argument", "environment") and name not in elsewhere
    }


@dataclass(frozen=True, slots=True)
class Change:
    """An entry that is to be in a client's file, or, without one, not to be there."""

    client: Client
    name: str
    entry: Entry | None
    project: bool

    @property
    def file(self) -> Path:
        if self.project and self.client.project is not None:
            return Path.cwd() / self.client.project
        return self.client.own()

    def planned(self) -> str | None:
        """What is to be in the file; None when it is there already."""
        whole = _read(self.file)
        servers = whole.get(self.client.servers, {})
        if not isinstance(servers, dict):
            raise Invalid(f"{self.client.servers} in {self.file} is no object: mend it, and try again.")
        there = cast("dict[str, Any]", servers)
        if there.get(self.name) == self.entry:
            return None
        changed = {**there, self.name: self.entry} if self.entry is not None else dict(there)
        if self.entry is None:
            del changed[self.name]
        return json.dumps({**whole, self.client.servers: changed}, indent=2, ensure_ascii=False) + "\n"

    def shown(self) -> Entry | None:
        """The entry without what is secret in it."""
        if self.entry is None:
            return None
        hidden = {f"{PREFIX}{name.upper()}" for name in SECRET} | {"Authorization"}
        parts: dict[str, Any] = dict(self.entry)
        for part in ("env", "headers"):
            if part in parts:
                parts[part] = {n: SET if n in hidden else _address(n, v) for n, v in parts[part].items()}
        return parts

    def described(self) -> str:
        if self.entry is None:
            return f"without {self.name!r} among its {self.client.servers}"
        return json.dumps({self.client.servers: {self.name: self.shown()}}, indent=2, ensure_ascii=False)


def _address(name: str, value: str) -> str:
    """A value; of a database's address, without its password."""
    return wiring.address(settings_module.load(db=value)) if name == f"{PREFIX}DB" else value


def _read(file: Path) -> Mapping[str, Any]:
    """What is in the file; nothing when there is none. What we could not write back as it was is refused."""
    try:
        with file.open("rb") as stream:
            content = stream.read(FILE_LIMIT + 1)
    except FileNotFoundError:
        return {}
    if len(content) > FILE_LIMIT:
        raise Invalid(f"{file} has over {FILE_LIMIT:,} bytes: that is no configuration.")
    try:
        text = content.decode("utf-8-sig")
        whole: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise Invalid(
            f"{file} is not plain JSON ({where}), and is left as it is: comments and commas at the end of a "
            "list would be lost. Take them out, or add by hand what --print prints."
        ) from None
    if not isinstance(whole, dict):
        raise Invalid(f"{file} holds no JSON object, and is left as it is.")
    return cast("dict[str, Any]", whole)


def write(file: Path, text: str) -> Path | None:
    """Put the text in place of the file at once, or not at all; and where the file as it was is kept."""
    target = file.resolve()  # a link stays one
    target.parent.mkdir(parents=True, exist_ok=True)
    backup = target.with_name(f"{target.name}.bak") if target.exists() else None
    if backup is not None:
        shutil.copy2(target, backup)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # nobody else reads it
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
            stream.flush()
            os.fsync(stream.fileno())
        if backup is not None:
            shutil.copymode(target, temporary)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return backup
