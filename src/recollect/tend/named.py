"""Where a channel or an agent that is forgotten is named by what stays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from recollect.model.changes import Change, Expect, Put, Revise
from recollect.model.records import MemoryRecord, UserSettings
from recollect.record.retention import SETTING
from recollect.workspace import Workspace

_SETTINGS = {"channel": SETTING, "agent": "agents"}
"""Under which name of a user's settings it is kept what was set for each of them."""


def named_elsewhere(work: Workspace, field: str, name: str) -> list[Change]:
    """What has to change so that nothing which stays names the channel or the agent."""
    changes = _unset(work, _SETTINGS[field], name) if field in _SETTINGS else []
    if field == "channel":
        promoted = [*work.store.find(MemoryRecord, {"promoted_from": name})]
        changes += [Revise(memory.kind, memory.id, {"promoted_from": None}) for memory in promoted]
    return changes


def _unset(work: Workspace, setting: str, name: str) -> list[Change]:
    """What the user had set for a channel or an agent names it, and goes with it."""
    for stored in work.store.get(UserSettings, [UserSettings.kind]):
        found: object = stored.values.get(setting)  # an import may have left anything there
        own: Mapping[str, Any] = cast(Any, found) if isinstance(found, Mapping) else {}
        if name in own:
            kept = {one: value for one, value in own.items() if one != name}
            left = {one: value for one, value in stored.values.items() if one != setting or kept}
            new = replace(stored, values={**left, setting: kept} if kept else left)
            return [Expect(stored.kind, stored.id, stored), Put(new)]
    return []
