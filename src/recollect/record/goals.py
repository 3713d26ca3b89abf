"""The life of a goal: added, changed, blocked, closed, opened again.

Closing a goal gives up what is still open of its parts, and opening it again takes that back. Whatever it
blocked is free once it is closed, reached or given up: nothing waits for what will not happen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.errors import Invalid, NotFound
from recollect.limits import (
    COUNT_LIMIT,
    check_content,
    check_given,
    check_text,
    check_texts,
    check_time,
    check_whole,
    shown,
)
from recollect.model.changes import Expect, Put
from recollect.model.goals import OPEN, GoalState, is_overdue, pressing, settled
from recollect.model.records import Goal, GoalStatus
from recollect.workspace import Workspace, rereading

CLOSED_WITH = "closed_with"
"""In the metadata of a goal that was given up because the one it is a part of was closed: which one."""


def goal_status(status: str) -> GoalStatus:
    try:
        return GoalStatus(status)
    except ValueError:
        raise Invalid(f"The status must be one of {', '.join(GoalStatus)}, not {shown(status)}.") from None


def find_goal(work: Workspace, id: str) -> Goal:
    for goal in work.store.get(Goal, [check_given("id", id)]):
        return goal
    raise NotFound(f"There is no goal {id!r}.")


def goal_state(work: Workspace, id: str) -> GoalState:
    """A goal with what it is a part of, its parts, what blocks it and what it blocks."""
    goal = find_goal(work, id)
    return GoalState(
        goal=goal,
        parent=next(iter(work.store.get(Goal, [goal.parent])), None) if goal.parent else None,
        subgoals=tuple(sorted(work.store.find(Goal, {"parent": id}), key=pressing)),
        blockers=tuple(work.store.get(Goal, goal.blocked_by)),
        blocks=tuple(
            sorted(work.store.get(Goal, list(work.store.linking("blocked_by", [id]))), key=pressing)
        ),
        overdue=is_overdue(goal, work.clock.now()),
    )


@rereading
def add_goal(
    work: Workspace,
    description: str,
    priority: int,
    deadline: datetime | None,
    parent: str | None,
    blocked_by: Sequence[str],
) -> Goal:
    given = {"description": description, "priority": priority, "deadline": deadline, "parent": parent}
    values = _checked(work, {**given, "blocked_by": blocked_by})
    book = _Book(work)
    goal = Goal(
        id=work.new_id(),
        created_at=work.clock.now(),
        channel=work.scope.channel,
        agent=work.scope.agent,
        conversation=work.scope.conversation,
        **values,
    )
    goal = settled(goal, _linked(book, goal))
    logged = work.log("add_goal", f"goal {goal.id}", kind="goal")
    work.apply(*book.changes(), Expect("goal", goal.id, None), Put(goal), *logged)
    return goal


@rereading
def update_goal(work: Workspace, id: str, given: Mapping[str, Any]) -> Goal:
    """Change a goal: its description, priority, deadline, what it is a part of and what blocks it. None takes
    a deadline or a parent away."""
    values = _checked(work, given)
    book = _Book(work)
    goal = replace(book.goal(id), **values)
    blockers = _linked(book, goal)
    _refuse_circle(goal, "parent", lambda one: book.goals([one.parent] if one.parent else []))
    _refuse_circle(goal, "blocked_by", lambda one: book.goals(one.blocked_by))
    if "blocked_by" in values and not goal.blocked_by and goal.status is GoalStatus.BLOCKED:
        goal = replace(goal, status=GoalStatus.ACTIVE)
    goal = settled(goal, blockers)
    book.put(goal)
    work.apply(*book.changes(), *work.log("update_goal", f"goal {id}", kind="goal"))
    return goal


@rereading
def complete_goal(work: Workspace, id: str, status: str, result: str | None) -> Goal:
    """Close a goal, or open it again."""
    wanted = goal_status(status)
    check_text("result", result, work.settings.content_limit)
    book = _Book(work)
    before = book.goal(id)
    closes = wanted not in OPEN
    metadata = {name: value for name, value in before.metadata.items() if name != CLOSED_WITH}
    now = work.clock.now() if closes else None
    book.put(replace(before, status=wanted, result=result, closed_at=now, metadata=metadata))
    for part in _parts(book, id):
        if closes and part.status in OPEN:
            noted = {**part.metadata, CLOSED_WITH: id}
            book.put(replace(part, status=GoalStatus.ABANDONED, closed_at=now, metadata=noted))
        elif not closes and part.metadata.get(CLOSED_WITH) == id:
            left = {name: value for name, value in part.metadata.items() if name != CLOSED_WITH}
            book.put(replace(part, status=GoalStatus.ACTIVE, closed_at=None, metadata=left))
    moved = [one.id for one in book.moved()]
    opened = [id] if wanted is GoalStatus.ACTIVE else []  # blocked, as long as something blocks it
    waiting = [*dict.fromkeys((*opened, *moved, *work.store.linking("blocked_by", moved)))]
    for other in book.goals(waiting):
        book.put(settled(other, book.goals(other.blocked_by)))
    logged = work.log("complete_goal", f"goal {id}", kind="goal", details={"status": str(wanted)})
    work.apply(*book.changes(), *logged)
    return book.goal(id)


class _Book:
    """The goals that a change concerns, as they were read and as they become."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._read: dict[str, Goal] = {}
        self._new: dict[str, Goal] = {}

    def goal(self, id: str) -> Goal:
        if check_given("id", id) not in self._read:
            self._read[id] = find_goal(self._work, id)
        return self._new.get(id, self._read[id])

    def goals(self, ids: Iterable[str]) -> list[Goal]:
        """Those of the ids that are goals."""
        wanted = list(ids)
        missing = [id for id in wanted if id not in self._read]
        self._read |= {goal.id: goal for goal in self._work.store.get(Goal, missing)} if missing else {}
        return [self._new.get(id, self._read[id]) for id in wanted if id in self._read]

    def parts(self, ids: list[str]) -> list[Goal]:
        return self.goals([goal.id for goal in self._work.store.find(Goal, {"parent": ids})])

    def put(self, goal: Goal) -> None:
        self._new[goal.id] = goal

    def moved(self) -> list[Goal]:
        """Those that were open and are closed, or the other way round."""
        return [g for g in self._new.values() if (g.status in OPEN) != (self._read[g.id].status in OPEN)]

    def changes(self) -> list[Expect | Put]:
        """All that was read must still be so: what is decided depends on it."""
        changed = [Put(goal) for goal in self._new.values() if goal != self._read[goal.id]]
        return [*(Expect("goal", id, goal) for id, goal in self._read.items()), *changed]


