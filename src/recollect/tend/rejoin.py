"""What goes, and what closes the gap that corrections leave behind when they go."""

from collections.abc import Mapping
from typing import Any

from recollect.model.changes import Change, Remove, Revise
from recollect.model.records import MemoryRecord, Record
from recollect.record.memories import ended_at


def plan_erasure(doomed: Mapping[str, Record], neighbours: Mapping[str, MemoryRecord]) -> list[Change]:
    """The removals, and what doomed corrections give back: the memory before them is in force again,
    or ends where the next surviving correction begins."""
    changes: list[Change] = []
    for record in doomed.values():
        if isinstance(record, MemoryRecord) and (record.supersedes or "") not in doomed:
            changes += _rejoined(record, doomed, neighbours)
    by_kind: dict[str, list[str]] = {}
    for record in doomed.values():
        by_kind.setdefault(record.kind, []).append(record.id)
    changes += [Remove(kind, tuple(ids)) for kind, ids in by_kind.items()]
    return changes


def _rejoined(
    first: MemoryRecord, doomed: Mapping[str, Record], neighbours: Mapping[str, MemoryRecord]
) -> list[Change]:
    """The ends of the gap that a run of doomed corrections, beginning with `first`, leaves behind."""
    last = first
    for _ in doomed:
        following = doomed.get(last.superseded_by or "")
        if not isinstance(following, MemoryRecord):
            break
        last = following
    before, after = neighbours.get(first.supersedes or ""), neighbours.get(last.superseded_by or "")
    changes: list[Change] = []
    if before is not None:
        ended: dict[str, Any] = {
            "valid_to": before.stated_to,
            "stated_to": None,
            "retired_at": None,
            "superseded_by": None,
        }
        if after is not None:
            valid_to = ended_at(before.stated_to, before.valid_from, after.valid_from)
            ended = {"valid_to": valid_to, "retired_at": last.retired_at, "superseded_by": after.id}
        changes.append(Revise(before.kind, before.id, ended))
    if after is not None:
        changes.append(Revise(after.kind, after.id, {"supersedes": before.id if before else None}))
    return changes
