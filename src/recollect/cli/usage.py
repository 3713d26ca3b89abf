"""recollect usage."""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, NamedTuple

import typer

from recollect.cli import output, values
from recollect.cli.frame import Here, command
from recollect.record.spending import Spending

app = typer.Typer()

GROUPS = ("day", "source", "model")
_NUMBERS = ("calls", "prompt", "completion", "cost")


class _Sum(NamedTuple):
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    cost: float | None = None

    def plus(self, one: Spending) -> "_Sum":
        cost = self.cost if one.cost is None else (self.cost or 0.0) + one.cost
        return _Sum(self.calls + one.calls, self.prompt + one.prompt, self.completion + one.completion, cost)

    @property
    def cells(self) -> tuple[str, ...]:
        cost = "" if self.cost is None else f"{self.cost:,.6f}".rstrip("0").rstrip(".")
        return (*(f"{count:,}" for count in self[:3]), cost)


@command(
    app,
    "recollect usage",
    "recollect usage --since 2025-03-01 --by model",
    "RECOLLECT_PRICES=gpt-4o-mini=0.15/0.6 recollect usage --by source --json",
)
def usage(
    here: Here,
    since: Annotated[
        date | None, typer.Option(parser=values.a_day, metavar="DAY", help="Only from this day (UTC) on.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(parser=values.one_of(GROUPS), metavar="GROUP", help=f"Add up by {' or '.join(GROUPS)}."),
    ] = None,
) -> None:
    """Show what models were asked for one user: calls, tokens, and the cost by RECOLLECT_PRICES."""
    with here.stored() as mine:
        spent = mine.spending(since)
    groups = GROUPS if by is None else (by,)
    sums: dict[tuple[str, ...], _Sum] = {}
    for one in spent:
        key = tuple(str(getattr(one, group)) for group in groups)
        sums[key] = sums.get(key, _Sum()).plus(one)
    total = _total(spent)
    rows = [(*key, *found.cells) for key, found in sorted(sums.items())]

    def tell() -> None:
        if not rows:
            here.note(f"No model was asked for {here.user} yet, or not in the time that was asked for.")
            return
        output.table((*groups, *_NUMBERS), [*rows, ("total", *[""] * (len(groups) - 1), *total.cells)])
        if free := sorted({one.model for one in spent if one.cost is None}):
            here.note(f"Without a price (RECOLLECT_PRICES): {', '.join(free)}.")

    data = [dict(zip(groups, key, strict=True)) | found._asdict() for key, found in sorted(sums.items())]
    here.answer({"user": here.user, "usage": data, "total": total._asdict()}, tell)


def _total(spent: Iterable[Spending]) -> _Sum:
    total = _Sum()
    for one in spent:
        total = total.plus(one)
    return total
