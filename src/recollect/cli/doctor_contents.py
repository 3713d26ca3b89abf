"""What doctor says of a database that is open: what is in it, what waits, who looks after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from recollect.cli import output
from recollect.metrics import Figures, figures
from recollect.model.space import Space
from recollect.ports.clock import SystemClock
from recollect.ports.store import Store
from recollect.ports.stored import Lag
from recollect.ports.tending import JobState
from recollect.settings import MiB, Settings

State = Literal["ok", "warn", "fail"]

CHECKED_BYTES = 64 * MiB
"""Databases up to this size are read whole; larger ones by `recollect db check`."""
STALE = timedelta(hours=2)
"""If conversations wait for so long, and no worker has run for so long, there is none."""
RETRY = "It is tried again by itself; `recollect tend --retry` does so now."


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str = ""


def contents(store: Store, settings: Settings, space: Space | None, size: int) -> Iterator[Check]:
    found = figures(store, settings, SystemClock().now(), days=1)
    stats, rows = found.stats, found.stats["rows"]
    names = {"users": "user", "turns": "turn", "memories": "memory"}
    yield Check(
        "contents", "ok", output.summed({one: rows[many] for many, one in names.items() if many in rows})
    )
    yield from _soundness(store, size)
    yield from _vectors(store, space)
    if rows["spaces_to_drop"]:
        yield Check("vectors", "warn", "those of a model before are still there", "Run `recollect tend`.")
    if not store.text_is_current():
        yield Check("text index", "warn", "made by another release's analyser", "Run `recollect tend`.")
    yield from _mining(stats)
    yield from _put_aside(stats["parked"])
    yield from _projections(found)
    yield _worker(found)
    yield from (_job(job, found.now, timedelta(seconds=settings.lease_seconds)) for job in found.jobs)
    if store.needs_scrub():
        yield Check("erasures", "warn", "forgotten bytes may still be in the files", "Run `recollect tend`.")
    else:
        yield Check("erasures", "ok", "all finished")


def _vectors(store: Store, configured: Space | None) -> Iterator[Check]:
    """Every space, how far it is filled, and whether the configured model is the one that is searched."""
    spaces = store.spaces()
    if not spaces:
        yield Check("vectors", "ok", "none is missing")
    for state in spaces:
        model = state.space.model
        filled = f"{state.chunks - state.waiting:,} of {output.counted(state.chunks, 'chunk')}"
        if not state.active:
            fix = f"`recollect rebuild vectors --model {model}` goes on; with --cancel it is given up."
            yield Check("vectors", "warn", f"{model}: {filled}, not searched yet", fix)
        elif state.waiting:
            yield Check("vectors", "warn", f"{model}: {filled}, searched", "Run `recollect tend`.")
        else:
            yield Check("vectors", "ok", f"{model}: {filled}, searched")
    active = next((state.space for state in spaces if state.active), None)
    if active and configured and not active.compares_with(configured):
        yield Check(
            "vectors",
            "warn",
            f"{active.model} is searched, but {configured.model} is configured: recall goes by words only",
            f"Run `recollect rebuild vectors --model {configured.model}`, "
            f"or set RECOLLECT_EMBEDDER={active.embedder}.",
        )


def _soundness(store: Store, size: int) -> Iterator[Check]:
    if size > CHECKED_BYTES:
        yield Check("soundness", "ok", "not checked, as the database is large: run `recollect db check`")
        return
    problems = store.check()
    yield from (Check("soundness", "fail", problem, "Restore a backup or an export.") for problem in problems)
    if not problems:
        yield Check("soundness", "ok", "every index agrees")


def _mining(stats: Mapping[str, Any]) -> Iterator[Check]:
    """What was said and not mined, and why not where it failed."""
    problems = stats["parked"]["mining"]
    for problem, count in problems.items():
        reason = f"{output.counted(count, 'conversation')} could not be mined, to be tried again: {problem}"
        yield Check("mining", "warn", reason, "Put that right, or run `recollect mine` to try now.")
    if not problems:
        waiting = stats["waiting"]["mine"]["conversations"]
        wait = "1 conversation waits" if waiting == 1 else f"{waiting:,} conversations wait"
        yield Check("mining", "ok", wait if waiting else "nothing waits")


def _put_aside(parked: Mapping[str, Any]) -> Iterator[Check]:
    """What was tried so often in vain that it is left alone, or tried ever more seldom."""
    if chunks := parked["chunks"]:
        told = f"the model failed again and again for {output.counted(chunks, 'chunk')}, found by words only"
        yield Check("parked", "warn", told, "Put the model right, then run `recollect tend --retry`.")
    for chore, reasons in parked["chores"].items():
        for reason, count in reasons.items():
            yield Check(
                "parked", "warn", f"{chore} failed for {output.counted(count, 'user')}: {reason}", RETRY
            )


def _projections(found: Figures) -> Iterator[Check]:
    """How far copies in other engines are behind."""
    for name, lag in found.stats["projections"].items():
        if not lag.users:
            yield Check(name, "ok", "has everything")
            continue
        told = f"lacks {output.counted(lag.changes, 'change')} of {output.counted(lag.users, 'user')}"
        late = _is_late(found, lag)
        fix = f"Start `recollect tend --forever`, or make it anew: `recollect rebuild {name}`."
        yield Check(name, "warn" if late else "ok", told, fix if late else "")


def _is_late(found: Figures, lag: Lag) -> bool:
    if lag.since is not None:
        return found.now - lag.since >= STALE
    # Nothing of them was ever copied. They may have come just now, if others are copied.
    ran = max((job.at for job in found.jobs if job.name == "project"), default=None)
    nobody = lag.users >= found.stats["rows"]["users"]
    return nobody or ran is None or found.now - ran >= STALE


def _worker(found: Figures) -> Check:
    """Whether somebody looks after the memory; that nobody does is fine as long as nothing waits."""
    last = max((job.at for job in found.jobs), default=None)
    lag = max(found.lags.values())
    heard = "none has run yet" if last is None else f"last heard of {output.span(found.now - last)} ago"
    if lag < STALE:
        return Check("worker", "ok", heard)
    waits = f"the oldest conversation waits for {output.span(lag)}"
    if last is None or found.now - last >= STALE:
        return Check("worker", "warn", f"{heard}; {waits}", "Start `recollect tend --forever`.")
    return Check("worker", "warn", f"{heard}, but {waits}", "Start more of them: `recollect tend --forever`.")


def _job(job: JobState, now: datetime, lease: timedelta) -> Check:
    """What a job did last, or how far it has come."""
    name, ago = f"job {job.name}", output.span(now - job.at)
    if job.progress and now - job.at > lease:
        told = f"was cut off {ago} ago with {job.progress:,} done"
        return Check(name, "warn", told, "A worker goes on with it: `recollect tend`.")
    if job.progress:
        return Check(name, "ok", f"goes on, with {job.progress:,} done {ago} ago")
    told = f"{ago} ago, {job.done:,} done in {job.seconds:.1f} s, {job.total:,} in all"
    if job.problem:
        return Check(name, "warn", f"{told}: {job.problem}", "Put that right; it is tried again by itself.")
    return Check(name, "ok", told)
