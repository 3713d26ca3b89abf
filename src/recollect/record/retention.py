"""Which retention policy holds for a user and a channel, and setting what differs there."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from recollect.errors import Invalid
from recollect.model.changes import Within
from recollect.model.records import MemoryRecord
from recollect.model.retention import EVERYWHERE, Retention, overridden, parsed
from recollect.model.scope import check_name
from recollect.record.ledger import update_user_settings
from recollect.workspace import Workspace

SETTING = "retention"
"""Under which name of a user's settings it is kept what differs."""
TTL = "ttl_days"
"""In the metadata of a memory that expires because the policy says so: after how many days."""

_WHOLE = {"turn_quota", "memory_quota"}

M = TypeVar("M", bound=MemoryRecord)


@dataclass(frozen=True, slots=True)
class InForce:
    """One value of the policy, and who said so: `default`, `deployment`, `user` or `channel`."""

    name: str
    value: bool | int | float
    set_by: str


def retention(work: Workspace, channel: str | None = None) -> Retention:
    """The policy in a channel, or in that of the scope."""
    return work.retention(channel)


def in_force(work: Workspace) -> list[InForce]:
    """Every value of the policy in the scope's channel, with where it comes from."""
    differ, policy = work.differences(), Retention()
    place = {field.name: "default" for field in fields(Retention)}
    deployed = parsed(work.settings.retention)
    for field in fields(Retention):
        if getattr(deployed, field.name) != getattr(policy, field.name):
            place[field.name] = "deployment"
    place |= dict.fromkeys(differ.get(EVERYWHERE, {}), "user")
    place |= dict.fromkeys(differ.get(work.scope.channel, {}), "channel")
    policy = overridden(deployed, {**differ.get(EVERYWHERE, {}), **differ.get(work.scope.channel, {})})
    return [InForce(name, getattr(policy, name), set_by) for name, set_by in place.items()]


def set_retention(work: Workspace, channel: str | None, values: Mapping[str, Any]) -> Retention:
    """Have a channel, or with None all of the user's, differ from the deployment; None takes one back."""
    place = EVERYWHERE if channel is None else check_name("channel", channel)
    overridden(Retention(), {name: value for name, value in values.items() if value is not None})
    if channel is not None and (whole := _WHOLE & values.keys()):
        raise Invalid(
            f"{min(whole)} is about all of a user's channels; of one there is channel_{min(whole)}."
        )
    stored = dict(work.differences())
    changed = {
        name: value for name, value in {**stored.get(place, {}), **values}.items() if value is not None
    }
    differ = {**stored, place: changed}
    update_user_settings(work, {SETTING: {name: kept for name, kept in differ.items() if kept} or None})
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


def channels_read(work: Workspace) -> tuple[str, ...]:
    """The channels that recall reads: an isolated one only itself."""
    return work.channels
