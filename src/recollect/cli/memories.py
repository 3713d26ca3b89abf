"""recollect remember, correct, pin, forget."""

import sys
from datetime import datetime
from typing import Annotated

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.errors import NotFound
from recollect.model.records import MEMORY_KINDS, MemoryRecord
from recollect.model.shapes import to_json
from recollect.tend.erase import Forgotten

app = typer.Typer()

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")]


def _answer(here: Here, memory: MemoryRecord) -> None:
    here.answer(
        to_json(memory),
        lambda: output.cards([((memory.id, memory.kind, output.local(memory.valid_from)), memory.content)]),
    )


@command(
    app,
    'recollect remember "Derek is allergic to peanuts" --about Derek --pin',
    'recollect remember "Deploy: tag, wait for CI, promote" --kind procedure',
)
def remember(
    here: Here,
    content: values.Content,
    kind: Annotated[
        str,
        typer.Option(parser=values.one_of(MEMORY_KINDS), metavar="KIND", help=f"{', '.join(MEMORY_KINDS)}."),
    ] = "fact",
    about: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whom or what it is about. Repeatable.")
    ] = None,
    since: Annotated[datetime | None, values.time_option("Since when it is true. Default: now.")] = None,
    until: Annotated[datetime | None, values.time_option("Until when it is true.")] = None,
    expires: Annotated[datetime | None, values.time_option("When it may be dropped.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="How sure it is.")] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Keep it whatever the retention policy says.")] = False,
    metadata: values.Metadata = None,
) -> None:
    """Save a memory as it is given."""
    text = values.content(content)
    fields = {"valid_from": since, "valid_to": until, "expires_at": expires, "confidence": confidence}
    with here.mine() as mine:
        memory = mine.remember(
            text, kind=kind, about=about or (), pinned=pin, metadata=metadata or {}, **fields
        )
    _answer(here, memory)


@command(
    app,
    'recollect correct 0195a3c2-… "The budget is $12,500"',
    'recollect correct 0195a3c2-… "The budget is $12,500" --since 2025-04-02',
)
def correct(
    here: Here,
    id: Id,
    content: values.Content,
    since: Annotated[datetime | None, values.time_option("Since when that holds. Default: now.")] = None,
) -> None:
    """Replace a memory by what is true now; the old one is kept as what held before."""
    text = values.content(content)
    with here.mine() as mine:
        memory = mine.correct(id, text, since=since)
    _answer(here, memory)


@command(app, "recollect pin 0195a3c2-…", "recollect pin 0195a3c2-… --off")
def pin(
    here: Here, id: Id, off: Annotated[bool, typer.Option("--off", help="No longer keep it.")] = False
) -> None:
    """Keep a memory whatever the retention policy says."""
    with here.mine() as mine:
        memory = mine.pin(id, not off)
    _answer(here, memory)


@command(
    app,
    "recollect forget 0195a3c2-… --with-sources",
    "recollect forget --conversation march-15",
    "recollect forget --channel work",
    "recollect forget --all --yes",
)
def forget(
    here: Here,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The id of anything stored.")] = None,
    with_sources: Annotated[
        bool, typer.Option("--with-sources", help="Erase the turns behind the memory too.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Everything of this user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase one record, or without an ID everything of the --conversation, --channel or --agent given.

    What was derived from it alone goes too, and no byte of it stays in the files.
    """
    options = here.options
    places = {"conversation": options.conversation, "channel": options.channel, "agent": options.agent}
    given = {name: value for name, value in places.items() if value} if id is None else {}
    if (id is not None) + everything + len(given) != 1:
        raise typer.BadParameter(
            "say what to forget with exactly one of ID, --conversation, --channel, --agent and --all.",
            param_hint="ID",
        )
    if everything and not yes:
        _confirm(f"Forget everything {here.user} ever stored in {here.settings.db}?")
    with here.memory() as memory:
        gone = here.scope(memory).forget(id, everything=everything, with_sources=with_sources, **given)
        pending = memory.store.needs_scrub()
    if given and not gone.total:
        name, value = next(iter(given.items()))
        raise NotFound(f"There is nothing to forget of the {name} {value!r}.")
    here.answer(
        {"forgotten": dict(gone.counts), "total": gone.total, "bytes_erased": not pending},
        lambda: _tell_forgotten(gone),
    )


def _tell_forgotten(gone: Forgotten) -> None:
    parts = [f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in gone.counts.items()]
    output.line(f"Forgotten: {', '.join(parts) or 'nothing, there was nothing'}.")


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is here to be asked: add --yes to mean it.", param_hint="--all")
    if not typer.confirm(output.safe(question), err=True):
        output.error_line("Nothing was forgotten.")
        raise typer.Exit(1)
