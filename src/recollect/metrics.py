"""How the memory is doing, of everybody together: figures for people, and as Prometheus reads them.

Nothing in it is about one user, and no reason for a failure is told: operators may send it anywhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from recollect import measuring
from recollect.measuring import RECALL, RECORD, microseconds, upper
from recollect.ports.store import Store
from recollect.ports.tending import JobState, Measure
from recollect.settings import Settings

COUNTERS: dict[str, tuple[str, str]] = {
    measuring.failed(RECALL): ("recalls_failed", "Recalls that raised an error."),
    measuring.SKIPPED: ("recalls_skipped", "Recalls for which the gate searched nothing."),
    measuring.IMPAIRED: ("recalls_impaired", "Recalls that something could not be used for."),
    measuring.HITS: ("hits", "Memories that recalls returned."),
    measuring.failed(RECORD): ("records_failed", "Calls to record turns that raised an error."),
    measuring.TURNS: ("turns_recorded", "Turns that were recorded."),
    measuring.MEMORIES: ("memories_added", "Memories that were saved or mined."),
    measuring.MINED: ("mined_turns", "Turns that were mined."),
    measuring.INJECTED: ("gateway_injected", "Requests that the gateway put memories into."),
    measuring.UNAIDED: ("gateway_unaided", "Requests that went on without memory, or with less."),
    measuring.UNRECORDED: ("gateway_unrecorded", "Requests that the gateway could not record."),
    measuring.CACHE_HITS: ("cache_hits", "Searches with the vectors of the user in memory."),
    measuring.CACHE_MISSES: ("cache_misses", "Searches that read all vectors of the user."),
    measuring.ANSWER_HITS: ("recall_cache_hits", "Recalls that were answered out of Redis."),
    measuring.ANSWER_MISSES: ("recall_cache_misses", "Recalls that were looked for in Redis in vain."),
    measuring.VECTOR_HITS: ("embedding_cache_hits", "Vectors of questions that were in Redis."),
    measuring.VECTOR_MISSES: ("embedding_cache_misses", "Vectors of questions that were not in Redis."),
}
"""What is counted: its name without what every name begins and ends with, and what it means."""
TIMED: dict[str, tuple[str, str]] = {
    RECALL: ("recall_seconds", "How long recalls took, from call to answer."),
    RECORD: ("record_seconds", "How long calls to record turns took."),
}
SHOWN = range(14, 54, 2)
"""The buckets that are told: powers of 2, from 128 microseconds to over a minute."""
PREFIX = "recollect_"
COPIES = ("milvus", "neo4j")
"""Copies in other engines, as the settings are called that say where they are."""

Labelled = Iterable[tuple[Mapping[str, str], float]]


@dataclass(frozen=True, slots=True)
class Figures:
    """What the store says of itself, what jobs did, and what was counted."""

    now: datetime
    stats: Mapping[str, Any]
    jobs: list[JobState]
    measures: list[Measure]
    auto_mine: bool = True

    @property
    def today(self) -> date:
        return self.now.astimezone(UTC).date()

    @property
    def lags(self) -> dict[str, timedelta]:
        """For how long the conversation that is first in line has been ready for each chore."""
        return {
            chore: max(timedelta(0), self.now - found["since"])
            if found["since"] is not None and (self.auto_mine or chore != "mine")
            else timedelta(0)
            for chore, found in self.stats["waiting"].items()
        }

    @property
    def consolidation_lag(self) -> timedelta:
        """For how long the first memory that it should have looked at waits for that chore."""
        since = self.stats["unconsolidated"]["since"]
        return timedelta(0) if since is None else max(timedelta(0), self.now - since)

    @property
    def lag_seconds(self) -> dict[str, float]:
        lags = {**self.lags, "consolidate": self.consolidation_lag}
        return {chore: lag.total_seconds() for chore, lag in lags.items()}

    def total(self, name: str, days: int | None = None) -> int:
        """How often something happened: ever, or in the last so many days, today included."""
        return sum(measure.count for measure in self._of(name, days))

    def daily(self, name: str, days: int) -> list[int]:
        """How often on each of the last so many days, today last."""
        counts = [0] * days
        for measure in self._of(name, days):
            counts[-1 - (self.today - measure.day).days] += measure.count
        return counts

    def daily_buckets(self, name: str, days: int) -> list[dict[int, int]]:
        """What was timed on each of the last so many days, today last."""
        found: list[dict[int, int]] = [{} for _ in range(days)]
        for measure in self._of(name, days):
            on_day = found[-1 - (self.today - measure.day).days]
            on_day[measure.bucket] = on_day.get(measure.bucket, 0) + measure.count
        return found

    def buckets(self, name: str, days: int | None = None) -> dict[int, int]:
        found: dict[int, int] = {}
        for measure in self._of(name, days):
            found[measure.bucket] = found.get(measure.bucket, 0) + measure.count
        return found

    def names(self, prefix: str) -> list[str]:
        """What the names that begin so go on with."""
        found = {measure.name for measure in self.measures if measure.name.startswith(prefix)}
        return sorted(name.removeprefix(prefix) for name in found)

    def _of(self, name: str, days: int | None) -> Iterator[Measure]:
        for measure in self.measures:
            if measure.name == name and (days is None or 0 <= (self.today - measure.day).days < days):
                yield measure


def figures(store: Store, settings: Settings, now: datetime, days: int | None = None) -> Figures:
    """The figures, with what was counted ever, or in the last so many days."""
    since = None if days is None else now.astimezone(UTC).date() - timedelta(days=days - 1)
    return Figures(now, state(store, settings), store.jobs(), store.measures(since), settings.auto_mine)


def state(store: Store, settings: Settings) -> dict[str, Any]:
    """What the store says of itself, by when these settings have conversations ready."""
    quiet, idle = timedelta(seconds=settings.mine_quiet_seconds), timedelta(minutes=settings.idle_minutes)
    every = timedelta(minutes=settings.consolidate_minutes)
    return store.stats(quiet, idle, every, [name for name in COPIES if getattr(settings, name)])


def parked(stats: Mapping[str, Any]) -> dict[str, int]:
    """How much is put aside, by what failed: computing vectors, mining, or another chore."""
    found = stats["parked"]
    chores = {chore: sum(reasons.values()) for chore, reasons in found["chores"].items()}
    return {"embed": found["chunks"], "mine": sum(found["mining"].values()), **chores}


def exposition(found: Figures) -> str:
    """The figures in Prometheus' text format, version 0.0.4."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Figures) -> Iterator[str]:
    for name, (told, help) in TIMED.items():
        yield from _histogram(found, name, told, help)
    for name, (told, help) in COUNTERS.items():
        yield from metric("counter", f"{told}_total", help, [({}, found.total(name))])
    for told, label, prefix, help in (
        ("model_calls", "source", measuring.called(""), "Calls of models, by what they were for."),
        ("tended", "action", measuring.tended(""), "What the background did, by action."),
    ):
        counts = [({label: name}, found.total(prefix + name)) for name in found.names(prefix)]
        yield from metric("counter", f"{told}_total", help, counts)
    yield from _gauges(found)
    yield from _jobs(found.jobs)


