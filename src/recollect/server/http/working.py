"""Working memory: what an agent has in its head during a conversation. It expires, and is no record: a write
that is sent again is done again."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect import GLOBAL, Invalid, NotFound, WorkingItem, WorkingMemory
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.parts import Id, Named
from recollect.server.http.shapes import Body, Text, Time, Whole, gives, like, made
from recollect.server.scope import Agent, Called, Channel, own
from recollect.server.serving import serving

router = ours("working memory", "/conversations/{id:part}/working")

Tokens = Annotated[int | None, Query(ge=0, lt=2**31)]


async def desk(
    request: Request, id: Named, caller: Called, channel: Channel = GLOBAL, agent: Agent = None
) -> WorkingMemory:
    return serving(request).memory.scope(own(caller), channel, agent, id).working


Desk = Annotated[WorkingMemory, Depends(desk)]


class NewItem(Body):
    type: Literal["turn", "thought", "action", "observation", "decision"]
    content: str
    at: Time | None = None
    tokens: Whole | None = None
    context_window: Whole | None = None
    metadata: dict[str, Any] | None = None

    model_config = like({"type": "observation", "content": "18 °C, sunny", "metadata": {"tool": "weather"}})


class NewValue(Body):
    """Anything that can be JSON; null takes it out."""

    value: Any

    model_config = like({"value": {"city": "Porto"}})


class WorkingGoal(Body):
    goal: Text | None

    model_config = like({"goal": "Book a table for two"})


class Window(Body):
    context_window: Whole | None = None


def _held(desk: WorkingMemory) -> dict[str, Any]:
    items = desk.items()
    tokens = sum(item.tokens for item in items)
    return {"items": items, "values": desk.values(), "goal": desk.goal, "tokens": tokens}


@router.get(
    "",
    operation_id="working",
    summary="What is held",
    **gives(
        made(items=list[WorkingItem], values=dict[str, Any], goal=str | None, tokens=int), "What is held"
    ),
)
async def working(request: Request, desk: Desk) -> Response:
    """The items in order, the values by key, the goal, and about how many tokens the items have."""
    return answer(await serving(request).run(lambda: _held(desk)))


@router.post("/items", operation_id="working_add", summary="Keep an item", **gives(WorkingItem, status=201))
async def add(request: Request, body: NewItem, desk: Desk) -> Response:
    """Keep what was said, thought, done, observed or decided. Of too much, the older items are compressed."""
    given = body.given()
    metadata: dict[str, Any] = given.pop("metadata", None) or {}
    if odd := metadata.keys() & {*NewItem.model_fields, "self"}:
        raise Invalid(f"The metadata of an item cannot be called {min(odd)!r}.")
    return answer(await serving(request).run(lambda: desk.add(**given, **metadata)), 201)


@router.get(
    "/values/{key:part}",
    operation_id="working_get",
    summary="Read a value",
    **gives(made(value=Any), "The value"),
)
async def get(request: Request, key: Id, desk: Desk) -> Response:
    """The value of a key."""
    values = await serving(request).run(desk.values)
    if key not in values:
        raise NotFound("There is no value of this key in the conversation's working memory.")
    return answer({"value": values[key]})


@router.put(
    "/values/{key:part}",
    operation_id="working_set",
    summary="Keep a value",
    **gives(made(value=Any), "The value"),
)
async def put(request: Request, key: Id, body: NewValue, desk: Desk) -> Response:
    """Keep a value under a key."""
    await serving(request).run(lambda: desk.set(key, body.value))
    return answer({"value": body.value})


@router.delete(
    "/values/{key:part}",
    operation_id="working_unset",
    summary="Take a value out",
    status_code=204,
    response_model=None,
)
async def unset(request: Request, key: Id, desk: Desk) -> Response:
    """Take a value out."""
    await serving(request).run(lambda: desk.set(key, None))
    return Response(status_code=204)


@router.put(
    "/goal",
    operation_id="working_set_goal",
    summary="Say the goal",
    **gives(made(goal=str | None), "The goal"),
)
async def set_goal(request: Request, body: WorkingGoal, desk: Desk) -> Response:
    """Say what the agent is after right now; null: nothing any more."""
    await serving(request).run(lambda: desk.set_goal(body.goal))
    return answer({"goal": body.goal})


@router.get(
    "/context",
    operation_id="working_context",
    summary="As a block for a model",
    **gives(made(context=str), "The block"),
)
async def context(
    request: Request, desk: Desk, tokens: Tokens = None, context_window: Tokens = None
) -> Response:
    """The goal and the items as a block to give to a model, the newest that fit into so many tokens."""
    return answer({"context": await serving(request).run(lambda: desk.context(tokens, context_window))})


@router.post(
    "/compress",
    operation_id="working_compress",
    summary="Compress",
    **gives(made(compressed=bool), "Whether anything was compressed"),
)
async def compress(request: Request, desk: Desk, body: Window | None = None) -> Response:
    """Compress the older items into a summary, if there are too many tokens."""
    window = None if body is None else body.context_window
    return answer({"compressed": await serving(request).run(lambda: desk.compress(window))})


@router.post(
    "/end_invocation",
    operation_id="working_end_invocation",
    summary="End an invocation",
    status_code=204,
    response_model=None,
)
async def end_invocation(request: Request, desk: Desk) -> Response:
    """Clear what the scope's agent thought, did and observed; turns, values and the goal stay."""
    await serving(request).run(desk.end_invocation)
    return Response(status_code=204)


@router.delete("", operation_id="working_clear", summary="Clear", status_code=204, response_model=None)
async def clear(request: Request, desk: Desk) -> Response:
    """Leave nothing in the conversation's working memory."""
    await serving(request).run(desk.clear)
    return Response(status_code=204)
