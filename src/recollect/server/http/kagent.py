"""The memory routes of kagent: its agents keep their memories here by changing one address."""

from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from recollect import Invalid, NotFound, ScopedMemory
from recollect.model.records import MEMORY_KINDS, MemoryRecord
from recollect.model.retention import LONGEST_DAYS
from recollect.model.scope import NAME_LIMIT
from recollect.record.retention import TTL
from recollect.server.answers import answer
from recollect.server.http.shapes import REFUSED, Body, Number, Vector, Whole, gives, like, made
from recollect.server.http.writing import FORGETS, Writes, every, forgotten, seen
from recollect.server.scope import Called, Scoped, own
from recollect.server.serving import Serving, serving

router = APIRouter(prefix="/api/memories", tags=["kagent"], responses=REFUSED)

BATCH = 50
FOUND = 5
MIN_SCORE = 0.3
LISTED = 10_000
PAGE = 500

Agent = Annotated[str, Field(min_length=1, max_length=NAME_LIMIT)]
AgentQuery = Annotated[str, Query(min_length=1, max_length=NAME_LIMIT)]
User = Annotated[str | None, Query(max_length=NAME_LIMIT, description="The caller; nobody else.")]
_EXAMPLE = {"agent_name": "scout", "content": "The cluster runs in eu-west-1"}


class Session(Body):
    """A memory of an agent. Its vector is computed here; one that is sent is not needed."""

    agent_name: Agent
    user_id: Annotated[str, Field(max_length=NAME_LIMIT)] | None = None
    content: str
    vector: Vector | None = None
    metadata: dict[str, Any] | None = None
    ttl_days: Annotated[Whole, Field(le=LONGEST_DAYS)] | None = None

    model_config = like(_EXAMPLE)


class Sessions(Body):
    items: Annotated[list[Session], Field(min_length=1, max_length=BATCH)]

    model_config = like({"items": [_EXAMPLE]})


class Search(Body):
    """By a text, or by a vector of the model that this server embeds with."""

    agent_name: Agent
    user_id: Annotated[str, Field(max_length=NAME_LIMIT)] | None = None
    query: str | None = None
    vector: Vector | None = None
    limit: Annotated[Whole, Field(le=1000)] = FOUND
    min_score: Number = MIN_SCORE

    model_config = like({"agent_name": "scout", "query": "Where does the cluster run?"})


class Found(BaseModel):
    """A memory that was found."""

    id: str
    content: str
    score: float
    metadata: dict[str, Any] = {}
    created_at: str


class Kept(BaseModel):
    """A memory, and how often it was asked for."""

    id: str
    content: str
    access_count: int
    created_at: str
    expires_at: str = ""


def _check_user(caller: Called, *named: str | None) -> None:
    """Who is meant must be who calls: anybody else is nobody."""
    if any(name is not None and name != own(caller) for name in named):
        raise NotFound("There is no such user for this key: leave user_id out, or send the key's own.")


def _item(server: Serving, memory: ScopedMemory, given: Session) -> dict[str, Any]:
    days = given.ttl_days if given.ttl_days and given.ttl_days > 0 else memory.retention().ttl_days
    end = server.memory.clock.now() + timedelta(days=days)
    return {
        "content": given.content,
        "expires_at": end,
        "metadata": {**(given.metadata or {}), TTL: days},  # by which it is renewed when it is popular
    }


@router.post(
    "/sessions", operation_id="kagent_add", summary="Add a memory", **gives(made(id=str), status=201)
)
async def add(request: Request, caller: Called, body: Session, write: Writes) -> Response:
    """Save a memory of an agent, for 15 days unless it says otherwise."""
    _check_user(caller, body.user_id)
    server = serving(request)
    return await write.seen(agent=body.agent_name).do(
        lambda memory: memory.remember_many([_item(server, memory, body)]),
        every,
        MEMORY_KINDS,
        status=201,
        shown=lambda saved: {"id": saved[0].id},
    )


