"""Goals: what the user or an agent is after."""

from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from recollect import Goal, GoalState
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.parts import Id
from recollect.server.http.shapes import Body, Text, Texts, Time, Whole, gives, like, made
from recollect.server.http.writing import Writes
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("goals", "/goals")

Status = Literal["active", "completed", "abandoned", "blocked"]


class NewGoal(Body):
    """A goal, active unless something blocks it."""

    description: str
    priority: Whole = 0
    deadline: Time | None = None
    parent: Text | None = None
    blocked_by: Texts | None = None

    model_config = like({"description": "Move to Porto", "priority": 2})


class ChangedGoal(Body):
    """What is to change; a deadline or parent of null is taken away."""

    description: str = ""
    priority: Whole = 0
    deadline: Time | None = None
    parent: Text | None = None
    blocked_by: Texts | None = None

    model_config = like({"priority": 3, "deadline": None})


class Completion(Body):
    status: Status = "completed"
    result: str | None = None

    model_config = like({"result": "Signed the lease"})


@router.get("", operation_id="goals", summary="List goals", **gives(made(goals=list[Goal])))
async def goals(
    request: Request, memory: Scoped, status: Annotated[Status | Literal["all"], Query()] = "active"
) -> Response:
    """Goals with this status, the most pressing first."""
    wanted = None if status == "all" else status
    return answer({"goals": await serving(request).run(lambda: memory.goals(wanted))})


@router.post("", operation_id="add_goal", summary="Add a goal", **gives(Goal, status=201))
async def add_goal(body: NewGoal, write: Writes) -> Response:
    """A new goal, active unless something blocks it."""
    given: dict[str, Any] = {**body.given(), "blocked_by": body.blocked_by or ()}
    return await write.do(
        lambda memory: memory.add_goal(**given),
        lambda memory, made: memory.goal(made[-1][1]).goal,
        (Goal.kind,),
        status=201,
    )


@router.get("/{id:part}", operation_id="goal", summary="Look at a goal", **gives(GoalState))
async def goal(request: Request, id: Id, memory: Scoped) -> Response:
    """A goal with what it is a part of, its parts, what blocks it, and what it blocks."""
    return answer(await serving(request).run(lambda: memory.goal(id)))


@router.patch("/{id:part}", operation_id="update_goal", summary="Change a goal", **gives(Goal))
async def update_goal(id: Id, body: ChangedGoal, write: Writes) -> Response:
    """Change a goal. What would depend on itself is refused."""
    given = body.given()
    return await write.do(lambda memory: memory.update_goal(id, **given))


@router.post("/{id:part}/complete", operation_id="complete_goal", summary="Close a goal", **gives(Goal))
async def complete_goal(id: Id, write: Writes, body: Completion | None = None) -> Response:
    """Close a goal with its result, or set another status. Goals that wait for it alone become active."""
    given = Completion() if body is None else body
    return await write.do(
        lambda memory: memory.complete_goal(id, given.status, given.result),
        lambda memory, _: memory.goal(id).goal,
    )
