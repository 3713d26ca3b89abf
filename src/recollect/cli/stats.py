"""recollect stats."""

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from recollect import wiring
from recollect.cli import output
from recollect.cli.frame import Here, command
from recollect.doing import MOST_DAYS, PERIODS, SHARES, cache_of, daily, document, times_of
from recollect.measuring import RECALL, RECORD
from recollect.metrics import Figures, exposition, figures
from recollect.ports.clock import SystemClock
from recollect.record.sizes import Filled
from recollect.settings import MiB

app = typer.Typer()


@command(
    app,
    "recollect stats",
    "recollect stats --days 30",
    "recollect stats --user derek",
    "recollect stats --prometheus",
)
def stats(
    here: Here,
    days: Annotated[
        int, typer.Option("--days", min=1, max=MOST_DAYS, metavar="N", help="How many days to chart.")
    ] = 14,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Everything as a Prometheus server reads it.")
    ] = False,
) -> None:
    """Count what is stored of one user, and how much of the quotas that is; and, unless --user says whose,
    show how the whole memory is doing: sizes, times of recall, what waits, what the background did."""
    if prometheus:
        _prometheus(here)
        return
    here.existing()
    with here.memory() as memory:
        mine = here.scope(memory)
        own = _Own(here.user, mine.counts(), mine.sizes())
        found = None
        if here.options.user is None:
            now, wanted = memory.clock.now(), max(days, *PERIODS.values())
            found = figures(memory.store, memory.settings, now, wanted)

    def tell() -> None:
        if not own.counts and found is None:
            here.note(f"Nothing of {here.user} is stored yet.")
        own.tell()
        if found is not None:
            _tell(found, days)

    here.answer(own.document() | ({} if found is None else document(found, days)), tell)


def _prometheus(here: Here) -> None:
    if here.options.user is not None:
        raise typer.BadParameter("its figures are everybody's: leave out --user.", param_hint="--prometheus")
    here.existing()
    with closing(wiring.open_store(here.settings)) as store:
        sys.stdout.write(exposition(figures(store, here.settings, SystemClock().now())))


# Of one user


@dataclass(frozen=True, slots=True)
class _Own:
    """What is stored of the user who asks, or who is asked for."""

    user: str
    counts: Mapping[str, int]
    sizes: Mapping[str, Filled]

    def document(self) -> dict[str, Any]:
        channels = {channel: output.plain(size) for channel, size in self.sizes.items() if channel}
        whole = output.plain(self.sizes[""]) if "" in self.sizes else {}
        return {"user": self.user, "counts": self.counts, "sizes": whole, "channels": channels}

    def tell(self) -> None:
        if self.counts:
            output.table(("kind", "count"), [(kind, f"{count:,}") for kind, count in self.counts.items()])
        rows = [(channel or "in all", *_filled(size)) for channel, size in self.sizes.items()]
        output.section("channels", ("channel", "turns", "quota", "memories", "quota"), rows)


def _filled(size: Filled) -> tuple[str, str, str, str]:
    turns, memories = _share(size.turns, size.turn_quota), _share(size.memories, size.memory_quota)
    return f"{size.turns:,}", turns, f"{size.memories:,}", memories


def _share(count: int, quota: int) -> str:
    return f"{count / quota:.1%} of {quota:,}" if quota else "no limit"


# Of everybody

_CACHES = {
    "cache": "searches answered from memory",
    "recall_cache": "recalls answered out of Redis",
    "embedding_cache": "questions embedded before, out of Redis",
}


def _tell(found: Figures, days: int) -> None:
    stats = found.stats
    rows = [(name, f"{count:,}") for name, count in stats["rows"].items() if count]
    output.section("stored", ("", "rows"), [*rows, ("MiB", f"{stats['bytes'] / MiB:,.1f}")])
    charted = [
        (name, output.sparkline(values), f"{values[-1]:,}", f"{sum(values):,}")
        for name, values in daily(found, days).items()
    ]
    output.section(f"last {output.counted(days, 'day')}", ("", "by day", "today", "in all"), charted)
    for name in (RECALL, RECORD):
        times = [
            (period, f"{row['count']:,}", *(_ms(row[f"{share}_ms"]) for share in SHARES))
            for period, row in times_of(found, name).items()
            if row["count"]
        ]
        output.section(f"time to {name}", ("", "calls", *SHARES), times)
    rates = [(told, cache_of(found, name)["rate"]) for name, told in _CACHES.items()]
    known = [(told, f"{rate:.1%}") for told, rate in rates if rate is not None]
    output.section("cache", ("", "30 days"), known)
    waiting = [
        (chore, output.counted(told["conversations"], "conversation"), output.span(found.lags[chore]))
        for chore, told in stats["waiting"].items()
    ]
    new = output.counted(stats["unconsolidated"]["memories"], "memory")
    waiting.append(("consolidate", new, output.span(found.consolidation_lag)))
    output.section("waiting", ("for", "how many", "the oldest, for"), waiting)
    copies = [
        (name, output.counted(lag.users, "user"), output.counted(lag.changes, "change"))
        for name, lag in stats["projections"].items()
    ]
    output.section("copies that are behind", ("", "with", "by"), copies)
    output.section("parked", ("", "how many", "why", "what to do"), _parked(stats["parked"]))
    output.section("jobs", ("job", "last", "done", "in all", "took", "problem"), _jobs(found))


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:,.1f} ms"


def _parked(parked: dict[str, Any]) -> list[tuple[str, ...]]:
    retry = "put that right, then `recollect tend --retry`"
    rows = [("embed", output.counted(parked["chunks"], "chunk"), "the model fails for them", retry)]
    rows += [
        ("mine", output.counted(count, "conversation"), why, retry) for why, count in parked["mining"].items()
    ]
    rows += [
        (chore, output.counted(count, "user"), why, retry)
        for chore, reasons in parked["chores"].items()
        for why, count in reasons.items()
    ]
    return rows if parked["chunks"] else rows[1:]


def _jobs(found: Figures) -> list[tuple[str, ...]]:
    return [
        (
            job.name,
            f"{output.span(found.now - job.at)} ago",
            f"{job.progress:,} so far" if job.progress else f"{job.done:,}",
            f"{job.total:,}",
            f"{job.seconds:.1f} s",
            job.problem or "",
        )
        for job in found.jobs
    ]
