"""A goal among others: pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.model.records import NEVER, Goal, GoalStatus

OPEN = (GoalStatus.ACTIVE, GoalStatus.BLOCKED)
"""What a goal is that is not reached and not given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalState:
    """A goal and those around it."""

    goal: Goal
    parent: Goal | None = None
    """The goal that it is a part of."""
    subgoals: tuple[Goal, ...] = ()
    blockers: tuple[Goal, ...] = ()
    """The goals that must be closed before it, whether they are by now or not."""
    blocks: tuple[Goal, ...] = ()
    """The goals that wait for it, or did."""
    overdue: bool = False


def is_overdue(goal: Goal, now: datetime) -> bool:
    """Whether it should have been reached by now."""
    return goal.status in OPEN and goal.deadline is not None and goal.deadline < now


def pressing(goal: Goal) -> tuple[int, datetime, str]:
    """By which goals are put in order: priority, then deadline, then age."""
    return -goal.priority, goal.deadline or NEVER, goal.id


def settled(goal: Goal, blockers: Iterable[Goal]) -> Goal:
    """An open goal is blocked as long as one of its blockers is open. One that has none is what somebody
    says it is."""
    if goal.status not in OPEN or not goal.blocked_by:
        return goal
    waits = any(blocker.status in OPEN for blocker in blockers)
    return replace(goal, status=GoalStatus.BLOCKED if waits else GoalStatus.ACTIVE)
