"""Step three, if there is one: time goes by with the background at work, as it does between two conversations
that are months apart."""

from datetime import datetime, timedelta

from recollect import Memory
from recollect.bench.latency import Stage
from recollect.bench.quality.datasets import Dataset
from recollect.bench.quality.ingest import SetClock
from recollect.errors import RecollectError

STEP = timedelta(days=7)


def aged_to(dataset: Dataset, days: int) -> datetime | None:
    """When it is asked, so many days after the last session of all; None when at each question's own date."""
    ends = [session.at for person in dataset.people for session in person.sessions]
    return max(ends) + timedelta(days=days) if days else None


def age(
    memory: Memory, clock: SetClock, dataset: Dataset, key: str, days: int, stage: Stage
) -> dict[str, int]:
    """Tend everybody once a week, and on the last day; what the background did, by chore. The weeks that
    are over are marked as recording does. A problem would make the figures worthless, so it is raised."""
    end = aged_to(dataset, days)
    counts: dict[str, int] = {}
    if end is None:
        return counts
    marks = memory.scope(f"{key}:aged")
    begin = end - timedelta(days=days)
    times = [begin + n * STEP for n in range(1, days // STEP.days + 1)]
    over = len(marks.list("turn", limit=len(times) + 1))
    todo = [*times, *([] if times and times[-1] == end else [end])][over:]
    advance = stage("age", len(todo))
    for at in todo:
        clock.at = at
        for outcome in memory.tend():
            if outcome.problem:
                raise RecollectError(f"{outcome.job} failed: {outcome.problem}")
            counts[outcome.job] = counts.get(outcome.job, 0) + outcome.done
        marks.record("note", "A week is over.", conversation="weeks")
        advance(1)
    return counts
