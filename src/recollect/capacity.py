"""How much a deployment needs: from what a turn, a fact and a recall were measured to cost.

Pure arithmetic. Every figure says what it rests on: `measured` as far as the measurement went, `extrapolated`
beyond it, `assumed` where somebody's habits decide.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast

from recollect.errors import Invalid

Basis = Literal["measured", "extrapolated", "assumed"]
DAY = 86_400
GB = 1e9
BUSY = 0.6
"""The share of its processors, memory and disk that a machine is planned to use."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one processor: of the process that serves, and of the database's where it has its own."""

    here: float
    server: float = 0.0

    @property
    def both(self) -> float:
        return self.here + self.server


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What was measured on one store."""

    turn_bytes: float
    """With every index; also of a fact."""
    fact_bytes: float
    turn: Spent
    """To record one by itself, without its vector."""
    mine: Spent
    """To mine a turn by rules."""
    recalls: tuple[tuple[int, Spent], ...]
    """Of users with so many chunks, by the exact scan."""
    embed: float
    """Seconds of one processor for the vector of a turn or a question, by the local model."""
    rows: int
    """How many there were in all."""

    def recall(self, chunks: float) -> Spent:
        """Of a user with so many chunks: between two that were measured as the line between them goes,
        beyond the last as it went on."""
        (a, low), (b, high) = self.recalls[0], self.recalls[-1]
        part = max(0.0, (chunks - a) / (b - a))
        here, server = max(0.0, high.here - low.here), max(0.0, high.server - low.server)
        return Spent(low.here + part * here, low.server + part * server)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a deployment is to bear, on machines of one kind."""

    users: int
    turns: float
    """Of one user on one day."""
    days: float = 365.0
    """For how long turns are kept."""
    facts: float = 0.3
    """Facts that are mined of one turn."""
    recalls: float = 0.5
    """Recalls for one turn: one for each of the user's, none for the answers."""
    peak: float = 4.0
    """How much busier the busiest hour is than the average."""
    active: float = 0.1
    """The share of users who are about in that hour: their rows are wanted in memory."""
    cores: int = 8
    memory_gb: float = 32.0
    disk_gb: float = 2000.0

    @property
    def chunks(self) -> float:
        """What one user has in the end."""
        return self.turns * self.days * (1 + self.facts)

    @property
    def said(self) -> float:
        """Turns a second, on average."""
        return self.users * self.turns / DAY


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the answer."""

    name: str
    value: float
    unit: str
    basis: Basis
    why: str = ""


def plan(load: Load, costs: Costs) -> list[Figure]:
    """What is stored, how busy it is, and how many machines that takes."""
    _check(load)
    turns = load.users * load.turns * load.days
    rows: Basis = "measured" if turns * (1 + load.facts) <= costs.rows else "extrapolated"
    own: Basis = "measured" if load.chunks <= costs.recalls[-1][0] else "extrapolated"
    size = turns * (costs.turn_bytes + load.facts * costs.fact_bytes)
    recall = costs.recall(load.chunks)
    asked, said = load.said * load.recalls * load.peak, load.said * load.peak
    serving = asked * (recall.here + costs.embed) + said * (costs.turn.here + costs.embed)
    database = asked * recall.server + said * (costs.turn.server + costs.mine.server / load.peak)
    tending = load.said * (costs.mine.here + load.facts * costs.embed)
    each = load.cores * BUSY
    return [
        Figure("turns stored", turns, "", "assumed"),
        Figure("facts stored", turns * load.facts, "", "assumed"),
        Figure("chunks of one user", load.chunks, "", "assumed"),
        Figure("database", size / GB, "GB", rows, "with every index"),
        Figure("wanted in memory", size * load.active / GB, "GB", rows, "rows of who is about at the peak"),
        Figure("turns a second", said, "/s", "assumed", "in the busiest hour"),
        Figure("recalls a second", asked, "/s", "assumed", "in the busiest hour"),
        Figure("one recall", (recall.both + costs.embed) * 1000, "ms", own, "of processors, with its vector"),
        Figure("recalls a second, one machine", each / (recall.here + costs.embed), "/s", own, "that serves"),
        _machines("machines that serve", serving / each, own, f"{load.cores} cores each"),
        _machines("machines that tend", tending / each, own, "`recollect tend --forever`, by rules"),
        _databases(load, size, database, rows),
    ]


def _databases(load: Load, size: float, processors: float, basis: Basis) -> Figure:
    by = {
        "disk": size / (load.disk_gb * GB * BUSY),
        "memory": size * load.active / (load.memory_gb * GB * BUSY),
        "processors": processors / (load.cores * BUSY),
    }
    most = max(by, key=by.__getitem__)
    spread = "" if by[most] <= 1 else "; users are spread over them by user_id"
    return _machines("machines with the database", by[most], basis, f"by {most}{spread}")


def _machines(name: str, needed: float, basis: Basis, why: str) -> Figure:
    """Several at once were not measured."""
    count = max(1, math.ceil(needed))
    return Figure(name, count, "", basis if count == 1 else "extrapolated", why)


def advice(load: Load, costs: Costs, store: str) -> list[str]:
    """What the figures mean for the choice of a store."""
    said, told = load.said * load.peak, list[str]()
    if store == "sqlite" and said * (costs.turn.both + load.recalls * costs.recall(load.chunks).both) > BUSY:
        told.append("That is more than one file with one writer bears: use PostgreSQL (--store postgresql).")
    if store == "sqlite" and load.users * load.turns * load.days > 10 * costs.rows:
        told.append("Forgetting rewrites the file, which takes long for one of this size: use PostgreSQL.")
    if load.chunks > costs.recalls[-1][0]:
        told.append("One user has more than any that was measured: measure it, and with Milvus beside.")
    return told


def _check(load: Load) -> None:
    for field in fields(load):
        value = cast(float, getattr(load, field.name))
        least = 0 if field.name in ("facts", "recalls", "active") else math.nextafter(0, 1)
        if not least <= value <= 1e12:
            raise Invalid(f"{field.name} is {value:g}, but must be above 0 and at most 1e12.")


def costs_of(found: Mapping[str, Any], store: str) -> Costs:
    """Costs as `recollect bench scale --json` tells them."""
    try:
        told = found["costs"][{"postgresql": "postgres"}.get(store, store)]
        spent = {name: _spent(each) for name, each in told["processor_ms"].items()}
        asked = [(_rows_in(name), one) for name, one in spent.items() if name.startswith(_RECALL)]
        if len({rows for rows, _ in asked}) < 2:
            raise ValueError("recalls among two different numbers of rows are needed")
        return Costs(
            turn_bytes=float(told["bytes_a_turn"]["all"]),
            fact_bytes=float(told["bytes_a_fact"]["all"]),
            turn=spent["a turn, alone"],
            mine=spent["mining a turn by rules"],
            recalls=tuple(sorted(asked, key=lambda one: one[0])),
            embed=spent["a vector"].here,
            rows=int(found["settings"]["file_rows" if store == "sqlite" else "rows"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid(
            f"These are no costs of {store} ({type(error).__name__}: {error}): give what "
            "`recollect bench scale --json` wrote."
        ) from None


_RECALL = "a recall among "


def _rows_in(name: str) -> int:
    return int(name.removeprefix(_RECALL).replace(",", ""))


def _spent(told: Mapping[str, float]) -> Spent:
    return Spent(float(told["here"]) / 1000, float(told.get("server", 0.0)) / 1000)
