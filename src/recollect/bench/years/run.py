"""Some years of some people, from the first day to the last, and whether everything is as it should be."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from recollect import Memory, __version__
from recollect.bench.latency import Stage
from recollect.bench.measure import Times, alternate, machine, peak_rss_mb, ratio, settled
from recollect.bench.place import Place
from recollect.bench.quality.ingest import SetClock
from recollect.bench.years.live import START, Span, User, World, live, lost, settle_in
from recollect.bench.years.people import Person
from recollect.bench.years.policies import policies
from recollect.model.records import MEMORY_TYPES

YEAR, MONTH = 365, 30
AGED_LIMIT = 1.3
"""Recall takes at most so many times as long as in a new copy of the same memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    users: int = 20
    days: int = 3 * YEAR
    turns: int = 10
    """What each says and hears on a day."""
    questions: int = 60
    """Asked of the memory and of its copy, at the end."""
    seed: int = 7


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures of every month, those at the end, and what was checked."""
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan), "embedder": "hashing"}
    address, clock = place.database("years"), SetClock(START)
    with _open(address, clock) as memory:
        known = policies(plan.turns)
        users = [User(f"user {n}", Person(plan.seed, n), known[n % len(known)]) for n in range(plan.users)]
        world = World(memory, clock, users, plan.turns)
        settle_in(world)
        advance = stage("days", plan.days)
        months = [_month(world, place, address, first, plan, advance) for first in range(0, plan.days, MONTH)]
        advance = stage("a new copy", len(known))
        with _open(place.database("copy"), clock) as copy:
            aged = _aged(world, copy, plan, advance)
    settings |= {"seconds": round(perf_counter() - begun, 1), "peak_rss_mb": peak_rss_mb()}
    result = {"settings": settings, "months": months, "aged": aged, **_ended(world, months)}
    result["checks"] = _checks(world, months, aged)
    return result


def _open(address: str, clock: SetClock) -> Memory:
    return Memory.open(address, embedder="hashing", miner="rules", clock=clock, retention="")


def _month(world: World, place: Place, address: str, first: int, plan: Plan, advance: Any) -> dict[str, Any]:
    span = Span()
    days = range(first, min(first + MONTH, plan.days))
    begun = perf_counter()
    for number in days:
        live(world, number, span)
        advance(1)
    seconds = perf_counter() - begun
    world.faults["pinned and lost"] += lost(world)
    return {
        "month": first // MONTH + 1,
        "days": len(days),
        "seconds": round(seconds, 2),
        "recall_p50_ms": round(span.recall.p50, 3) if span.recall.seconds else None,
        "recall_p95_ms": round(span.recall.p95, 3) if span.recall.seconds else None,
        "file_mb": place.megabytes(address),
        "by_policy": _by_policy(world),
        "done": dict(span.done),
        "chore_seconds": {name: round(value, 3) for name, value in span.seconds.items()},
        "problems": {name: count for name, count in span.problems.items() if count},
    }


def _by_policy(world: World) -> dict[str, dict[str, Any]]:
    """How much those under a policy have, on average, and may have."""
    known: dict[str, list[User]] = {}
    for user in world.users:
        known.setdefault(user.policy.name, []).append(user)
    return {name: _owned(world, users) for name, users in known.items()}


def _owned(world: World, users: list[User]) -> dict[str, Any]:
    total = Counter[str]()
    for user in users:
        store = world.memory.store.user(user.name)
        whole = store.sizes()[""]
        total.update({"turns": whole.turns, "memories": whole.memories})
        total["in_force"] += sum(store.count(kind, {"superseded_by": None}) for kind in MEMORY_TYPES)
    policy = users[0].policy.retention
    means = {name: round(count / len(users), 1) for name, count in total.items()}
    return {**means, "memory_quota": policy.memory_quota, "turn_quota": policy.turn_quota}


def _aged(world: World, copy: Memory, plan: Plan, advance: Any) -> dict[str, Any]:
    """Recall of one user under each policy beside the same user in a new database that took in their export:
    as many records, the same questions, in turns; what differs is what the years did to the store."""
    old, new = Times(), Times()
    one_each = {user.policy.name: user for user in reversed(world.users)}
    for user in one_each.values():
        scope, other = world.memory.scope(user.name), copy.scope(user.name)
        other.import_(scope.export())
        copy.tend()
        questions = list(_questions(user, plan))
        for question in questions[:3]:  # vectors are read once
            _ = scope.recall(question), other.recall(question)
        with settled():
            for number, question in enumerate(questions):
                alternate(
                    number,
                    lambda s=scope, q=question: old.take(lambda: s.recall(q)),
                    lambda s=other, q=question: new.take(lambda: s.recall(q)),
                )
        advance(1)
    return {
        "compared_with": "a new database that took in the export of the same users",
        "users": len(one_each),
        "questions": len(old.seconds),
        "p50_ms": round(old.p50, 3),
        "p95_ms": round(old.p95, 3),
        "copy_p50_ms": round(new.p50, 3),
        "copy_p95_ms": round(new.p95, 3),
        "ratio_p50": ratio(old.p50, new.p50),
        "limit": AGED_LIMIT,
    }


def _questions(user: User, plan: Plan) -> Iterator[str]:
    asked = 0
    for number in range(plan.days - 1, -1, -1):
        for question in user.person.day(number, plan.turns).questions:
            if asked == plan.questions:
                return
            asked += 1
            yield question


def _ended(world: World, months: list[dict[str, Any]]) -> dict[str, Any]:
    done, seconds = Counter[str](), Counter[str]()
    for month in months:
        done.update(month["done"])
        seconds.update(month["chore_seconds"])
    peaks: dict[str, dict[str, float]] = {}
    for user in world.users:
        for name, share in user.peaks.items():
            known = peaks.setdefault(user.policy.name, {})
            known[name] = max(known.get(name, 0.0), round(share, 3))
    return {
        "done": dict(done),
        "chore_seconds": {name: round(value, 2) for name, value in seconds.items()},
        "seconds": {name: round(value, 2) for name, value in world.seconds.items()},
        "peaks": peaks,
        "refused": sum(user.refused for user in world.users),
        "recalls": world.recalls,
        "pinned": sum(len(user.pinned) for user in world.users),
    }


def _checks(world: World, months: list[dict[str, Any]], aged: dict[str, Any]) -> list[dict[str, Any]]:
    """What had to hold: how often it did not, or how far it is from the limit."""
    faults = ("over the quota", "expired and returned", "pinned and lost", "recall with problems")
    checks: list[dict[str, Any]] = [
        {"name": name, "value": world.faults[name], "limit": 0, "ok": not world.faults[name]}
        for name in faults
    ]
    failed = sum(sum(month["problems"].values()) for month in months)
    checks.append({"name": "chores that failed", "value": failed, "limit": 0, "ok": not failed})
    slower = aged["ratio_p50"]
    name = "recall at the end, times a new copy"
    checks.append({"name": name, "value": slower, "limit": AGED_LIMIT, "ok": slower <= AGED_LIMIT})
    return checks
