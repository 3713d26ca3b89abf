"""What is known: saving it, looking at it, putting it right, forgetting it."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect import (
    Episode,
    Fact,
    Forgotten,
    Invalid,
    Procedure,
    Record,
    Reflection,
    ScopedMemory,
)
from recollect.model.records import MEMORY_KINDS, MemoryRecord
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.parts import Id
from recollect.server.http.shapes import (
    MANY,
    Body,
    DryRun,
    Flag,
    Number,
    Text,
    Texts,
    Time,
    Whole,
    gives,
    like,
    made,
)
from recollect.server.http.writing import FORGETS, Writes, every, first, forgotten
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("memories")

Memory = Fact | Procedure | Episode | Reflection


class NewMemory(Body):
    """Something to remember as it is given."""

    content: Annotated[str, Field(examples=["Prefers green tea"])]
    about: Texts | None = None
    conversation: Text | None = None
    slot: Text | None = None
    replaces: Text | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None
    confidence: Number | None = None
    salience: Number | None = None
    pinned: Flag | None = None
    tense: Text | None = None
    metadata: dict[str, Any] | None = None


class NewProcedure(NewMemory):
    context: Text | None = None
    tools: Texts | None = None
    successes: Annotated[Whole, Field(ge=0, lt=2**31)] | None = None
    failures: Annotated[Whole, Field(ge=0, lt=2**31)] | None = None
    last_used: Time | None = None


class NewEpisode(NewMemory):
    goal: str | None = None
    steps: Texts | None = None
    outcome: str | None = None
    lessons: str | None = None
    success: Flag | None = None
    tools: Texts | None = None


class NewReflection(NewMemory):
    content: Annotated[str, Field(examples=["Prefers answers without bullet points"])]


class Item(NewProcedure, NewEpisode):
    kind: Annotated[str, Field(max_length=64, examples=["fact"])] = "fact"


class Items(Body):
    """Several memories, saved all or none; a text stands for a fact."""

    items: Annotated[list[str | Item], Field(min_length=1, max_length=MANY)]

    model_config = like({"items": [{"content": "Prefers green tea", "about": ["Derek"]}, "Lives in Porto"]})


class Correction(Body):
    content: Annotated[str, Field(examples=["Lives in Lisbon"])]
    since: Time | None = None


class Marked(Body):
    """`pinned` keeps a memory whatever the retention policy says; `promoted` has all channels read it."""

    pinned: Flag | None = None
    promoted: Flag | None = None

    model_config = like({"pinned": True})


class Undo(Body):
    """`undo` of what forgetting a record with undo=true gave."""

    undo: Annotated[str, Field(examples=["01a1e242-398d-7697-8035-4be6100c5411.eyJ1bnRpbCI6…"])]


@router.post(
    "/memories",
    operation_id="remember_many",
    summary="Remember",
    **gives(made(memories=list[Memory]), status=201),
)
async def remember_many(body: Items, write: Writes) -> Response:
    """Save memories of any kind, all or none."""
    items = [item if isinstance(item, str) else item.given() for item in body.items]
    return await write.do(
        lambda memory: memory.remember_many(items),
        every,
        MEMORY_KINDS,
        status=201,
        shown=lambda saved: {"memories": saved},
    )


def _saving(kind: type[MemoryRecord], body: type[NewMemory], path: str) -> None:
    async def remember(given: NewMemory, write: Writes) -> Response:
        fields = given.given()
        return await write.do(
            lambda memory: memory.remember(kind=kind.kind, **fields), first, MEMORY_KINDS, status=201
        )

    remember.__annotations__["given"] = body
    router.add_api_route(
        f"/{path}",
        remember,
        methods=["POST"],
        operation_id=f"remember_{kind.kind}",
        summary=f"Remember a {kind.kind}".replace("a e", "an e"),
        **gives(kind, status=201),
    )


_saving(Fact, NewMemory, "facts")
_saving(Procedure, NewProcedure, "procedures")
_saving(Episode, NewEpisode, "episodes")
_saving(Reflection, NewReflection, "reflections")


@router.get("/records/{id:part}", operation_id="get", summary="Look at a record", **gives(Record))
async def get(request: Request, id: Id, memory: Scoped) -> Response:
    """The record with this id, of any kind."""
    return answer(await serving(request).run(lambda: memory.get(id)))


@router.put(
    "/records/{id:part}",
    operation_id="correct",
    summary="Correct a memory",
    **gives(Memory, "The new memory"),
)
async def correct(id: Id, body: Correction, write: Writes) -> Response:
    """Replace a memory from now on, or from `since`. The old one is kept as what held before."""
    return await write.do(
        lambda memory: memory.correct(id, body.content, since=body.since), first, MEMORY_KINDS
    )


@router.patch(
    "/records/{id:part}",
    operation_id="mark",
    summary="Pin or promote a memory",
    **gives(Memory, "The memory"),
)
async def mark(id: Id, body: Marked, write: Writes) -> Response:
    """Pin a memory or let it go again; promote it to all channels or take it back."""
    if not body.given():
        raise Invalid("Nothing to change: give pinned or promoted.")
    return await write.do(
        lambda memory: _marked(memory, id, body.promoted, body.pinned),
        lambda memory, _: _marked_again(memory, id, body.pinned),
    )


def _marked(memory: ScopedMemory, id: str, promoted: bool | None, pinned: bool | None) -> Record:
    if promoted is not None:
        memory.promote(id, promoted)
    return memory.get(id) if pinned is None else memory.pin(id, pinned)


def _marked_again(memory: ScopedMemory, id: str, pinned: bool | None) -> Record:
    """It was promoted; whether it was also pinned is not known, and is so after this."""
    return _marked(memory, id, None, pinned)


@router.delete("/records/{id:part}", operation_id="forget", summary="Forget a record", **gives(Forgotten))
async def forget(
    id: Id,
    write: Writes,
    with_sources: Annotated[bool, Query(description="Erase the turns behind a memory too.")] = False,
    dry_run: DryRun = False,
    undo: Annotated[bool, Query(description="Give what takes it back for a minute, at /undo.")] = False,
) -> Response:
    """Erase one record, with all that was derived from it alone."""
    return await write.do(
        lambda memory: memory.forget(id, with_sources=with_sources, dry_run=dry_run, undo=undo),
        forgotten,
        FORGETS,
    )


@router.post("/undo", operation_id="undo", summary="Take back an erasure", **gives(dict[str, int], "By kind"))
async def undo(body: Undo, write: Writes) -> Response:
    """Bring back what was erased within the last minute: how many records of each kind."""
    return await write.do(
        lambda memory: memory.undo(body.undo),
        lambda memory, made: dict(forgotten(memory, made).counts),  # its entry tells it as a receipt does
        FORGETS,
    )
