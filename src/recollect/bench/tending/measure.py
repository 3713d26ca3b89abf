"""What tending one user costs: chore by chore, at several sizes, in one run.

Judged is processor time, where the engine works in this process: what others do on the machine is not ours.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from time import perf_counter, process_time
from typing import Any

from recollect import Memory, ScopedMemory, __version__
from recollect.bench.corpus import Corpus
from recollect.bench.latency import Stage
from recollect.bench.measure import Times, machine, peak_rss_mb, ratio, settled
from recollect.bench.place import Place
from recollect.bench.quality.ingest import SetClock
from recollect.bench.subject import USER
from recollect.bench.tending.beside import TendingProcess
from recollect.bench.tending.filled import START, fill, records, texts
from recollect.tend.chores import CHORES
from recollect.tend.tender import Outcome

GROWTH_LIMIT = 1.25
"""Ten times as many rows are at most ten times as much work, and some for noise."""
JUDGED_S = 0.2
"""A chore that takes less at the larger size is not judged: that is noise."""
CHANGED_LIMIT = 2.0
"""So many changed rows are compared with as much as there is, by index."""
BESIDE_LIMIT = 2.0
QUOTA = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    sizes: tuple[int, ...] = (10_000, 100_000)
    changed: int = 100
    queries: int = 200
    days: int = 3
    """How many questions are asked while the user is tended, for how many days: at least so many of both."""
    seed: int = 7


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures of every size, and how they grow from the smallest to the largest."""
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, "embedder": "hashing", **asdict(plan)}
    rows = [_measure(place, size, plan, stage) for size in sorted(plan.sizes)]
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    judged = "cpu_s" if place.in_process else "seconds"
    settings["judged"] = judged
    return {"settings": settings, "sizes": rows, "targets": [*_targets(rows, judged)]}


def _measure(place: Place, size: int, plan: Plan, stage: Stage) -> dict[str, Any]:
    """One user with so many memories: the first visits, until nothing is left to do; one when nothing has
    happened; a day later; and after a few changes."""
    address, clock = place.database(f"tending{size}"), SetClock(START - timedelta(days=1))
    said = texts(Corpus(plan.seed), size + plan.changed)
    more, said = said[size:], said[:size]
    with Memory.open(address, embedder="hashing", miner="rules", clock=clock) as memory:
        scope = memory.scope(USER)
        begun = perf_counter()
        fill(scope, said, stage(f"{size:,} memories", records(size)))
        filled = perf_counter() - begun
        scope.update_settings(retention={"": {"memory_quota": int(size * QUOTA)}})
        place.settle(address)
        advance = stage(f"tending {size:,}", 5)
        visits: dict[str, dict[str, Any]] = {}

        def visit(name: str, later: timedelta) -> None:
            clock.at += later
            visits[name] = _visits(memory, clock)
            advance(1)

        visit("first", timedelta(days=1))
        visit("idle", timedelta(minutes=1))
        visit("a day later", timedelta(days=1))
        _change(scope, more)
        visit("changed", timedelta(hours=2))
        beside = _beside(memory, address, said, clock, plan)
        advance(1)
    return {
        "memories": size,
        "fill_s": round(filled, 1),
        "file_mb": place.megabytes(address),
        "visits": visits,
        "recall": beside,
    }


def _visits(memory: Memory, clock: SetClock) -> dict[str, Any]:
    """Tend until nothing is due any more: a chore does not always come to its end in one visit."""
    outcomes: dict[str, list[Outcome]] = {chore.name: [] for chore in CHORES}
    visits, quiet = 0, clock.at - timedelta(minutes=memory.settings.idle_minutes)
    with settled():
        begun, worked = perf_counter(), process_time()
        while not visits or memory.store.users_due(clock.at, quiet):
            visits += 1
            for outcome in memory.tend():
                outcomes.setdefault(outcome.job, []).append(outcome)
        seconds, cpu = perf_counter() - begun, process_time() - worked
    return {
        "visits": visits,
        "seconds": round(seconds, 4),
        "cpu_s": round(cpu, 4),
        "chores": {chore.name: _told(outcomes[chore.name]) for chore in CHORES},
    }


def _told(outcomes: list[Outcome]) -> dict[str, Any]:
    problems = [outcome.problem for outcome in outcomes if outcome.problem is not None]
    return {
        "seconds": round(sum(outcome.seconds for outcome in outcomes), 4),
        "cpu_s": round(sum(outcome.cpu for outcome in outcomes), 4),
        "rows": sum(outcome.done for outcome in outcomes),
        **({"problem": problems[0]} if problems else {}),
    }


def _change(scope: ScopedMemory, more: list[str]) -> None:
    scope.update_settings(retention=None)  # for which there is no room
    scope.remember_many(more)


def _beside(memory: Memory, address: str, said: list[str], clock: SetClock, plan: Plan) -> dict[str, Any]:
    """Recall while another process tends the user for a day, and as often while nothing else happens, in
    turn: what others do on the machine meets both."""
    scope = memory.scope(USER)
    step = max(1, len(said) // plan.queries)
    questions = [" ".join(text.split()[:6]) for text in said[::step]][: plan.queries]
    for question in questions[:5]:
        scope.recall(question)
    idle, busy, days = Times(), Times(), 0
    with settled(), TendingProcess(address, clock.at) as tending:
        while days < plan.days or len(busy.seconds) < plan.queries:
            days, asked, day = days + 1, 0, tending.day()
            while day.is_alive():
                busy.take(partial(scope.recall, questions[asked % len(questions)]))
                asked += 1
            scope.recall(questions[0])  # sees what was changed last
            for number in range(asked):
                idle.take(partial(scope.recall, questions[number % len(questions)]))
    return {
        "questions": len(idle.seconds),
        "p50_ms": round(idle.p50, 3),
        "p95_ms": round(idle.p95, 3),
        "tended_p50_ms": round(busy.p50, 3),
        "tended_p95_ms": round(busy.p95, 3),
        "ratio_p95": ratio(busy.p95, idle.p95),
        "days_tended": days,
    }


def _targets(rows: list[dict[str, Any]], judged: str) -> list[dict[str, Any]]:
    least, most = rows[0], rows[-1]
    targets: list[dict[str, Any]] = []
    if len(rows) > 1:
        times = most["memories"] / least["memories"]
        for name, large in most["visits"]["first"]["chores"].items():
            small = least["visits"]["first"]["chores"][name]
            grown = ratio(large[judged], small[judged] * times)
            told = f"{name}: growth of time over growth of rows"
            targets.append(_target(told, grown, GROWTH_LIMIT, large[judged] >= JUDGED_S))
        pairs = (row["visits"]["changed"][judged] for row in (most, least))
        told = f"a visit after few changes, {most['memories']:,} times {least['memories']:,}"
        targets.append(_target(told, ratio(*pairs), CHANGED_LIMIT))
    for row in rows:
        told = f"recall p95 among {row['memories']:,} while they are tended, times idle"
        targets.append(_target(told, row["recall"]["ratio_p95"], BESIDE_LIMIT))
    return targets


def _target(name: str, value: float, limit: float, judged: bool = True) -> dict[str, Any]:
    return {"name": name, "value": value, "limit": limit, "ok": value <= limit if judged else None}
