"""recollect audit."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.model.records import AuditEntry
from recollect.model.shapes import to_json
from recollect.ports.tending import Receipt

app = typer.Typer()

_COLUMNS = ("when", "operation", "subject", "count", "channel", "agent", "conversation", "why")


@command(
    app,
    "recollect audit",
    "recollect audit --operation forget --since 2025-03-01",
    "recollect audit --read 0195a3c2-…",
    "recollect audit --receipts --json",
)
def audit(
    here: Here,
    operation: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this: record, remember, mine, recall, forget, …")
    ] = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help="Only what was about this kind.")] = None,
    since: Annotated[datetime | None, values.time_option("Only since then.")] = None,
    until: Annotated[datetime | None, values.time_option("Only until then.")] = None,
    read: Annotated[
        str | None, typer.Option(metavar="ID", help="Who has read this record (RECOLLECT_AUDIT=verbose).")
    ] = None,
    receipts: Annotated[
        bool, typer.Option("--receipts", help="The receipts of users who were erased, without their names.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Go on behind this entry.")] = None,
) -> None:
    """Show what was done with a memory, newest first: who, what, when, how much; never the content."""
    here.existing()
    with here.memory() as memory:
        if receipts:
            _answer_receipts(here, memory.store.receipts(limit))
            return
        mine = memory.scope(here.user)
        if read is not None:
            found = mine.readers(read, limit=limit)
        else:
            found = mine.audit(
                operation,
                kind=kind,
                since=since,
                until=until,
                conversation=here.options.conversation,
                limit=limit,
                after=after,
            )
    following = found[-1].id if len(found) == limit and read is None else None

    def tell() -> None:
        output.table(_COLUMNS, [_row(entry) for entry in found])
        if not found and read is not None and here.settings.audit != "verbose":
            here.note(f"Only RECOLLECT_AUDIT=verbose keeps who reads what; it is {here.settings.audit}.")
        elif not found:
            here.note("Nothing is noted of that.")
        elif following is not None:
            here.note(f"More: --after {following}")

    here.answer({"user": here.user, "audit": [to_json(one) for one in found], "next": following}, tell)


def _row(entry: AuditEntry) -> tuple[str, ...]:
    why: str | None = entry.details.get("why")
    cells = (entry.channel, entry.agent, entry.conversation, entry.error or why)
    return (
        output.local(entry.at),
        entry.operation,
        entry.subject,
        f"{entry.count:,}",
        *(cell or "" for cell in cells),
    )


def _answer_receipts(here: Here, receipts: Sequence[Receipt]) -> None:
    rows = [(output.local(one.at), one.id, one.what, output.summed(one.counts)) for one in receipts]
    here.answer(
        {"receipts": [output.plain(one) for one in receipts]},
        lambda: output.table(("when", "receipt", "erased", "with"), rows),
    )
