"""Which retention policy holds for a user and a channel, and setting what differs there."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from recollect.errors import Invalid
from recollect.model.changes import Within
from recollect.model.records import MemoryRecord
from recollect.model.retention import EVERYWHERE, Retention, overridden, parsed
from recollect.model.scope import check_name
from recollect.record.ledger import change_user_settings
from recollect.wishes import followed
from recollect.workspace import Workspace

SETTING = "retention"
"""Under which name of a user's settings it is kept what differs."""
TTL = "ttl_days"
"""In the metadata of a memory that expires because the policy says so: after how many days."""

_WHOLE = {"turn_quota", "memory_quota"}

M = TypeVar("M", bound=MemoryRecord)


def origins(work: Workspace) -> dict[str, str]:
    """For every value of the policy in the scope's channel who has set it: `default`, `deployment`, `user` or
    `channel`."""
    differ, default, deployed = work.differences(), Retention(), parsed(work.settings.retention)
    names = [field.name for field in fields(Retention)]
    changed = [name for name in names if getattr(deployed, name) != getattr(default, name)]
    return {
        **dict.fromkeys(names, "default"),
        **dict.fromkeys(changed, "deployment"),
        **dict.fromkeys(differ.get(EVERYWHERE, {}), "user"),
        **dict.fromkeys(differ.get(work.scope.channel, {}), "channel"),
    }


def set_retention(work: Workspace, channel: str | None, values: Mapping[str, Any]) -> Retention:
    """Have a channel, or with None all of the user's, differ from the deployment; None takes one back."""
    place = EVERYWHERE if channel is None else check_name("channel", channel)
    default = Retention()
    overridden(default, {n: getattr(default, n, None) if v is None else v for n, v in values.items()})
    if channel is not None and (whole := _WHOLE & values.keys()):
        raise Invalid(
            f"{min(whole)} is about all of a user's channels; of one there is channel_{min(whole)}."
        )

    def changed(stored: Mapping[str, Any]) -> dict[str, Any]:
        differ = followed(stored).retention
        own = {n: value for n, value in {**differ.get(place, {}), **values}.items() if value is not None}
        return {SETTING: {name: kept for name, kept in {**differ, place: own}.items() if kept} or None}

    change_user_settings(work, changed)
    return work.retention(channel)


def quotas(work: Workspace, *, turns: bool = False, memories: bool = False) -> list[Within]:
    """What a write in the scope's channel must stay within."""
    whole, policy = work.retention(EVERYWHERE), work.retention()
    limits = [
        Within(None, whole.turn_quota if turns else 0, whole.memory_quota if memories else 0),
        Within(
            work.scope.channel,
            policy.channel_turn_quota if turns else 0,
            policy.channel_memory_quota if memories else 0,
        ),
    ]
    return [limit for limit in limits if limit.turns or limit.memories]


def expiry(policy: Retention, now: datetime) -> datetime | None:
    """When a memory that is new now expires by the policy."""
    return now + timedelta(days=policy.ttl_days) if policy.expire else None


def mortal(memory: M, policy: Retention, now: datetime) -> M:
    """The memory as it lives by the policy. One with an end of its own keeps that, a pinned one has none."""
    end = expiry(policy, now)
    if end is None or memory.pinned or memory.expires_at is not None:
        return memory
    return replace(memory, expires_at=end, metadata={**memory.metadata, TTL: policy.ttl_days})


def renewed(memory: M, policy: Retention, now: datetime) -> M:
    """The memory with as long to live as a new one; one whose end somebody has set stays as it is."""
    end = expiry(policy, now)
    if end is None or TTL not in memory.metadata or memory.expires_at is None or memory.expires_at >= end:
        return memory
    return replace(memory, expires_at=end)
