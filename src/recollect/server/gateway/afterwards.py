"""What is done once an answer has been passed on, and who has to wait for it: the next request of a client
brings what this one led to, which by then has to be known."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.record.threads import TAIL, Said

Later = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Has something done after the answer, which the server does not end before: `Serving.later`."""


@dataclass(slots=True, eq=False)
class Going:
    """A request from its beginning until it is recorded."""

    user: str
    said: Sequence[Said]
    named: str | None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False

    def leads_to(self, said: Sequence[Said], named: str | None) -> bool:
        """Whether a request goes on from this one."""
        if named is not None:
            return self.answered and named == self.named
        many = len(self.said)
        if self._slid(said):
            return True
        if self.answered:  # one that is edited has the same beginning
            return many > 0 and len(said) > 1 and said[0] == self.said[0]
        return len(said) > many and said[many].role == "assistant" and [*said[:many]] == [*self.said]

    def _slid(self, said: Sequence[Said]) -> bool:
        """Whether a request goes on from this one, without its first messages."""
        end = max((place for place, one in enumerate(said) if one.role == "assistant"), default=0)
        return TAIL <= end + 1 <= len(self.said) and [*said[:end]] == [*self.said[-end:]]


class Afterwards:
    """The requests that are going on in this process, by user. Used from its event loop alone."""

    def __init__(self, later: Later, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.pause = pause
        self._later = later
        self._going: dict[str, list[Going]] = {}
        self._last: dict[str, asyncio.Task[None]] = {}

    def begin(self, user: str, said: Sequence[Said], named: str | None) -> Going:
        going = Going(user, said, named)
        self._going.setdefault(user, []).append(going)
        return going

    def drop(self, going: Going) -> None:
        """Nothing is to be recorded of it."""
        going.done.set()
        left = [one for one in self._going.pop(going.user, []) if one is not going]
        if left:
            self._going[going.user] = left

    def record(self, going: Going, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Record it, after those of the same user that were answered before."""
        going.answered = True
        self._last[going.user] = self._later(self._after(self._last.get(going.user), going, work))

    async def _after(
        self,
        before: asyncio.Task[None] | None,
        going: Going,
        work: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work()
        finally:
            self.drop(going)
            if self._last.get(going.user) is asyncio.current_task():
                del self._last[going.user]

    async def before(self, user: str, said: Sequence[Said], named: str | None) -> None:
        """Wait for those that a request goes on from."""
        for going in [*self._going.get(user, ())]:
            if going.leads_to(said, named):
                await going.done.wait()

    async def all_of(self, user: str) -> None:
        """Wait for everything that is going on for a user."""
        for going in [*self._going.get(user, ())]:
            await going.done.wait()

    async def answered(self, user: str) -> None:
        """Wait until what a user was answered is recorded; not for what is still being answered."""
        for going in [*self._going.get(user, ())]:
            if going.answered:
                await going.done.wait()
