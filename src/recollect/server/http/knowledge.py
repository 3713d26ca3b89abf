"""What is known, seen as a whole: tools, procedures for a task, entities, their history, the palace."""

from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from recollect import Drawer, Entity, Episode, Event, Place, Procedure, ToolInvocation, ToolStats
from recollect.limits import TEXT_LIMIT
from recollect.model.recollection import Neighbourhood
from recollect.recall.neighbours import HOPS, LIMIT, MOST
from recollect.scoped.learning import TOP_K
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import (
    LONGEST_PAGE,
    PAGE,
    Body,
    Flag,
    Limit,
    Number,
    Since,
    Text,
    gives,
    like,
    made,
)
from recollect.server.http.writing import Writes, first
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("knowledge")

EVENTS = 100
DIGITS = 10
"""From so many digits on, a number is none of a place."""
Task = Annotated[str, Query(description="What is to be done.", examples=["Deploy the site"])]
TopK = Annotated[int, Query(ge=1, le=LONGEST_PAGE)]
Named = Annotated[str | None, Query(max_length=TEXT_LIMIT, description="A name, an alias or an id.")]
Part = Annotated[str | None, Query(max_length=TEXT_LIMIT, examples=["W-001"])]


class Invocation(Body):
    """One call of a tool and what came of it."""

    tool: Text
    input: Any = None
    output: Any = None
    success: Flag | None = None
    latency_ms: Number | None = None
    error: str | None = None
    turn: Text | None = None

    model_config = like({"tool": "weather", "input": {"city": "Porto"}, "output": "18 °C"})


class Merge(Body):
    entity: Text
    into: Text

    model_config = like({"entity": "Bob", "into": "Robert"})


class Split(Body):
    entity: Text
    alias: Text

    model_config = like({"entity": "Robert", "alias": "Bob"})


@router.post(
    "/tool_invocations",
    operation_id="record_tool",
    summary="Record a call of a tool",
    **gives(ToolInvocation, status=201),
)
async def record_tool(body: Invocation, write: Writes) -> Response:
    """Store one call of a tool and what came of it."""
    fields: dict[str, Any] = {"input": None, **body.given()}
    return await write.do(
        lambda memory: memory.record_tool(**fields), first, (ToolInvocation.kind,), status=201
    )


@router.get("/tools", operation_id="tools", summary="How tools do", **gives(made(tools=list[ToolStats])))
async def tools(
    request: Request, memory: Scoped, tool: Annotated[str | None, Query(max_length=TEXT_LIMIT)] = None
) -> Response:
    """How often each tool was called, or this one, how that went and how long it took."""
    return answer({"tools": await serving(request).run(lambda: memory.tools(tool))})


@router.get(
    "/procedures/search",
    operation_id="procedures",
    summary="How it is done",
    **gives(made(procedures=list[Procedure])),
)
async def procedures(request: Request, memory: Scoped, task: Task, top_k: TopK = TOP_K) -> Response:
    """How tasks like this are done: what went well before comes first."""
    return answer({"procedures": await serving(request).run(lambda: memory.procedures(task, top_k))})


@router.get(
    "/episodes/search",
    operation_id="episodes",
    summary="How it went before",
    **gives(made(episodes=list[Episode])),
)
async def episodes(request: Request, memory: Scoped, task: Task, top_k: TopK = TOP_K) -> Response:
    """Tasks like this that were worked on, and how they ended: what went well comes first."""
    return answer({"episodes": await serving(request).run(lambda: memory.episodes(task, top_k))})


@router.get("/timeline", operation_id="timeline", summary="Timeline", **gives(made(events=list[Event])))
async def timeline(
    request: Request,
    memory: Scoped,
    entity: Named = None,
    since: Since = None,
    until: Since = None,
    as_of: Since = None,
    limit: Limit = EVENTS,
    latest: bool = False,
) -> Response:
    """What was said, learnt, corrected and ended, oldest first; with an entity only what is about it. Of more
    than the limit, the first ones or the latest."""
    events = await serving(request).run(
        lambda: memory.timeline(entity, since=since, until=until, as_of=as_of, limit=limit, latest=latest)
    )
    return answer({"events": events})


@router.get("/graph", operation_id="neighbours", summary="Neighbourhood", **gives(Neighbourhood))
async def graph(
    request: Request,
    memory: Scoped,
    entity: Annotated[str, Query(max_length=TEXT_LIMIT, description="A name, an alias or an id.")],
    hops: Annotated[int, Query(ge=1, le=HOPS)] = 1,
    as_of: Since = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = LIMIT,
) -> Response:
    """Who and what an entity is related to, the nearest first, and the relations that lead there."""
    return answer(
        await serving(request).run(lambda: memory.neighbours(entity, hops=hops, as_of=as_of, limit=limit))
    )


@router.post("/entities/merge", operation_id="merge", summary="Merge entities", **gives(Entity))
async def merge(body: Merge, write: Writes) -> Response:
    """Take an entity for another one, with all that is known of both but relations between them; `split`
    makes one of its names an entity of its own again."""
    return await write.do(
        lambda memory: memory.merge(body.entity, body.into),
        lambda memory, _: memory.neighbours(body.into, limit=1).entities[0],
    )


@router.post("/entities/split", operation_id="split", summary="Split an entity", **gives(Entity))
async def split(body: Split, write: Writes) -> Response:
    """Make an alias of an entity an entity of its own, with the memories that call it so."""
    return await write.do(
        lambda memory: memory.split(body.entity, body.alias),
        lambda memory, _: memory.neighbours(body.alias, limit=1).entities[0],
    )


@router.get("/palace", operation_id="palace", summary="Walk the palace", **gives(made(places=list[Place])))
async def palace(
    request: Request,
    memory: Scoped,
    wing: Part = None,
    room: Part = None,
    closet: Part = None,
    limit: Limit = PAGE,
    after: Annotated[int | None, Query(ge=0, lt=2**31, description="The number of the last place.")] = None,
) -> Response:
    """The wings; of a wing its rooms, of a room its closets, of a closet its drawers."""
    opened = [_number(part) for part in (wing, room, closet)]
    places = await serving(request).run(lambda: memory.palace(*opened, limit=limit, after=after))
    return answer({"places": places})


def _number(part: str | None) -> str | int | None:
    """A place is named by its number alone, or as it is written."""
    return int(part) if part is not None and part.isdecimal() and len(part) < DIGITS else part


@router.get("/palace/drawer", operation_id="drawer", summary="Open a drawer", **gives(Drawer))
async def drawer(
    request: Request,
    memory: Scoped,
    pointer: Annotated[str, Query(max_length=TEXT_LIMIT, examples=["§ W-042/R-11/D-007"])],
) -> Response:
    """What a pointer cites: the turn, its tags, what was derived from it."""
    return answer(await serving(request).run(lambda: memory.drawer(pointer)))
