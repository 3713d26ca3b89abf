"""recollect mcp: memory for MCP clients, and its place in their configuration."""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import mcp_clients, output, values
from recollect.cli.frame import Here, command, new_app
from recollect.cli.mcp_clients import CLIENTS, Change
from recollect.errors import SettingsError
from recollect.memory import Memory
from recollect.model.scope import GLOBAL
from recollect.settings import Settings

CONVERSATION_BYTES = 4
"""How much tells the conversation of one client from those of others."""

Server = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Speak for the memory of this server. Default: RECOLLECT_SERVER_URL."),
]
Key = Annotated[
    str | None, typer.Option(metavar="KEY", help="The key that opens it. Better: RECOLLECT_SERVER_KEY.")
]
Known = Annotated[
    str,
    typer.Argument(parser=values.one_of(CLIENTS), metavar="CLIENT", help=f"{', '.join(CLIENTS)}."),
]
Project = Annotated[
    bool, typer.Option("--project", help="For the project in this directory, in place of all of yours.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="What the client calls it.")]
Print = Annotated[bool, typer.Option("--print", help="Only print it, to be put there by hand.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be written.")]


def _serve(here: Here, server: Server = None, key: Key = None) -> None:
    if here.command is not None:
        return
    try:
        from recollect.server.mcp import stdio
        from recollect.server.mcp.toolkit import Seen
    except ImportError as error:
        raise SettingsError(f"MCP needs its extra: pip install 'recollect[mcp]' ({error}).") from None
    settings = _settings(here, server, key)
    with _opened(here, settings) as mine:
        own = f"mcp-{secrets.token_hex(CONVERSATION_BYTES)}"
        stdio.run(Seen(mine, here.options.conversation or own))


app = new_app(
    "mcp",
    "Speak MCP on standard input and output, for a client that starts this; or have clients start it.",
    "recollect mcp --user derek",
    "recollect mcp install claude-desktop",
    "recollect mcp install cursor --server https://memory.example.org --key rk_… --dry-run",
    callback=_serve,
    alone=True,
)


def _settings(here: Here, server: str | None, key: str | None) -> Settings:
    if server and here.options.db:
        raise typer.BadParameter("give --db or --server, not both.", param_hint="--server")
    # A database that is named here is meant, whatever server the environment names.
    return here.settings_with(server_url="" if here.options.db else server, server_key=key)


@contextmanager
def _opened(here: Here, settings: Settings) -> Generator[Any]:
    """The user's memory: of the database, tended meanwhile, or of a server, which may be down for now."""
    options = here.options
    seen = (options.channel or GLOBAL, options.agent, options.conversation)
    if settings.server_url:
        from recollect import Client

        with Client(settings.server_url, settings.server_key or None) as client:
            yield client.scope(options.user, *seen)
        return
    embedder = wiring.open_embedder(settings, here.fetching)
    with Memory.open(settings.db, embedder=embedder or "none", background=True) as memory:
        here.stop_progress()
        yield memory.scope(here.user, *seen)


@command(
    app,
    "recollect mcp install claude-desktop",
    "recollect mcp install claude-code --project",
    "recollect mcp install vscode --user derek --channel work --dry-run",
    "recollect mcp install cursor --server https://memory.example.org --key rk_…",
)
def install(
    here: Here,
    client: Known,
    project: Project = False,
    server: Server = None,
    key: Key = None,
    name: Name = "recollect",
    dry_run: DryRun = False,
    print: Print = False,
) -> None:
    """Write this memory into a client's configuration. What else is there stays, and a copy too."""
    settings = _settings(here, server, key)
    entry = mcp_clients.entry(CLIENTS[client], here.options, settings, project=project)
    change = Change(CLIENTS[client], name, entry, project)
    if print:
        here.answer({change.client.servers: {name: change.shown()}}, lambda: output.line(change.described()))
    else:
        _changed(here, change, dry_run)
    unsaid = [] if settings.server_url else mcp_clients.unsaid(here.options)
    if unsaid:
        here.note(f"Not written down, as it is secret: {', '.join(unsaid)}. Add it to `env` there.")


@command(app, "recollect mcp uninstall claude-desktop")
def uninstall(
    here: Here, client: Known, project: Project = False, name: Name = "recollect", dry_run: DryRun = False
) -> None:
    """Take this memory out of a client's configuration. The memory itself stays."""
    _changed(here, Change(CLIENTS[client], name, None, project), dry_run)


def _changed(here: Here, change: Change, dry_run: bool) -> None:
    file = change.file
    text = change.planned()
    backup = mcp_clients.write(file, text) if text is not None and not dry_run else None
    data = {
        "client": change.client.name,
        "file": str(file),
        "name": change.name,
        "changed": text is not None,
        "dry_run": dry_run,
        "entry": change.shown(),
        "backup": str(backup) if backup else None,
    }

    def tell() -> None:
        if text is None:
            gone = f"There is no {change.name} in {file}: nothing to take out."
            output.line(gone if change.entry is None else f"{file} is as it should be already.")
            return
        output.line(f"{'Would write' if dry_run else 'Written'}: {file}")
        output.line(change.described())
        if backup:
            output.line(f"As it was before: {backup}")
        if not dry_run:
            output.line(f"Restart {change.client.title} to have it take effect.")

    here.answer(data, tell)
