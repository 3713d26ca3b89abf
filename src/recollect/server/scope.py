"""From a request to one user's memory: the only way to it on this server."""

from typing import Annotated

from fastapi import Depends, Query, Request

from recollect import GLOBAL, NotFound, ScopedMemory
from recollect.model.scope import NAME_LIMIT
from recollect.server.identity.caller import Caller
from recollect.server.serving import serving

Channel = Annotated[str, Query(max_length=NAME_LIMIT, description="The channel that is written to and read.")]
Agent = Annotated[str | None, Query(max_length=NAME_LIMIT, description="The agent that is at work.")]
Conversation = Annotated[
    str | None, Query(max_length=NAME_LIMIT, description="The conversation that is going on.")
]

SEEN_FROM = ("channel", "agent", "conversation")
"""What every route may be told, of where its memory is seen from."""


async def caller(request: Request) -> Caller:
    """Who is calling, as the gate has established before the request came here."""
    return request.state.caller


Called = Annotated[Caller, Depends(caller)]


def own(caller: Caller) -> str:
    """Whose memory the caller works on."""
    if caller.user is None:
        raise NotFound("An admin key opens nobody's memory: use a user's key, or a service's.")
    return caller.user


# Not in threads, as FastAPI would run plain functions: a scope is made in microseconds.
async def scope(
    request: Request,
    caller: Called,
    channel: Channel = GLOBAL,
    agent: Agent = None,
    conversation: Conversation = None,
) -> ScopedMemory:
    """The caller's memory, seen from a channel, an agent and a conversation."""
    return serving(request).memory.scope(own(caller), channel, agent, conversation)


Scoped = Annotated[ScopedMemory, Depends(scope)]
