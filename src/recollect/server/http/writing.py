"""How a request writes: in a thread, and once, however often it is sent under one Idempotency-Key."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request
from starlette.responses import Response

from recollect import Forgotten, ScopedMemory
from recollect.model.records import AuditEntry
from recollect.record.once import KEY_LIMIT, Made, Sent, sent
from recollect.scoped.once import once
from recollect.server.answers import answer
from recollect.server.gateway.afterwards import Afterwards
from recollect.server.problems import Refused
from recollect.server.scope import Scoped
from recollect.server.serving import Serving, serving

T = TypeVar("T")

RETRY_SECONDS = 1

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=KEY_LIMIT,
        description="A new UUID: sent again under the same one, the write is not done again.",
    ),
]


@dataclass(slots=True)
class UnderWay:
    """The keyed writes that this process is at."""

    keys: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class Writing:
    """A request that writes to one memory."""

    memory: ScopedMemory
    serving: Serving
    under_way: UnderWay
    sent: Sent | None

    async def do(
        self,
        write: Callable[[ScopedMemory], T],
        again: Callable[[ScopedMemory, Made], T] | None = None,
        kinds: tuple[str, ...] = (),
        *,
        status: int = 200,
        shown: Callable[[T], Any] | None = None,
    ) -> Response:
        """Do it, and answer with what comes of it. `again` makes the same of the ids of what it stored of
        these kinds; what changes nothing the second time is simply done again."""
        value = await self._done(write, again or (lambda memory, _: write(memory)), kinds)
        return answer(value if shown is None else shown(value), status)

    async def _done(
        self,
        write: Callable[[ScopedMemory], T],
        again: Callable[[ScopedMemory, Made], T],
        kinds: tuple[str, ...],
    ) -> T:
        if self.sent is None:
            return await self.serving.run(partial(write, self.memory))
        key = (self.memory.scope.user, self.sent.key)
        if key in self.under_way.keys:
            raise Refused(
                409,
                "The same write is still under way: send it again in a moment, under the same key.",
                {"Retry-After": str(RETRY_SECONDS)},
            )
        self.under_way.keys.add(key)
        try:
            return await self.serving.run(partial(once, self.memory, self.sent, write, again, kinds))
        finally:
            self.under_way.keys.discard(key)

    def seen(self, **scope: str) -> "Writing":
        """The same, by another agent or in another conversation."""
        return replace(self, memory=seen(self.serving, self.memory, **scope))


def seen(serving: Serving, memory: ScopedMemory, **scope: str) -> ScopedMemory:
    """The same user's memory, from another agent's side, or in another conversation."""
    here = replace(memory.scope, **scope)
    return serving.memory.scope(here.user, here.channel, here.agent, here.conversation)


async def follow_answers(request: Request, memory: Scoped) -> None:
    """Wait until what the gateway has answered this user is recorded: what is forgotten before that would be
    there again, and a conversation that has ended would be open."""
    afterwards: Afterwards = request.app.state.afterwards
    await afterwards.answered(memory.scope.user)


async def writing(request: Request, memory: Scoped, key: Key = None) -> Writing:
    """What was sent is known by its method, path, query and body."""
    if request.method == "DELETE":
        await follow_answers(request, memory)
    known = None
    if key is not None:
        url = request.url
        parts = (request.method, url.path, url.query)
        known = sent(key, *(part.encode("utf-8", "replace") for part in parts), await request.body())
    return Writing(memory, serving(request), request.app.state.under_way, known)


Writes = Annotated[Writing, Depends(writing)]

FORGETS = (AuditEntry.kind,)


def forgotten(memory: ScopedMemory, made: Made) -> Forgotten:
    """What an erasure erased, by its receipt."""
    ((_, id),) = made
    receipt = memory.get(id)
    assert isinstance(receipt, AuditEntry)
    return Forgotten(receipt.details["kinds"], receipt.id)


def first(memory: ScopedMemory, made: Made) -> Any:
    """The one record that was stored."""
    return memory.get(made[0][1])


def every(memory: ScopedMemory, made: Made) -> list[Any]:
    """The records that were stored."""
    return [memory.get(id) for _, id in made]
