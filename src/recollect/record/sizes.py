"""How much of a quota is used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.model.retention import EVERYWHERE, Retention
from recollect.ports.tending import Size
from recollect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Filled:
    """How many turns and memories there are, and how many there may be; 0: as many as one likes."""

    turns: int
    memories: int
    turn_quota: int
    memory_quota: int


def sizes(work: Workspace) -> dict[str, Filled]:
    return filled(work.store.sizes(), work.retention)


def filled(sizes: Mapping[str, Size], retention: Callable[[str], Retention]) -> dict[str, Filled]:
    """How much there is of what there may be, by channel; under the empty name, of all channels."""
    found: dict[str, Filled] = {}
    for channel, size in sorted(sizes.items()):
        policy = retention(channel)
        quotas = policy.channel_turn_quota, policy.channel_memory_quota
        if channel == EVERYWHERE:
            quotas = policy.turn_quota, policy.memory_quota
        found[channel] = Filled(size.turns, size.memories, *quotas)
    return found
