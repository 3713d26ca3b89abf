"""recollect serve: memory over HTTP."""

import sys
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.errors import SettingsError

app = typer.Typer()


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
    given: dict[str, Any] = {"db": here.options.db, "embedder": here.options.embedder, **options}

    def ready(url: str) -> None:
        where = wiring.address(settings)
        data = {"address": url, "db": where, "gateway": f"{url}/v1", "docs": f"{url}/docs"}
        here.answer(data, lambda: _tell(url, where))
        sys.stdout.flush()

    running.run({name: value for name, value in given.items() if value is not None}, ready)


def _tell(url: str, where: str) -> None:
    output.line(f"Recollect serves {where} at {url}")
    body = """'{"query": "What do you know about me?"}'"""
    output.line(f"  ask       curl -s {url}/api/v1/recall -H 'content-type: application/json' -d {body}")
    output.line(f"  gateway   base_url={url}/v1 in any OpenAI client")
    output.line(f"  docs      {url}/docs")
