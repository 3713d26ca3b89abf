"""How a memory grew."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta

from recollect.limits import check_whole
from recollect.workspace import Workspace

POINTS = 60
"""How many days are told unless somebody says; at most `MOST`."""
MOST = 400


@dataclass(frozen=True, slots=True)
class Grown:
    """How many records of each kind there were at the end of a day (UTC), of those that are still stored."""

    day: date
    counts: Mapping[str, int] = field(default_factory=dict[str, int])


def growth(work: Workspace, points: int) -> list[Grown]:
    """From the day before the first record came up to today, at most so many days, equally far apart."""
    check_whole("points", points, MOST + 1, least=2)
    return grown(work.store.arrivals(), work.clock.now().astimezone(UTC).date(), points)


def grown(arrivals: Mapping[str, Mapping[date, int]], today: date, points: int) -> list[Grown]:
    """What came, added up. What came from a clock that runs ahead is told with what is there today."""
    days = {day for by_day in arrivals.values() for day in by_day}
    if not days:
        return []
    told = spread(min(days) - timedelta(days=1), today, points)
    ends = {day: next((end for end in told if end >= day), told[-1]) for day in days}
    totals = dict.fromkeys(arrivals, 0)
    came: dict[date, dict[str, int]] = {end: dict.fromkeys(arrivals, 0) for end in told}
    for kind, by_day in arrivals.items():
        for day, times in by_day.items():
            came[ends[day]][kind] += times
    found: list[Grown] = []
    for end in told:
        totals = {kind: total + came[end][kind] for kind, total in totals.items()}
        found.append(Grown(end, totals))
    return found


def spread(first: date, last: date, points: int) -> list[date]:
    """Days up to the last one, equally far apart, the first of them not before `first`."""
    width = max(1, -(-(last - first).days // (points - 1)))
    return [last - timedelta(days=days) for days in range(0, max(1, (last - first).days + 1), width)][::-1]
