"""From a request to one user's memory: the only way to it on this server."""

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

from recollect import NotFound, ScopedMemory
from recollect.model.scope import NAME_LIMIT
from recollect.server.identity.caller import Caller
from recollect.server.serving import serving

SEEN_FROM = {
    "channel": "The channel that is written to and read.",
    "agent": "The agent that is at work.",
    "conversation": "The conversation that is going on.",
}
"""What every route may be told, of where its memory is seen from."""

Channel = Annotated[str, Query(max_length=NAME_LIMIT, description=SEEN_FROM["channel"])]
Agent = Annotated[str | None, Query(max_length=NAME_LIMIT, description=SEEN_FROM["agent"])]


async def caller(request: Request) -> Caller:
    """Who is calling, as the gate has established before the request came here."""
    return request.state.caller


Called = Annotated[Caller, Depends(caller)]


def own(caller: Caller) -> str:
    """Whose memory the caller works on."""
    if caller.user is None:
        raise NotFound("An admin key opens nobody's memory: use a user's key, or a service's.")
    return caller.user


# Not in threads, as FastAPI would run plain functions: a scope is made in microseconds. The query is read
# here, since every request pays for each thing that FastAPI is to look for; `document` tells of it.
async def scope(request: Request) -> ScopedMemory:
    """The caller's memory, seen from a channel, an agent and a conversation."""
    given = request.query_params
    seen = {name: given[name] for name in SEEN_FROM if name in given}
    return serving(request).memory.scope(own(request.state.caller), **seen)


Scoped = Annotated[ScopedMemory, Depends(scope)]


def is_scoped(dependant: Dependant) -> bool:
    """Whether a route takes one."""
    return dependant.call is scope or any(map(is_scoped, dependant.dependencies))
