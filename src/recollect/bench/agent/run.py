"""The tasks, done by the same agent without memory and with it, the first time and again."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import mean
from time import perf_counter
from typing import Any

from recollect import Agent, Memory, ScopedMemory, __version__
from recollect.agent.events import Action
from recollect.bench.agent.policy import Naive
from recollect.bench.agent.world import ALIKE, CHANGED, KINDS, Kind, Task, World
from recollect.bench.latency import Stage
from recollect.bench.measure import machine
from recollect.bench.place import Place
from recollect.bench.quality.ingest import SetClock
from recollect.bench.subject import Advance
from recollect.settings import Settings

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
UNRELATED = (
    ("Bake a sourdough bread", ("oven_heat", "dough_fold"), "It rose well."),
    ("Plan a walk along the coast", ("map_open", "tide_table"), "Six hours, back before the tide."),
    ("Tune the old piano", ("fork_strike", "pin_turn"), "The upper octave holds again."),
    ("Sort the holiday photos", ("album_new", "photo_move"), "Four albums, duplicates removed."),
)
"""What somebody remembers who never met these tasks: what for, with which tools, how it went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    repeats: int = 5
    """How many different items of each kind of task are asked for at each meeting, each by a user of its
    own."""
    meetings: int = 3
    iterations: int = 20
    """The most steps of one task."""
    few: int = Settings().agent_max_iterations
    """The same where steps are scarce, as they are by default."""
    embedder: str = "hashing"


@dataclass(frozen=True, slots=True)
class Done:
    """How a task went."""

    kind: str
    right: bool
    answered: bool
    steps: int
    tokens: int
    ms: float
    problems: tuple[str, ...] = ()


class User:
    """Somebody who meets tasks, and whose agent may remember them."""

    def __init__(self, memory: Memory, clock: SetClock, name: str, plan: Plan, remembers: bool) -> None:
        self._memory, self._clock, self._plan = memory, clock, plan
        self.scope: ScopedMemory = memory.scope(name)
        self._remembers = remembers

    def does(self, task: Task) -> Done:
        world = World(task)
        agent = Agent(self.scope, Naive(), world.tools(), max_iterations=self._plan.iterations)
        begun = perf_counter()
        answer = agent.ask(
            task.question,
            conversation=f"{task.item}-{self._clock.at:%m%d%H%M}",
            enable_memory=self._remembers,
        )
        ms = (perf_counter() - begun) * 1000
        steps = sum(isinstance(event, Action) for event in answer.events)
        right = answer.text.strip() == task.answer
        answered = answer.stopped == "answered" and not answer.text.startswith("I do not know")
        self._clock.at += timedelta(minutes=10)
        return Done(task.kind.name, right, answered, steps, sum(answer.tokens), ms, tuple(answer.problems))

    def sleeps(self) -> None:
        """A day goes by, and the background does its work."""
        self._clock.at += timedelta(days=1)
        self._memory.tend()


Users = Callable[[str, bool], User]


def run(place: Place, plan: Plan, stage: Stage) -> dict[str, Any]:
    """The figures of every arm and meeting."""
    begun, clock = perf_counter(), SetClock(START)
    rounds = plan.repeats * (2 * 3 * plan.meetings + 4)
    short = replace(plan, iterations=plan.few)
    advance = stage("rounds", rounds)
    with Memory.open(
        place.database("agent"), embedder=plan.embedder, model=None, clock=clock, miner="rules"
    ) as memory:

        def user(name: str, remembers: bool) -> User:
            return User(memory, clock, name, plan, remembers)

        meetings = _meetings(plan, user, advance)
        few = _meetings(plan, lambda name, on: User(memory, clock, f"few {name}", short, on), advance)
        alike = _alike(plan, user, advance)
        changed = _changed(plan, user, advance)
    settings = {**machine(), **place.about(), "recollect": __version__, **asdict(plan)}
    return {
        "settings": settings | {"seconds": round(perf_counter() - begun, 1)},
        "meetings": meetings,
        "few": few,
        "alike": alike,
        "changed": changed,
        "checks": _checks(meetings),
    }


def _meetings(plan: Plan, user: Users, advance: Advance) -> list[dict[str, Any]]:
    """Every kind of task, met in other words and with another item each time."""
    arms: dict[str, list[list[Done]]] = {}
    for repeat in range(plan.repeats):
        arms_of = {
            "without memory": user(f"without {repeat}", False),
            "unrelated memory": user(f"unrelated {repeat}", True),
            "with memory": user(f"with {repeat}", True),
        }
        _fill(arms_of["unrelated memory"].scope)
        for name, one in arms_of.items():
            met = arms.setdefault(name, [[] for _ in range(plan.meetings)])
            for meeting in range(plan.meetings):
                met[meeting] += [one.does(task) for task in _tasks(KINDS, repeat, meeting)]
                one.sleeps()
                if name == "unrelated memory":  # what it met is as unknown the next time
                    one = user(f"unrelated {repeat} {meeting}", True)
                    _fill(one.scope)
                advance(1)
    return [
        {"arm": name, "meeting": meeting + 1, **_figures(done)}
        for name, met in arms.items()
        for meeting, done in enumerate(met)
    ]


