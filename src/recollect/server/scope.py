"""From a request to one user's memory: the only way to it on this server."""

from typing import Annotated

from fastapi import Depends, Query, Request

from recollect import GLOBAL, NotFound, ScopedMemory
from recollect.limits import TEXT_LIMIT
from recollect.server.identity.caller import Caller
from recollect.server.serving import serving

Name = Annotated[str | None, Query(max_length=TEXT_LIMIT)]


def caller(request: Request) -> Caller:
    """Who is calling, as the gate has established before the request came here."""
    return request.state.caller


def scope(
    request: Request,
    caller: Annotated[Caller, Depends(caller)],
    channel: Annotated[str, Query(description="The channel that is written to and read.")] = GLOBAL,
    agent: Annotated[str | None, Query(description="The agent that is at work.")] = None,
    conversation: Annotated[str | None, Query(description="The conversation that is going on.")] = None,
) -> ScopedMemory:
    """The caller's memory, seen from a channel, an agent and a conversation."""
    if caller.user is None:
        raise NotFound("An admin key opens nobody's memory: use a user's key, or a service's.")
    return serving(request).memory.scope(caller.user, channel, agent, conversation)


Scoped = Annotated[ScopedMemory, Depends(scope)]
