"""recollect serve: memory over HTTP."""

import sys
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import database, output
from recollect.cli.frame import Here, command
from recollect.errors import SettingsError
from recollect.settings import Settings

app = typer.Typer()

EVERYWHERE = ("0.0.0.0", "::")
"""Where to listen for whoever comes by any way; nobody can call that."""


@command(
    app,
    "recollect serve",
    "recollect serve --port 8080 --db ./memory.db",
    "recollect serve --host 0.0.0.0 --processes 4 --db postgresql://recollect@db/recollect",
)
def serve(
    here: Here,
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Where to listen. Others than this machine need keys."),
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port; 0: any that is free.")] = None,
    processes: Annotated[
        int | None, typer.Option(metavar="N", help="How many server processes share the address.")
    ] = None,
) -> None:
    """Serve memory over HTTP: REST, the gateway for OpenAI clients, and the background's work.

    While there are no keys it has one user, whoever is on this machine: --user says whose memory that is.

    Ctrl-C or SIGTERM ends it once what was accepted is done; a second one at once.
    """
    try:
        from recollect.server import running
    except ImportError as error:
        raise SettingsError(
            f"The server needs its extra: pip install 'recollect[server]' ({error})."
        ) from None

    options = {"host": host, "port": port, "processes": processes}
    settings = here.settings_with(**options)
    shared = {name: getattr(here.options, name) for name in ("db", "embedder", "user")}
    given: dict[str, Any] = {**shared, **options}

    running.run(
        {name: value for name, value in given.items() if value is not None},
        lambda url, locked: announce(here, settings, url, locked),
        new=database.look(settings).empty,
    )


def announce(here: Here, settings: Settings, url: str, locked: bool) -> None:
    """Say where the server is, and how to ask it; a program that wants to know asks for JSON."""
    where = wiring.address(settings)
    places = {"page": "memory", "gateway": "v1", "mcp": "mcp", "docs": "docs"}
    data = {"address": url, "db": where, **{name: f"{url}/{path}" for name, path in places.items()}}
    if here.options.json or not here.options.quiet:
        here.answer(data, lambda: _tell(url, settings.host, where, locked))
    sys.stdout.flush()


def _tell(url: str, host: str, where: str, locked: bool) -> None:
    everywhere = f" and every other address of this machine ({host})" if host in EVERYWHERE else ""
    output.line(f"Recollect serves {where} at {url}{everywhere}")
    output.line(f"  look      {url}/memory in a browser")
    key = ' -H "Authorization: Bearer $KEY"' if locked else ""
    body = """'{"query": "What do you know about me?"}'"""
    output.line(f"  ask       curl -s {url}/api/v1/recall{key} -H 'content-type: application/json' -d {body}")
    output.line(f"  gateway   base_url={url}/v1{' and api_key=$KEY' if locked else ''} in any OpenAI client")
    output.line(f"  mcp       {url}/mcp")
    output.line(f"  docs      {url}/docs")
