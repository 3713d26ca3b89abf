"""The command line. Commands import what is heavy when they run, so that `recollect --help` does not."""

from typing import Annotated

import typer

from recollect.cli import (
    asking,
    audit,
    bench,
    capacity,
    chat,
    config,
    demo,
    doctor,
    encryption,
    keys,
    learning,
    mcp,
    memories,
    mining,
    models,
    output,
    palace,
    person,
    retention,
    serve,
    stats,
    transfer,
    turns,
    upkeep,
    usage,
)
from recollect.cli.failing import Root
from recollect.cli.frame import Here, new_app


def _version(wanted: bool) -> None:
    if wanted:
        from recollect import __version__

        output.line(f"recollect {__version__}")
        raise typer.Exit


def _root(
    here: Here,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None:
    pass


app = new_app(
    "recollect",
    "Long-term memory for AI agents: recorded verbatim, recalled when it matters, gone when asked.",
    "recollect demo",
    "recollect record user 'My budget for the Hawaii trip is $10,000'",
    """recollect recall "What's my budget for the trip?" """.strip(),
    cls=Root,
    callback=_root,
)
for _part in (
    demo,
    chat,
    serve,
    turns,
    memories,
    asking,
    mining,
    learning,
    palace,
    retention,
    usage,
    stats,
    audit,
    transfer,
    upkeep,
    config,
    doctor,
    capacity,
):
    app.add_typer(_part.app)
for _group in (
    person.goals,
    person.profile,
    mining.entity,
    upkeep.rebuild,
    models.app,
    encryption.app,
    keys.app,
    mcp.app,
    bench.app,
):
    app.add_typer(_group)


def main() -> None:
    """The console script."""
    app(prog_name="recollect")
