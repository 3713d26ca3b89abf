"""What operators do: the background's jobs, and receipts of what was erased. Nobody's memory."""

from datetime import date
from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect import Memory, metrics
from recollect.doing import MOST_DAYS, PERIODS, document
from recollect.model.retention import parsed
from recollect.ports.tending import JobState, Receipt, Standing
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import Limit, gives, made
from recollect.server.identity.entry import Operator
from recollect.server.serving import Serving, serving
from recollect.tend.tender import Outcome

router = ours("operations")

RECEIPTS = 100
DAYS = 30
Times = made(count=int, p50_ms=float | None, p95_ms=float | None, p99_ms=float | None)
"""How often, and within which milliseconds half, most and nearly all were done."""


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
    "/figures",
    operation_id="figures",
    summary="How the memory is doing",
    **gives(
        made(
            rows=dict[str, int],
            bytes=int,
            days=int,
            today=date,
            daily=dict[str, list[int]],
            recall=dict[str, Times],
            record=dict[str, Times],
            recall_by_day=list[Times],
            cache=dict[str, float | None],
            waiting=dict[str, Any],
            unconsolidated=dict[str, Any],
            lag_seconds=dict[str, float],
            parked=dict[str, Any],
            jobs=list[JobState],
            tend_seconds=float,
            quotas=list[Standing],
            quota_warning=float,
            readiness=dict[str, Any],
        )
    ),
)
async def figures(server: Operated, days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = DAYS) -> Response:
    """What happened on each day, today last, how long recalls took, what waits and what is parked; everybody
    taken together. The background looks what there is to do every `tend_seconds`. Of the `quotas` of this
    deployment's retention policy: how many users, or channels, have `quota_warning` of one, and all of it."""
    found = await server.run(lambda: _figures(server.memory, days))
    return answer({**found, "readiness": await server.readiness.told()})


def _figures(memory: Memory, days: int) -> dict[str, Any]:
    memory.flush()
    found = metrics.figures(memory.store, memory.settings, memory.clock.now(), max(days, *PERIODS.values()))
    policy = parsed(memory.settings.retention)
    quotas = {"quotas": memory.store.standings(policy), "quota_warning": policy.quota_warning}
    return {**document(found, days), **quotas, "tend_seconds": memory.settings.tend_seconds}


@router.get(
    "/receipts", operation_id="receipts", summary="What was erased", **gives(made(receipts=list[Receipt]))
)
async def receipts(server: Operated, limit: Limit = RECEIPTS) -> Response:
    """That users were erased, newest first: when and how much, not who and what."""
    found = await server.run(lambda: server.memory.store.receipts(limit))
    return answer({"receipts": found})
