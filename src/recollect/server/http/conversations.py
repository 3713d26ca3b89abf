"""Conversations: what was said in one, what came of it, what was mined from it."""

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from recollect import Conversation, Forgotten, Mined, Summary, Turn
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.parts import Named
from recollect.server.http.shapes import Body, DryRun, Flag, Name, gives, like, made
from recollect.server.http.writing import FORGETS, Writes, first, follow_answers, forgotten
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("conversations")


class NewSummary(Body):
    """What one invocation was asked, did and reached."""

    query: str
    summary: str
    result: str

    model_config = like({"query": "Book a table", "summary": "Called two places", "result": "Table at 8"})


class Ending(Body):
    """What came of a conversation, and whether that is what was wanted."""

    outcome: str | None = None
    success: Flag | None = None

    model_config = like({"outcome": "Booked for Friday", "success": True})


class Mining(Body):
    """Which conversation to mine; without one, all with turns that were not mined yet."""

    conversation: Name | None = None


@router.get(
    "/conversations/{id:part}/turns",
    operation_id="conversation",
    summary="Read a conversation",
    **gives(made(turns=list[Turn]), "Its turns"),
)
async def turns(request: Request, id: Named, memory: Scoped) -> Response:
    """The turns of a conversation, in order."""
    return answer({"turns": await serving(request).run(lambda: memory.conversation(id))})


@router.get(
    "/conversations/{id:part}/summaries",
    operation_id="summaries",
    summary="Read what was done",
    **gives(made(summaries=list[Summary]), "Its summaries"),
)
async def summaries(request: Request, id: Named, memory: Scoped) -> Response:
    """What was done in a conversation, invocation by invocation, in order."""
    return answer({"summaries": await serving(request).run(lambda: memory.summaries(id))})


@router.post(
    "/conversations/{id:part}/summaries",
    operation_id="record_summary",
    summary="Record what was done",
    **gives(Summary, status=201),
)
async def record_summary(id: Named, body: NewSummary, write: Writes) -> Response:
    """Store what one invocation in the conversation was asked, did and reached."""
    return await write.seen(conversation=id).do(
        lambda memory: memory.record_summary(body.query, body.summary, body.result),
        first,
        (Summary.kind,),
        status=201,
    )


@router.post(
    "/conversations/{id:part}/end",
    operation_id="end",
    summary="End a conversation",
    dependencies=[Depends(follow_answers)],
    **gives(Conversation),
)
async def end(id: Named, write: Writes, body: Ending | None = None) -> Response:
    """Say that a conversation has ended; the background concludes it then. A later turn opens it again."""
    given = Ending() if body is None else body
    return await write.do(
        lambda memory: memory.end(id, given.outcome, success=given.success),
        lambda memory, _: _conversation(memory.get(id)),
    )


def _conversation(found: object) -> Conversation:
    assert isinstance(found, Conversation)
    return found


@router.post(
    "/conversations/{id:part}/mine",
    operation_id="mine_conversation",
    summary="Mine a conversation",
    **gives(made(mined=list[Mined]), "What became of it"),
)
async def mine_conversation(id: Named, write: Writes) -> Response:
    """Work out what is worth knowing of a conversation. Doing it twice changes nothing."""
    return await write.do(lambda memory: {"mined": memory.mine(id)})


@router.post(
    "/mine", operation_id="mine", summary="Mine", **gives(made(mined=list[Mined]), "What became of them")
)
async def mine(write: Writes, body: Mining | None = None) -> Response:
    """Work out what is worth knowing of all that was not mined yet. Doing it twice changes nothing."""
    conversation = None if body is None else body.conversation
    return await write.do(lambda memory: {"mined": memory.mine(conversation)})


@router.delete(
    "/conversations/{id:part}/mined", operation_id="unmine", summary="Undo mining", **gives(Forgotten)
)
async def unmine(id: Named, write: Writes) -> Response:
    """Undo what was mined from a conversation. Its turns stay; it is mined again on demand only."""
    return await write.do(lambda memory: memory.unmine(id))


@router.delete(
    "/conversations/{id:part}",
    operation_id="forget_conversation",
    summary="Forget a conversation",
    **gives(Forgotten),
)
async def forget(id: Named, write: Writes, dry_run: DryRun = False) -> Response:
    """Erase a conversation, with all that was derived from it alone."""
    return await write.do(lambda memory: memory.forget(conversation=id, dry_run=dry_run), forgotten, FORGETS)