def _alike(plan: Plan, user: Users, advance: Advance) -> list[dict[str, Any]]:
    """Tasks that sound like those that are known, and are not."""
    arms: dict[str, list[Done]] = {"without memory": [], "with memory": []}
    for repeat in range(plan.repeats):
        for name in arms:
            one = user(f"alike, {name} {repeat}", name == "with memory")
            for meeting in range(2 if name == "with memory" else 0):
                for task in _tasks(KINDS, 100 + repeat, meeting):
                    one.does(task)
                one.sleeps()
            arms[name] += [one.does(task) for task in _tasks(ALIKE, 100 + repeat, 0)]
            advance(1)
    return [{"arm": name, **_figures(done), "kinds": _by_kind(done)} for name, done in arms.items()]


def _changed(plan: Plan, user: Users, advance: Advance) -> list[dict[str, Any]]:
    """Tasks whose way changes after it was learnt: the next time, and the time after."""
    known = [kind for kind in KINDS if kind.name in CHANGED]
    new = [replace(kind, way=CHANGED[kind.name]) for kind in known]
    arms: dict[str, list[list[Done]]] = {"without memory": [[], []], "with memory": [[], []]}
    for repeat in range(plan.repeats):
        for name, met in arms.items():
            one = user(f"changed, {name} {repeat}", name == "with memory")
            for meeting in range(2 if name == "with memory" else 0):
                for task in _tasks(known, 200 + repeat, meeting):
                    one.does(task)
                one.sleeps()
            for after in range(2):
                met[after] += [one.does(task) for task in _tasks(new, 200 + repeat, 2 + after)]
                one.sleeps()
            advance(1)
    return [
        {"arm": name, "after": after + 1, **_figures(done)}
        for name, met in arms.items()
        for after, done in enumerate(met)
    ]


def _tasks(kinds: Sequence[Kind], repeat: int, meeting: int) -> list[Task]:
    return [Task(kind, meeting % len(kind.wordings), 1000 + 100 * repeat + meeting) for kind in kinds]


def _fill(scope: ScopedMemory) -> None:
    for goal, tools, outcome in UNRELATED:
        scope.remember(
            f"{goal}. Steps: {'; '.join(f'{tool}: ok' for tool in tools)}. Outcome: {outcome}",
            kind="episode",
            goal=goal,
            steps=tools,
            tools=tools,
            outcome=outcome,
            success=True,
        )


def _figures(done: Sequence[Done]) -> dict[str, Any]:
    return {
        "tasks": len(done),
        "right": round(mean(one.right for one in done), 3),
        "wrong": round(mean(one.answered and not one.right for one in done), 3),
        "steps": round(mean(one.steps for one in done), 2),
        "tokens": round(mean(one.tokens for one in done)),
        "ms": round(mean(one.ms for one in done), 1),
        "problems": sorted({problem for one in done for problem in one.problems}),
    }


def _by_kind(done: Sequence[Done]) -> dict[str, Any]:
    names = dict.fromkeys(one.kind for one in done)
    figures = {name: _figures([one for one in done if one.kind == name]) for name in names}
    return {name: {key: row[key] for key in ("right", "wrong", "steps")} for name, row in figures.items()}


def _checks(meetings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What memory is for: met again, a task takes fewer steps and goes well no less often; and memories of
    something else do no harm."""
    found = {(row["arm"], row["meeting"]): row for row in meetings}
    last = max(meeting for _, meeting in found)
    without, known = found["without memory", last], found["with memory", last]
    unrelated = found["unrelated memory", last]
    return [
        {
            "name": "steps when met again, of those without memory",
            "value": round(known["steps"] / without["steps"], 2),
            "limit": 0.6,
            "ok": known["steps"] <= 0.6 * without["steps"],
        },
        {
            "name": "right answers lost when met again",
            "value": round(without["right"] - known["right"], 3),
            "limit": 0.0,
            "ok": known["right"] >= without["right"],
        },
        {
            "name": "steps with unrelated memories, of those without memory",
            "value": round(unrelated["steps"] / without["steps"], 2),
            "limit": 1.05,
            "ok": unrelated["steps"] <= 1.05 * without["steps"],
        },
    ]
