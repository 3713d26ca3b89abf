"""recollect remember, correct, pin, forget."""

import sys
from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from recollect import wiring
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
    "recollect correct 0195a3c2-… 'The budget is $12,500'",
    "recollect correct 0195a3c2-… 'The budget is $12,500' --since 2025-04-02",
)
def correct(
    here: Here,
    id: Id,
    content: values.Content,
    since: Annotated[datetime | None, values.time_option("Since when that holds. Default: now.")] = None,
) -> None:
    """Replace a memory by what is true now; the old one is kept as what held before."""
    text = values.content(content)
    with here.stored() as mine:
        memory = mine.correct(id, text, since=since)
    _answer(here, memory)


@command(app, "recollect pin 0195a3c2-…", "recollect pin 0195a3c2-… --off")
def pin(
    here: Here, id: Id, off: Annotated[bool, typer.Option("--off", help="No longer keep it.")] = False
) -> None:
    """Keep a memory whatever the retention policy says."""
    with here.stored() as mine:
        memory = mine.pin(id, not off)
    _answer(here, memory)


@command(
    app,
    "recollect forget 0195a3c2-… --with-sources",
    "recollect forget --conversation march-15 --dry-run",
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Erase one record, or without an ID everything of the --conversation, --channel or --agent given.

    What was derived from it alone goes too, and no byte of it stays in the files.
    """
    place = _place(here, id, everything)
    if not (yes or dry_run or id or sys.stdin.isatty()):
        raise typer.BadParameter("nobody is here to be asked: add --yes to mean it.", param_hint="--yes")
    here.existing()
    with here.memory() as memory:
        mine = here.scope(memory)
        forget = partial(mine.forget, id, everything=everything, with_sources=with_sources, **place)
        if dry_run or not (id or yes):
            would_go = _counted(forget(dry_run=True), place)
            if dry_run:
                _tell_dry(here, would_go)
                return
            _confirm(_question(here, place, would_go))
        gone = forget()
        _counted(gone, place)
        pending = memory.store.needs_scrub()
    told = {"forgotten": dict(gone.counts), "total": gone.total, "receipt": gone.receipt}
    went = output.summed(gone.counts) or "nothing, there was nothing"
    receipt = f" Receipt: {gone.receipt}" if gone.receipt else ""
    here.answer(
        {**told, "bytes_erased": not pending},
        lambda: output.line(f"Forgotten: {went}.{receipt}"),
    )


def _place(here: Here, id: str | None, everything: bool) -> dict[str, str]:
    """The one place that is to be emptied; none when it is one record, or everything."""
    options = here.options
    places = {"conversation": options.conversation, "channel": options.channel, "agent": options.agent}
    given = {name: value for name, value in places.items() if value} if id is None else {}
    if (id is not None) + everything + len(given) != 1:
        raise typer.BadParameter(
            "say what to forget with exactly one of ID, --conversation, --channel, --agent and --all.",
            param_hint="ID",
        )
    return given


def _counted(gone: Forgotten, place: dict[str, str]) -> dict[str, int]:
    """What goes, kind by kind; `NotFound` when a place is given that has nothing in it."""
    if place and not gone.counts:
        ((name, value),) = place.items()
        raise NotFound(f"There is nothing to forget of the {name} {value!r}.")
    return dict(gone.counts)


def _tell_dry(here: Here, would_go: dict[str, int]) -> None:
    named = output.summed(would_go)
    here.answer(
        {"would_forget": would_go, "total": sum(would_go.values())},
        lambda: output.line(f"Would be forgotten: {named or 'nothing, there is nothing'}."),
    )


def _question(here: Here, place: dict[str, str], would_go: dict[str, int]) -> str:
    if not place:
        what = f"everything {here.user} ever stored in {wiring.address(here.settings)}"
    else:
        ((name, value),) = place.items()
        what = f"all of the {name} {value!r} and what was derived from it alone"
    return f"Forget {what}: {output.summed(would_go) or 'nothing is there'}?"


def _confirm(question: str) -> None:
    if not typer.confirm(output.safe(question), err=True):
        output.error_line("Nothing was forgotten.")
        raise typer.Exit(1)
