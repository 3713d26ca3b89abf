"""recollect end, procedures, episodes, tools."""

from typing import Annotated

import typer

from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.errors import Invalid
from recollect.model.records import Episode, Procedure
from recollect.model.shapes import to_json

app = typer.Typer()

Task = Annotated[str, typer.Argument(metavar="TASK", help="What is to be done.")]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="How many at most.")]


@command(
    app,
    "recollect end --conversation march-15",
    'recollect end --conversation march-15 --outcome "The flights are booked" --success',
)
def end(
    here: Here,
    outcome: Annotated[str | None, typer.Option(help="What came of it.")] = None,
    success: Annotated[
        bool | None, typer.Option("--success/--failure", help="Whether that is what was wanted.")
    ] = None,
) -> None:
    """Say that the --conversation has ended; the background then makes an episode of it."""
    if here.options.conversation is None:
        raise Invalid("Say which conversation has ended: add --conversation.")
    with here.stored() as mine:
        talk = mine.end(outcome=outcome, success=success)
    here.answer(
        to_json(talk),
        lambda: output.table(("conversation", "ended"), [(talk.id, output.local(talk.ended_at))]),
    )


@command(app, 'recollect procedures "deploy the shop"', 'recollect procedures "deploy the shop" --json')
def procedures(here: Here, task: Task, top_k: TopK = 3) -> None:
    """How tasks like this are done: what went well before comes first."""
    with here.stored() as mine:
        found = mine.procedures(task, top_k)

    def tell() -> None:
        output.cards(((p.id, _rate(p), output.local(p.last_used)), p.content) for p in found)
        if not found:
            here.note("Nothing like it was learnt yet.")

    here.answer({"procedures": [to_json(procedure) for procedure in found]}, tell)


def _rate(procedure: Procedure) -> str:
    tried = procedure.successes + procedure.failures
    return f"went well {procedure.successes} of {tried} times" if tried else "not tried yet"


@command(app, 'recollect episodes "deploy the shop"')
def episodes(here: Here, task: Task, top_k: TopK = 3) -> None:
    """Tasks like this that were worked on, and how they ended."""
    with here.stored() as mine:
        found = mine.episodes(task, top_k)

    def tell() -> None:
        output.cards(((e.id, _ended(e), output.local(e.valid_from)), e.content) for e in found)
        if not found:
            here.note("Nothing like it was done yet.")

    here.answer({"episodes": [to_json(episode) for episode in found]}, tell)


def _ended(episode: Episode) -> str:
    return {True: "went well", False: "failed", None: "open"}[episode.success]


@command(app, "recollect tools", "recollect tools search_flights --json")
def tools(
    here: Here,
    tool: Annotated[str | None, typer.Argument(metavar="TOOL", help="Only this one.")] = None,
) -> None:
    """How often each tool was called, how that went and how long it took."""
    with here.stored() as mine:
        found = mine.tools(tool)
    rows = [
        {
            "tool": stats.tool,
            "calls": stats.calls,
            "successes": stats.successes,
            "failures": stats.failures,
            "average_ms": None if stats.average_ms is None else round(stats.average_ms, 1),
            "last_used": stats.last_used.isoformat(),
            "last_error": stats.last_error,
        }
        for stats in found
    ]

    def tell() -> None:
        names = ("tool", "calls", "went well", "failed", "average ms", "last error")
        keys = ("tool", "calls", "successes", "failures", "average_ms", "last_error")
        if rows:
            output.table(names, [tuple(_shown(row[key]) for key in keys) for row in rows])
        else:
            here.note("No tool was called yet.")

    here.answer({"tools": rows}, tell)


def _shown(value: object) -> str:
    return "" if value is None else str(value)
