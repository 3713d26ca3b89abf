"""What operators do: the background's jobs, and receipts of what was erased. Nobody's memory."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from recollect.ports.tending import JobState, Receipt
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import Limit, gives, made
from recollect.server.identity.entry import Operator
from recollect.server.serving import Serving, serving
from recollect.tend.tender import Outcome

router = ours("operations")

RECEIPTS = 100


async def operated(request: Request, _: Operator) -> Serving:
    """The server, for those who operate it."""
    return serving(request)


Operated = Annotated[Serving, Depends(operated)]


@router.get("/jobs", operation_id="jobs", summary="What the jobs did", **gives(made(jobs=list[JobState])))
async def jobs(server: Operated) -> Response:
    """What each job of the background did when it last ran, and in all."""
    return answer({"jobs": await server.run(server.memory.store.jobs)})


@router.post("/jobs/run", operation_id="tend", summary="Run the jobs", **gives(made(outcomes=list[Outcome])))
async def run(server: Operated) -> Response:
    """Do the background's work now, once."""
    return answer({"outcomes": await server.run(server.memory.tend)})


@router.get(
    "/receipts", operation_id="receipts", summary="What was erased", **gives(made(receipts=list[Receipt]))
)
async def receipts(server: Operated, limit: Limit = RECEIPTS) -> Response:
    """That users were erased, newest first: when and how much, not who and what."""
    found = await server.run(lambda: server.memory.store.receipts(limit))
    return answer({"receipts": found})