@router.post(
    "/sessions/batch",
    operation_id="kagent_add_batch",
    summary="Add memories",
    **gives(made(count=int), status=201),
)
async def add_batch(request: Request, caller: Called, body: Sessions, write: Writes) -> Response:
    """Save up to 50 memories of an agent, all or none."""
    _check_user(caller, *(item.user_id for item in body.items))
    agents = {item.agent_name for item in body.items}
    if len(agents) > 1:
        raise Invalid("The memories of one request are one agent's: send those of another separately.")
    server = serving(request)
    return await write.seen(agent=agents.pop()).do(
        lambda memory: memory.remember_many([_item(server, memory, item) for item in body.items]),
        every,
        MEMORY_KINDS,
        status=201,
        shown=lambda saved: {"count": len(saved)},
    )


@router.post("/search", operation_id="kagent_search", summary="Search", **gives(list[Found], "Best first"))
async def search(request: Request, caller: Called, body: Search, memory: Scoped) -> Response:
    """An agent's memories that are like a text, or near a vector."""
    _check_user(caller, body.user_id)
    if not body.query and body.vector is None:
        raise Invalid("Nothing to search for: give a query, or the vector of one.")
    own_agent = seen(serving(request), memory, agent=body.agent_name)
    return answer(await serving(request).ask(lambda: _found(own_agent, body)))


def _found(memory: ScopedMemory, asked: Search) -> list[dict[str, Any]]:
    recalled = memory.recall(
        asked.query or "",
        vector=asked.vector,
        agent=asked.agent_name,
        kinds=MEMORY_KINDS,
        top_k=asked.limit if asked.limit > 0 else FOUND,
        threshold=asked.min_score,
        techniques={"gate": False},
    )
    return [
        {
            "id": hit.id,
            "content": hit.content,
            "score": hit.score,
            "metadata": _metadata(memory, hit.id),
            "created_at": hit.at.isoformat(),
        }
        for hit in recalled.hits
    ]


def _metadata(memory: ScopedMemory, id: str) -> dict[str, Any]:
    """What came with a memory; nothing, should it have been forgotten just now."""
    with suppress(NotFound):
        return {name: value for name, value in memory.get(id).metadata.items() if name != TTL}
    return {}


@router.get(
    "", operation_id="kagent_list", summary="List memories", **gives(list[Kept], "The most used first")
)
async def kept(
    request: Request, caller: Called, agent_name: AgentQuery, memory: Scoped, user_id: User = None
) -> Response:
    """An agent's memories, those that are asked for most often first."""
    _check_user(caller, user_id)
    server = serving(request)
    return answer(await server.run(lambda: _kept(server, memory, agent_name)))


def _kept(server: Serving, memory: ScopedMemory, agent: str) -> list[dict[str, Any]]:
    now = server.memory.clock.now()
    found = [one for kind in MEMORY_KINDS for one in _all(memory, kind, agent)]
    found = [one for one in found if one.expires_at is None or one.expires_at > now]
    server.memory.flush()  # what was just returned counts
    usage = server.memory.store.user(memory.scope.user).usage([one.id for one in found])
    counted = [(usage[one.id].count if one.id in usage else 0, one) for one in found]
    counted.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [
        {
            "id": one.id,
            "content": one.content,
            "access_count": count,
            "created_at": one.recorded_at.isoformat(),
            **({"expires_at": one.expires_at.isoformat()} if one.expires_at else {}),
        }
        for count, one in counted
    ]


def _all(memory: ScopedMemory, kind: str, agent: str) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    after: str | None = None
    while len(found) < LISTED:
        some = memory.list(kind, limit=PAGE, after=after, agent=agent, superseded_by=None)
        found += [one for one in some if isinstance(one, MemoryRecord)]
        if len(some) < PAGE:
            break
        after = some[-1].id
    return found


@router.delete(
    "", operation_id="kagent_clear", summary="Clear memories", **gives(made(status=str), "Cleared")
)
async def clear(caller: Called, agent_name: AgentQuery, write: Writes, user_id: User = None) -> Response:
    """Forget all that an agent was told and has learnt."""
    _check_user(caller, user_id)
    return await write.do(
        lambda memory: memory.forget(agent=agent_name),
        forgotten,
        FORGETS,
        shown=lambda gone: {"status": "deleted", "count": gone.total},
    )
