"""Memories that answer the same, one after the other: each holds until the next one was said.

Their order is that in which they were said, not that in which they were mined, so that conversations may
be mined in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.model.records import MemoryRecord, Relation, mined, noted
from recollect.record.memories import ended_at

SAID = "said"


def said_at(memory: MemoryRecord | Relation) -> datetime:
    """When somebody said it; of one that was saved outright, when it was saved."""
    return noted_time(mined(memory).get(SAID)) or memory.recorded_at


def noted_time(told: object) -> datetime | None:
    """A time that metadata tells; None when it is none, or has no zone: it may come from anybody."""
    try:
        at = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return None if at is None or at.tzinfo is None else at


def in_order(versions: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(versions, key=lambda version: (said_at(version), version.recorded_at, version.id))


def around(
    versions: Sequence[MemoryRecord], said: datetime
) -> tuple[MemoryRecord | None, MemoryRecord | None]:
    """The version that held when something was said, and the one after it."""
    before = [version for version in versions if said_at(version) <= said]
    after = [version for version in versions if said_at(version) > said]
    return before[-1] if before else None, after[0] if after else None


def fitted(
    before: MemoryRecord | None, new: MemoryRecord, after: MemoryRecord | None, now: datetime
) -> list[MemoryRecord]:
    """The new version between the two, and both of them as they become."""
    changed: list[MemoryRecord] = []
    if before is not None:
        new = replace(new, supersedes=before.id)
        changed.append(followed(before, new, now))
    if after is not None:
        new = followed(new, after, now)
        changed.append(replace(after, supersedes=new.id))
    return [*changed, new]


def parted(
    version: MemoryRecord, said: datetime, times: Mapping[str, datetime], new_id: str
) -> tuple[MemoryRecord, MemoryRecord | None]:
    """A version as it was said up to a time, and as it was said again after it, if it was."""
    late = [turn for turn in version.sources if turn in times and times[turn] > said]
    if not late:
        return version, None
    again = min(times[turn] for turn in late)
    own_end = version.valid_to if version.superseded_by is None else version.stated_to
    later = replace(
        version,
        id=new_id,
        sources=tuple(late),
        valid_from=again,
        valid_to=own_end,
        stated_to=None,
        retired_at=None,
        supersedes=None,
        superseded_by=None,
        metadata=noted(version, {SAID: again.isoformat()}),
    )
    return replace(version, sources=tuple(turn for turn in version.sources if turn not in late)), later


def followed(version: MemoryRecord, by: MemoryRecord, now: datetime) -> MemoryRecord:
    """The version, which ends where another begins. What it ends at on its own is kept."""
    own_end = version.valid_to if version.superseded_by is None else version.stated_to
    retired = version.retired_at or now
    return replace(
        version,
        valid_to=ended_at(own_end, version.valid_from, by.valid_from),
        stated_to=own_end,
        retired_at=retired if by.valid_from <= now else version.retired_at,
        superseded_by=by.id,
    )
