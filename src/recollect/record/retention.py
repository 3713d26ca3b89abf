"""Which retention policy holds for a user and a channel, and setting what differs there."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from recollect.model.changes import Within
from recollect.model.retention import EVERYWHERE, Retention, overridden, parsed
from recollect.model.scope import GLOBAL, check_name
from recollect.policies import Differences
from recollect.record.ledger import update_user_settings, user_settings
from recollect.workspace import Workspace

SETTING = "retention"
"""Under which name of a user's settings it is kept what differs."""


def retention(work: Workspace, channel: str | None = None) -> Retention:
    """The policy in a channel, or in that of the scope: the deployment's, but for what the user has set,
    but for what was set for the channel."""
    differ = work.policies.of(work.scope.user, work.clock.now(), lambda: _stored(work))
    policy = parsed(work.settings.retention)
    if not differ:
        return policy
    policy = overridden(policy, differ.get(EVERYWHERE, {}))
    return overridden(policy, differ.get(channel or work.scope.channel, {}))


def _stored(work: Workspace) -> Differences:
    return user_settings(work).values.get(SETTING, {})


def set_retention(work: Workspace, channel: str | None, values: Mapping[str, Any]) -> Retention:
    """Have a channel, or with None all of the user's, differ from the deployment; None takes one back."""
    place = EVERYWHERE if channel is None else check_name("channel", channel)
    stored = dict(_stored(work))
    changed = {
        name: value for name, value in {**stored.get(place, {}), **values}.items() if value is not None
    }
    differ = {**stored, place: changed}
    update_user_settings(work, {SETTING: {name: kept for name, kept in differ.items() if kept} or None})
    return retention(work, channel)


def quotas(work: Workspace, *, turns: bool = False, memories: bool = False) -> list[Within]:
    """What a write in the scope's channel must stay within."""
    policy = retention(work)
    limits = [
        Within(None, policy.turn_quota if turns else 0, policy.memory_quota if memories else 0),
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


def channels_read(work: Workspace) -> tuple[str, ...]:
    """The channels that recall reads: an isolated one only itself."""
    if work.scope.channel != GLOBAL and retention(work).isolated:
        return (work.scope.channel,)
    return work.scope.channels
