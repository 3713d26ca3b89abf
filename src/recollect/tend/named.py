"""Where a channel that is forgotten is named by what stays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from recollect.model.changes import Change, Expect, Put, Revise
from recollect.model.records import MemoryRecord, UserSettings
from recollect.record.retention import SETTING
from recollect.workspace import Workspace


def named_elsewhere(work: Workspace, channel: str) -> list[Change]:
    """What has to change so that nothing which stays names the channel."""
    promoted = [*work.store.find(MemoryRecord, {"promoted_from": channel})]
    return [*_unset(work, channel), *(Revise(m.kind, m.id, {"promoted_from": None}) for m in promoted)]


def _unset(work: Workspace, channel: str) -> list[Change]:
    """What the user had set for a channel names it, and goes with it."""
    for stored in work.store.get(UserSettings, [UserSettings.kind]):
        found: object = stored.values.get(SETTING)  # an import may have left anything there
        differ: Mapping[str, Any] = cast(Any, found) if isinstance(found, Mapping) else {}
        if channel in differ:
            kept = {name: value for name, value in differ.items() if name != channel}
            left = {name: value for name, value in stored.values.items() if name != SETTING or kept}
            new = replace(stored, values={**left, SETTING: kept} if kept else left)
            return [Expect(stored.kind, stored.id, stored), Put(new)]
    return []
