"""How often, and how many at a time: limits for each key, so that one caller leaves room for others.

How often is counted by all servers together where there are `Buckets` for it, by each for itself where there
are none, or while they cannot be asked. How many at a time, each counts for itself.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.ports.buckets import Buckets, Level
from recollect.server.identity.caller import Caller
from recollect.server.problems import Refused
from recollect.server.refusing import refuse
from recollect.server.sharing import asking
from recollect.settings import Settings

COUNTED = 10_000
"""How many callers are counted at once; those that were quiet longest are let go first."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What is left after a request, and when there is more."""

    limit: int
    left: int
    reset: int
    """Seconds until nothing is used up."""
    wait: float
    """Seconds until there is room for another; 0 for a request that may go on."""

    def headers(self) -> list[tuple[bytes, bytes]]:
        names = (("ratelimit-limit", self.limit), ("ratelimit-remaining", self.left))
        return [(n.encode(), str(value).encode()) for n, value in (*names, ("ratelimit-reset", self.reset))]


class Rate:
    """So many requests a minute for each caller, evenly or all at once (a token bucket)."""

    def __init__(
        self, a_minute: int, buckets: Buckets | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = a_minute
        self._buckets = buckets
        self._now = now
        self._used: dict[str, tuple[float, float]] = {}
        """How much is used up, and when that was."""

    async def take(self, who: str) -> Taken | None:
        """Count a request; None where nothing is limited."""
        if not self._limit:
            return None
        level = None
        if self._buckets is not None:
            level = await asyncio.to_thread(self._buckets.take, who, self._limit)
        used, counted = level or self._own(who)
        refill = self._limit / 60
        wait = 0.0 if counted else (used + 1 - self._limit) / refill
        return Taken(self._limit, int(self._limit - used), math.ceil(used / refill), wait)

    def _own(self, who: str) -> Level:
        """What this process counts."""
        now = self._now()
        used, at = self._used.pop(who, (0.0, now))
        used = max(0.0, used - (now - at) * self._limit / 60)
        counted = used + 1 <= self._limit
        used += counted
        self._used[who] = (used, now)
        if len(self._used) > COUNTED:
            del self._used[next(iter(self._used))]
        return Level(used, counted)


def check_rate(taken: Taken | None) -> None:
    """`Refused` when it was too often."""
    if taken is not None and taken.wait:
        seconds = str(math.ceil(taken.wait))
        raise Refused(
            429,
            f"More than {taken.limit:,} requests a minute (RECOLLECT_RATE_LIMIT): try again in {seconds} s.",
            {"Retry-After": seconds, **{n.decode(): v.decode() for n, v in taken.headers()}},
        )


class Limiting:
    """Holds every caller to what one key may do. The local user may do as much as the machine can."""

    def __init__(self, app: ASGIApp, settings: Settings, rate: Rate) -> None:
        self._app = app
        self._rate = rate
        self._at_once = settings.concurrency
        self._working: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        if caller is None:  # nobody in particular: counted by address before, where it costs something
            await self._app(scope, receive, send)
            return
        try:
            taken = None if caller.role == "local" else await self._rate.take(caller.key)
            check_rate(taken)
            self._enter(caller.key)
        except Refused as error:
            await refuse(error, scope, receive, send)
            return
        if caller.role != "local":
            asking.set(caller.user or caller.key)
        extra = taken.headers() if taken else []

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and extra:
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            self._leave(caller.key)

    def _enter(self, who: str) -> None:
        working = self._working.get(who, 0)
        if working >= self._at_once:
            raise Refused(
                429,
                f"{working} requests of this key are being worked on (RECOLLECT_CONCURRENCY): wait for one.",
                {"Retry-After": "1"},
            )
        self._working[who] = working + 1

    def _leave(self, who: str) -> None:
        self._working[who] -= 1
        if not self._working[who]:
            del self._working[who]
