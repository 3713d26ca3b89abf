"""Contradictions that somebody is to look at."""

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from recollect import Contradiction
from recollect.server.answers import page
from recollect.server.http.asked import ours
from recollect.server.http.parts import Id
from recollect.server.http.shapes import PAGE, After, Body, Limit, gives, like, listed
from recollect.server.http.writing import Writes
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = ours("memories", "/contradictions")


class Settled(Body):
    """Which one holds: the `new` memory, which then corrects the old one; the `old`, and the new one is
    forgotten; or `both`."""

    keep: Literal["new", "old", "both"]

    model_config = like({"keep": "new"})


@router.get(
    "",
    operation_id="contradictions",
    summary="List contradictions",
    **gives(listed("contradictions", Contradiction), "A page"),
)
async def contradictions(
    request: Request, memory: Scoped, limit: Limit = PAGE, after: After = None
) -> Response:
    """What was mined under `flag_review` and waits for somebody to look at it, newest first."""
    found = await serving(request).run(lambda: memory.contradictions(limit=limit, after=after))
    return page("contradictions", found, limit)


@router.post(
    "/{id:part}",
    operation_id="settle",
    summary="Settle a contradiction",
    status_code=204,
    response_model=None,
)
async def settle(id: Id, body: Settled, write: Writes) -> Response:
    """Say which of the two holds, by the id of the newer memory."""
    await write.do(lambda memory: memory.settle(id, body.keep), lambda _memory, _made: None)
    return Response(status_code=204)
