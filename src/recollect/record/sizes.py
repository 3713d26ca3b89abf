"""How much of a quota is used."""

from dataclasses import dataclass

from recollect.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Filled:
    """How many turns and memories there are, and how many there may be; 0: as many as one likes."""

    turns: int
    memories: int
    turn_quota: int
    memory_quota: int


def sizes(work: Workspace) -> dict[str, Filled]:
    found: dict[str, Filled] = {}
    for channel, size in sorted(work.store.sizes().items()):
        policy = work.retention(channel)  # under the empty name: that of all channels
        quotas = policy.channel_turn_quota, policy.channel_memory_quota
        if not channel:
            quotas = policy.turn_quota, policy.memory_quota
        found[channel] = Filled(size.turns, size.memories, *quotas)
    return found
