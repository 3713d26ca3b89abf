"""The retention policies of the simulation: between them they use everything there is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.bench.years.people import WORK
from recollect.model.retention import EVERYWHERE, Retention, overridden


@dataclass(frozen=True, slots=True)
class Policy:
    """What a user has set, for all channels and for the one that differs."""

    name: str
    everywhere: Mapping[str, Any] = field(default_factory=dict[str, Any])
    at_work: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def setting(self) -> dict[str, Mapping[str, Any]]:
        given = {EVERYWHERE: self.everywhere, WORK: self.at_work}
        return {channel: values for channel, values in given.items() if values}

    @property
    def retention(self) -> Retention:
        return overridden(Retention(), self.everywhere)

    @property
    def work(self) -> Retention:
        return overridden(self.retention, self.at_work)


def policies(turns: int) -> tuple[Policy, ...]:
    """Those of people who say so much a day, taken in turn."""
    return (
        Policy(
            "full",  # what comes in a day does not quite fit: some of it is refused
            {"turn_days": 60.0, "turn_quota": 58 * turns, "memory_quota": 60, "archive_days": 30.0},
        ),
        Policy(
            "expire",
            {"expire": True, "ttl_days": 30.0, "popular": 3, "memory_quota": 150, "turn_days": 365.0},
        ),
        Policy("default, quotas", {"memory_quota": 400, "turn_quota": 1500 * turns}),
        Policy(
            "channel",
            {"memory_quota": 300, "turn_days": 540.0},
            {"expire": True, "ttl_days": 10.0, "channel_memory_quota": 40, "isolated": True},
        ),
        Policy(
            "fade",
            {
                "decay_rate": 0.8,
                "entity_idle_days": 10.0,
                "inferred_decay_days": 1.0,
                "turn_days": 180.0,
                "memory_quota": 200,
                "promote_count": 2,
            },
        ),
    )
