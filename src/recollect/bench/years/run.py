"""Some years of some people, from the first day to the last, and whether everything is as it should be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from recollect import Memory, __version__
from recollect.bench.latency import Stage
from recollect.bench.measure import alternate, machine, peak_rss_mb, settled
from recollect.bench.place import Place
from recollect.bench.quality.ingest import SetClock
from recollect.bench.sqlite import SqlitePlace
from recollect.bench.subject import Advance
from recollect.bench.years.figures import MONTH, Aged, Lived, Month, Owned, figures
from recollect.bench.years.live import START, Span, User, World, live, lost, settle_in
from recollect.bench.years.people import Person
from recollect.bench.years.policies import policies
from recollect.bench.years.shares import shared
from recollect.model.records import MEMORY_TYPES

YEAR = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    users: int = 20
    days: int = 3 * YEAR
    turns: int = 10
    """What each says and hears on a day."""
    questions: int = 60
    """Asked of the memory of one under each policy and of its copy, at the end."""
    processes: int = 1
    """Each lives with its share of the users, in a database of its own."""
    seed: int = 7


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures of every month, those at the end, and what was checked."""
    begun = perf_counter()
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan), "embedder": "hashing"}
    shares = [range(first, plan.users, plan.processes) for first in range(min(plan.processes, plan.users))]
    if len(shares) > 1 and isinstance(place, SqlitePlace):
        lives = shared(place, plan, shares, stage("days", plan.days * len(shares)))
    else:
        lives = [live_through(place, plan, range(plan.users), stage("days", plan.days))]
    settings |= {
        "seconds": round(perf_counter() - begun, 1),
        "peak_rss_mb": sum(lived.peak_rss_mb for lived in lives),
    }
    return {"settings": settings, **figures(lives)}


def live_through(place: Place, plan: Plan, numbers: Sequence[int], advance: Advance) -> Lived:
    """All days of the people with these numbers, and at the end how long recall takes."""
    address, clock = place.database(f"years{numbers[0]}"), SetClock(START)
    known = policies(plan.turns)
    with _open(address, clock) as memory:
        users = [User(f"user {n}", Person(plan.seed, n), known[n % len(known)]) for n in numbers]
        world = World(memory, clock, users, plan.turns)
        settle_in(world)
        months = [_month(world, place, address, first, plan, advance) for first in range(0, plan.days, MONTH)]
        with _open(place.database(f"copy{numbers[0]}"), clock) as copy:
            aged = _aged(world, copy, plan)
    peaks: dict[str, dict[str, float]] = {}
    for user in users:
        for name, share in user.peaks.items():
            most = peaks.setdefault(user.policy.name, {})
            most[name] = max(most.get(name, 0.0), share)
    return Lived(
        months,
        aged,
        world.faults,
        Counter(recalls=world.recalls, refused=sum(u.refused for u in users), pinned=_pinned(users)),
        dict(world.seconds),
        peaks,
        peak_rss_mb(),
    )


def _open(address: str, clock: SetClock) -> Memory:
    return Memory.open(address, embedder="hashing", miner="rules", clock=clock, retention="")


def _pinned(users: Sequence[User]) -> int:
    return sum(len(user.pinned) for user in users)


def _month(world: World, place: Place, address: str, first: int, plan: Plan, advance: Advance) -> Month:
    span, begun = Span(), perf_counter()
    for number in range(first, min(first + MONTH, plan.days)):
        live(world, number, span)
        advance(1)
    seconds = perf_counter() - begun
    world.faults["pinned and lost"] += lost(world)
    owned: dict[str, Owned] = {}
    for user in world.users:
        _weigh(world, user, owned.setdefault(user.policy.name, _nothing(user)))
    return Month(span, seconds, place.megabytes(address), owned)


def _nothing(user: User) -> Owned:
    policy = user.policy.retention
    return Owned(policy.memory_quota, policy.turn_quota)


def _weigh(world: World, user: User, owned: Owned) -> None:
    store = world.memory.store.user(user.name)
    whole = store.sizes()[""]
    in_force = sum(store.count(kind, {"superseded_by": None}) for kind in MEMORY_TYPES)
    owned.counts.update(users=1, turns=whole.turns, memories=whole.memories, in_force=in_force)


def _aged(world: World, copy: Memory, plan: Plan) -> Aged:
    """Recall of one user under each policy beside the same user in a new database that took in their export:
    as many records, the same questions, in turns; what differs is what the years did to the store."""
    aged = Aged()
    for user in {user.policy.name: user for user in reversed(world.users)}.values():
        scope, other = world.memory.scope(user.name), copy.scope(user.name)
        other.import_(scope.export())
        questions = list(_questions(user, plan))
        for question in questions[:3]:  # vectors are read once
            _ = scope.recall(question), other.recall(question)
        with settled():
            for number, question in enumerate(questions):
                alternate(
                    number,
                    lambda s=scope, q=question: aged.old.take(lambda: s.recall(q)),
                    lambda s=other, q=question: aged.new.take(lambda: s.recall(q)),
                )
    return aged


def _questions(user: User, plan: Plan) -> Iterator[str]:
    """The last ones that they would ask."""
    asked = 0
    for number in range(plan.days - 1, -1, -1):
        for question in user.person.day(number, plan.turns).questions:
            if asked == plan.questions:
                return
            asked += 1
            yield question