def _parts(book: _Book, id: str) -> list[Goal]:
    """The parts of a goal, and theirs."""
    found: dict[str, Goal] = {}
    level = [id]
    while level:
        below = [goal for goal in book.parts(level) if goal.id not in found and goal.id != id]
        found |= {goal.id: goal for goal in below}
        level = [goal.id for goal in below]
    return [*found.values()]


def _linked(book: _Book, goal: Goal) -> list[Goal]:
    """The blockers of a goal; `NotFound` when one of them, or the parent, is none of the user's goals."""
    if goal.parent:
        book.goal(goal.parent)
    return [book.goal(id) for id in goal.blocked_by]


def _refuse_circle(goal: Goal, link: str, following: Callable[[Goal], list[Goal]]) -> None:
    seen: set[str] = set()
    level = following(goal)
    while level:
        if any(one.id == goal.id for one in level):
            raise Invalid(f"The goal would depend on itself: change {link} of one of the goals between.")
        seen |= {one.id for one in level}
        level = [one for above in level for one in following(above) if one.id not in seen]


def _checked(work: Workspace, given: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(given)
    known = ("description", "priority", "deadline", "parent", "blocked_by")
    if unknown := values.keys() - {*known}:
        raise Invalid(f"A goal has no {min(unknown)!r} to set; there are {', '.join(known)}.")
    if "description" in values:
        check_content(values["description"], work.settings)
        if not values["description"].strip():
            raise Invalid("A goal needs a description.")
    if "priority" in values:
        check_whole("priority", values["priority"], least=-COUNT_LIMIT)
    if values.get("deadline") is not None:
        values["deadline"] = check_time("deadline", values["deadline"])
    if values.get("parent") is not None:
        check_given("parent", values["parent"])
    if "blocked_by" in values:
        given_by: Any = () if values["blocked_by"] is None else values["blocked_by"]
        values["blocked_by"] = tuple(dict.fromkeys(check_texts("blocked_by", given_by)))
    return values
