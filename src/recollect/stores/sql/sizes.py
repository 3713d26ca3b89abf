"""How much a user has: kept by whoever writes, so that a quota costs one statement."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    CompoundSelect,
    Connection,
    Table,
    bindparam,
    case,
    func,
    literal,
    select,
    union_all,
)

from recollect.errors import QuotaExceeded
from recollect.model.changes import Within
from recollect.model.retention import Retention
from recollect.ports.tending import Size, Standing
from recollect.stores.sql import schema
from recollect.stores.sql.codec import decode_text, encode_text
from recollect.stores.sql.rows import UserRows, own_update

ALL = ""
"""In place of a channel: all of them. No channel has an empty name."""

_COUNTED: dict[Table, str] = {schema.turns: "turns", schema.memories: "memories"}

_ADD = (
    own_update(schema.sizes)
    .where(schema.sizes.c.channel == bindparam("which"))
    .values(
        turns=schema.sizes.c.turns + bindparam("more_turns"),
        memories=schema.sizes.c.memories + bindparam("more_memories"),
    )
    .returning(schema.sizes.c.turns, schema.sizes.c.memories)
)


class Sizes:
    """What one transaction adds to and takes from each channel."""

    def __init__(self, rows: UserRows, *, new: bool) -> None:
        self._rows = rows
        self._new = new
        """Whether the user has nothing yet, so that there is nothing to count."""
        self._more: dict[str, dict[str, int]] = {}

    def add(self, table: Table, channels: Sequence[Any], sign: int = 1) -> None:
        """Records of this table were stored in these channels (as columns hold them), or with -1 went."""
        if (name := _COUNTED.get(table)) is not None:
            for channel in channels:
                more = self._more.setdefault(channel, {"turns": 0, "memories": 0})
                more[name] += sign

    def remove(self, table: Table, ids: Sequence[str]) -> None:
        """Records of this table are about to go, or to be replaced."""
        if table in _COUNTED and ids:
            found = self._rows.all_in(self._rows.select(table, table.c.channel), table.c.id, ids)
            self.add(table, [row["channel"] for row in found], -1)

    def settle(self, limits: Sequence[Within]) -> None:
        """Write it down; `QuotaExceeded` when that is more than may be."""
        changed = {channel: more for channel, more in self._more.items() if any(more.values())}
        if not changed:
            return
        whole = {name: sum(more[name] for more in changed.values()) for name in ("turns", "memories")}
        totals = self._totals({**changed, ALL: whole} if any(whole.values()) else changed)
        grew = {ALL: whole, **changed}
        for limit in limits:
            channel = ALL if limit.channel is None else encode_text(limit.channel)
            for name in ("turns", "memories"):
                most, more = getattr(limit, name), grew.get(channel, {}).get(name, 0)
                if most and more > 0 and totals[channel][name] > most:
                    _refuse(name, limit.channel, most)

    def _totals(self, grew: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
        if self._new:
            self._rows.insert(schema.sizes, [{"channel": channel, **more} for channel, more in grew.items()])
            return grew
        return {channel: self._grown(channel, more) for channel, more in grew.items()}

    def _grown(self, channel: str, more: Mapping[str, int]) -> Mapping[str, int]:
        given = {"which": channel, "more_turns": more["turns"], "more_memories": more["memories"]}
        for row in self._rows.all(_ADD, **given):
            if channel != ALL and not row["turns"] and not row["memories"]:  # its name may tell something
                self._rows.delete_in(schema.sizes, schema.sizes.c.channel, [channel])
            return {"turns": row["turns"], "memories": row["memories"]}
        counted = {name: self._count(table, channel) for table, name in _COUNTED.items()}
        if channel == ALL or any(counted.values()):
            self._rows.insert(schema.sizes, [{"channel": channel, **counted}])
        return counted

    def _count(self, table: Table, channel: str) -> int:
        """What is there by now: of a channel that is new, or older than these counts."""
        counted = self._rows.select(table, func.count())
        if channel != ALL:
            counted = counted.where(table.c.channel == channel)
        return self._rows.run(counted).scalar_one()


def sizes(rows: UserRows) -> dict[str, Size]:
    found = rows.all(rows.select(schema.sizes))
    return {decode_text(row["channel"]): Size(row["turns"], row["memories"]) for row in found}


QUOTAS = {
    "turn_quota": (schema.sizes.c.turns, True),
    "memory_quota": (schema.sizes.c.memories, True),
    "channel_turn_quota": (schema.sizes.c.turns, False),
    "channel_memory_quota": (schema.sizes.c.memories, False),
}
"""What each quota of a policy is about, and whether it is of all channels together."""


def standings(connection: Connection, policy: Retention) -> list[Standing]:
    return [_standing(connection, quota, policy) for quota in QUOTAS]


def _standing(connection: Connection, quota: str, policy: Retention) -> Standing:
    (held, whole), most = QUOTAS[quota], getattr(policy, quota)
    reached = [func.sum(case((held >= least, 1), else_=0)) for least in (_warned(most, policy), most)]
    channel = schema.sizes.c.channel
    where = channel == ALL if whole else channel != ALL
    found = connection.execute(select(func.max(held), *reached).where(where)).one()
    fullest, near, full = (int(number or 0) for number in found)
    return Standing(quota, most, fullest, near if most else 0, full if most else 0)


def _warned(most: int, policy: Retention) -> int:
    return math.ceil(policy.quota_warning * most)


def wrong_sizes() -> CompoundSelect[Any, Any, Any, Any]:
    """Counts that are kept and are not what there is. (What is older than they are need not be counted.)"""
    kept = schema.sizes.c
    noted = select(kept.user_id, kept.channel, kept.turns, kept.memories)
    there = union_all(
        *(
            select(
                table.c.user_id,
                literal(ALL).label("channel") if whole else table.c.channel,
                *(literal(int(name == own)).label(name) for name in _COUNTED.values()),
            )
            for table, own in _COUNTED.items()
            for whole in (True, False)
        )
    ).subquery()
    counts = (func.sum(there.c[name]) for name in _COUNTED.values())
    counted = select(there.c.user_id, there.c.channel, *counts).group_by(there.c.user_id, there.c.channel)
    return noted.where(kept.turns + kept.memories > 0).except_(counted)


def _refuse(name: str, channel: str | None, most: int) -> None:
    where = "" if channel is None else f" in the channel {channel!r}"
    quota = f"{'channel_' if channel is not None else ''}{name[:-1] if name == 'turns' else 'memory'}_quota"
    notes = " (a memory that is saved is noted as a turn, too)" if name == "turns" else ""
    raise QuotaExceeded(
        f"No more than {most:,} {name}{where} may be stored{notes}. Forget some, or raise {quota} of the "
        f"retention policy: `recollect retention {quota}={2 * most}`, or RECOLLECT_RETENTION for everybody."
    )
