"""The memory routes of Semantic Router."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from recollect import GLOBAL, Forgotten, Invalid, NotFound, Record, ScopedMemory
from recollect.model.records import MEMORY_KINDS, MemoryRecord
from recollect.model.scope import NAME_LIMIT
from recollect.server.answers import answer
from recollect.server.http.parts import Id
from recollect.server.http.shapes import PAGE, REFUSED, After, Body, Limit, gives, like, made
from recollect.server.http.writing import FORGETS, Writes, every, forgotten
from recollect.server.scope import Called, Scoped, own
from recollect.server.serving import serving

router = APIRouter(prefix="/v1/memory", tags=["Semantic Router"], responses=REFUSED)

KINDS = {"semantic": "fact", "procedural": "procedure", "episodic": "episode", "reflective": "reflection"}
TYPES = {kind: type for type, kind in KINDS.items()}

Type = Annotated[
    Literal["semantic", "procedural", "episodic", "reflective"] | None,
    Query(description="Only memories of this type."),
]
User = Annotated[str | None, Query(max_length=NAME_LIMIT, description="The caller; nobody else.")]
Project = Annotated[str | None, Query(max_length=NAME_LIMIT, description="Only of this project: a channel.")]


class Shown(BaseModel):
    """A memory, as Semantic Router has them."""

    id: str
    type: str
    content: str
    project_id: str | None = None
    source: str
    importance: float
    created_at: str
    updated_at: str


class Changed(Body):
    content: str

    model_config = like({"content": "Budget for Hawaii is $12,000"})


def _check_user(caller: Called, named: str | None) -> None:
    if named is not None and named != own(caller):
        raise NotFound("There is no such user for this key: leave user_id out, or send the key's own.")


def _shown(memory: Record) -> dict[str, Any]:
    if not isinstance(memory, MemoryRecord):
        raise NotFound(f"There is no memory {memory.id!r}.")
    at = memory.recorded_at.isoformat()
    return {
        "id": memory.id,
        "type": TYPES[memory.kind],
        "content": memory.content,
        "project_id": None if memory.channel == GLOBAL else memory.channel,
        "source": memory.origin,
        "importance": memory.salience,
        "created_at": at,
        "updated_at": at,
    }


@router.get(
    "",
    operation_id="router_list",
    summary="List memories",
    **gives(made(memories=list[Shown], next=str | None), "A page"),
)
async def memories(
    request: Request,
    caller: Called,
    memory: Scoped,
    type: Type = None,
    user_id: User = None,
    project_id: Project = None,
    limit: Limit = PAGE,
    after: After = None,
) -> Response:
    """What is known of the user, newest first of each type, a page at a time."""
    _check_user(caller, user_id)
    found = await serving(request).run(lambda: _listed(memory, type, project_id, limit, after))
    more = {"next": found[-1].id} if len(found) == limit else {}
    return answer({"memories": [_shown(one) for one in found], **more})


def _listed(
    memory: ScopedMemory, type: str | None, project: str | None, limit: int, after: str | None
) -> list[Record]:
    """From the kind of the last one on; ids of all kinds are told apart by looking."""
    where: dict[str, Any] = {"superseded_by": None} | ({} if project is None else {"channel": project})
    kinds = list(MEMORY_KINDS) if type is None else [KINDS[type]]
    if after is not None:
        last = memory.get(after).kind
        if last not in kinds:
            raise NotFound(f"There is no memory {after!r} to go on after.")
        kinds = kinds[kinds.index(last) :]
    found: list[Record] = []
    for kind in kinds:
        if len(found) < limit:
            found += memory.list(kind, limit=limit - len(found), after=after, **where)
        after = None
    return found


@router.get("/{id:part}", operation_id="router_get", summary="Look at a memory", **gives(Shown))
async def get(request: Request, id: Id, memory: Scoped) -> Response:
    """The memory with this id."""
    return answer(_shown(await serving(request).run(lambda: memory.get(id))))


@router.put("/{id:part}", operation_id="router_put", summary="Correct a memory", **gives(Shown))
async def put(id: Id, body: Changed, write: Writes) -> Response:
    """Replace a memory from now on; the answer has the id of the new one."""
    return await write.do(
        lambda memory: [memory.correct(id, body.content)],
        every,
        MEMORY_KINDS,
        shown=lambda made: _shown(made[0]),
    )


@router.delete("/{id:part}", operation_id="router_delete", summary="Forget a memory", **gives(Forgotten))
async def delete(id: Id, write: Writes) -> Response:
    """Erase a memory, with all that was derived from it alone."""
    return await write.do(lambda memory: _forget(memory, id), forgotten, FORGETS)


def _forget(memory: ScopedMemory, id: str) -> Forgotten:
    _shown(memory.get(id))  # nothing but memories
    return memory.forget(id)


@router.delete("", operation_id="router_delete_scope", summary="Forget by scope", **gives(Forgotten))
async def delete_scope(
    caller: Called, write: Writes, user_id: User = None, project_id: Project = None
) -> Response:
    """Erase all that is known of a project, with what was said in it; without one, everything of the user,
    who has to be named then."""
    _check_user(caller, user_id)
    if project_id is not None:
        return await write.do(lambda memory: memory.forget(channel=project_id), forgotten, FORGETS)
    if user_id is None:
        raise Invalid("Say what is to be erased: project_id, or user_id for everything.")
    return await write.do(lambda memory: memory.forget(everything=True))