def _gauges(found: Figures) -> Iterator[str]:
    stats, rows = found.stats, dict(found.stats["rows"])
    chunks, spaces = rows.pop("chunks_waiting_for_a_vector"), rows.pop("spaces_to_drop")
    waiting = {"embed": chunks, "drop": spaces}
    waiting |= {chore: told["conversations"] for chore, told in stats["waiting"].items()}
    waiting["consolidate"] = stats["unconsolidated"]["memories"]
    sizes = {"database": stats["bytes"], "cache": stats.get("cached_bytes", 0)}
    yield from metric("gauge", "rows", "Rows that are stored, by table.", _by("table", rows))
    yield from metric("gauge", "bytes", "Bytes of the database and of the cache.", _by("of", sizes))
    yield from metric("gauge", "waiting", "What waits for the background, by job.", _by("job", waiting))
    help = "How long the oldest conversation, or memory, that is ready has waited for a chore."
    yield from metric("gauge", "lag_seconds", help, _by("job", found.lag_seconds))
    help = "What failed and is put aside for a while, by job."
    yield from metric("gauge", "parked", help, _by("job", parked(stats)))
    behind = stats["projections"]
    for name, help, lag in (
        ("users", "Users of whom a copy in another engine lacks something.", "users"),
        ("changes", "Changes that a copy in another engine lacks.", "changes"),
    ):
        values = {projection: getattr(told, lag) for projection, told in behind.items()}
        yield from metric("gauge", f"projection_behind_{name}", help, _by("projection", values))


def _jobs(jobs: list[JobState]) -> Iterator[str]:
    for kind, name, help, values in (
        ("counter", "job_runs_total", "Runs of a job.", {job.name: job.runs for job in jobs}),
        ("counter", "job_done_total", "Rows that a job put right.", {job.name: job.total for job in jobs}),
        (
            "gauge",
            "job_last_timestamp_seconds",
            "When a job was last heard of.",
            {job.name: job.at.timestamp() for job in jobs},
        ),
        ("gauge", "job_last_seconds", "How long its last run took.", {job.name: job.seconds for job in jobs}),
        (
            "gauge",
            "job_failing",
            "1 when its last run met a problem.",
            {job.name: int(job.problem is not None) for job in jobs},
        ),
        (
            "gauge",
            "job_progress",
            "Rows that the run has put right that goes on.",
            {job.name: job.progress for job in jobs},
        ),
    ):
        yield from metric(kind, name, help, _by("job", values))


def _by(label: str, values: Mapping[str, float]) -> Labelled:
    return [({label: name}, value) for name, value in sorted(values.items())]


def _histogram(found: Figures, name: str, told: str, help: str) -> Iterator[str]:
    buckets = found.buckets(name)
    yield from head("histogram", told, help)
    for number in SHOWN:
        within = sum(count for place, count in buckets.items() if place <= number)
        yield sample(f"{told}_bucket", {"le": repr(upper(number))}, within)
    total = sum(buckets.values())
    yield sample(f"{told}_bucket", {"le": "+Inf"}, total)
    yield sample(f"{told}_sum", {}, found.total(microseconds(name)) / 1e6)
    yield sample(f"{told}_count", {}, total)


def metric(kind: str, name: str, help: str, values: Labelled) -> Iterator[str]:
    yield from head(kind, name, help)
    for labels, value in values:
        yield sample(name, labels, value)


def head(kind: str, name: str, help: str) -> Iterator[str]:
    escaped = help.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {PREFIX}{name} {escaped}"
    yield f"# TYPE {PREFIX}{name} {kind}"


def sample(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{PREFIX}{name}{'{' + told + '}' if told else ''} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
