"""recollect retention, promote."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.model.retention import assigned
from recollect.model.shapes import to_json

app = typer.Typer()


@command(
    app,
    "recollect retention",
    "recollect retention expire=on ttl_days=30",
    "recollect retention --channel secret isolated=on",
    "recollect retention ttl_days=",
)
def retention(
    here: Here,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE", help="What is to differ here; NAME= takes it back."),
    ] = None,
) -> None:
    """Show how long what is kept, and who says so; or have the user, or with --channel that channel, differ
    from the deployment (RECOLLECT_RETENTION)."""
    given = dict(_value(value) for value in values or ())
    with here.mine() if given else here.stored() as mine:
        if given:
            mine.set_retention(here.options.channel, **given)
        policy, set_by = asdict(mine.retention()), mine.retention_origins()
    rows = [(name, _shown(value), set_by[name]) for name, value in policy.items()]
    place = {"user": here.user, "channel": mine.scope.channel}
    answer = {**place, "retention": policy, "set_by": set_by}
    here.answer(answer, lambda: output.table(("name", "value", "set by"), rows))


def _value(text: str) -> tuple[str, Any]:
    name, equals, value = (part.strip() for part in text.partition("="))
    return (name, None) if equals and not value else assigned(text)


def _shown(value: float) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else f"{value:,}"


@command(app, "recollect promote 0195a3c2-…", "recollect promote 0195a3c2-… --undo")
def promote(
    here: Here,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")],
    undo: Annotated[bool, typer.Option("--undo", help="Move it back to the channel it was in.")] = False,
) -> None:
    """Move a memory from its channel to where all channels read it."""
    with here.stored() as mine:
        memory = mine.promote(id, not undo)
    now = f"{memory.id} is in {memory.channel!r} now."
    here.answer(to_json(memory), lambda: output.line(now))
