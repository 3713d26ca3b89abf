"""Looking for a response: it may still be being recorded, here or by another process, or the upstream's."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from recollect.server.gateway.afterwards import Afterwards
from recollect.server.gateway.chains import was_kept
from recollect.server.gateway.refusals import Turned
from recollect.server.serving import Serving

T = TypeVar("T")

FIRST_PAUSE = 0.05
"""Seconds until it is looked whether another process has recorded what it answered; from then on, longer."""


async def kept_of(
    serving: Serving, afterwards: Afterwards, user: str, id: str, find: Callable[[], T], *, upstreams: bool
) -> T | None:
    """What is kept of a user's response; of one that is just being recorded, as soon as it is. None if it was
    never kept here and may be the upstream's."""
    clock, most = asyncio.get_running_loop().time, serving.settings.inject_seconds
    began = clock()
    with suppress(Turned):
        return await serving.run(find)
    with suppress(TimeoutError):
        await asyncio.wait_for(afterwards.all_of(user), most)
    gone = await serving.run(lambda: was_kept(serving.memory, user, id))
    waits = not gone and not upstreams
    for pause in pauses(most - (clock() - began)) if waits else ():
        with suppress(Turned):
            return await serving.run(find)
        await afterwards.pause(pause)
    try:
        return await serving.run(find)
    except Turned:
        if upstreams and not gone:
            return None
        raise


def pauses(seconds: float) -> Iterator[float]:
    """As many as are so many seconds together."""
    pause = FIRST_PAUSE
    while seconds > 0:
        yield min(pause, seconds)
        seconds -= pause
        pause *= 2
