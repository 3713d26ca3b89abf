"""How large a request may be, how long it may take to arrive, and how long to answer."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.problems import Refused, is_gateway
from recollect.server.refusing import announced, header, refuse
from recollect.settings import MiB, Settings

IMPORT = "/api/v1/import"
UNHURRIED = ("/api/v1/import", "/api/v1/export", "/api/v1/jobs/run", "/api/v1/agent", "/metrics")
"""What takes as long as there is to do; an agent has a limit of its own."""
UNNOTICED = 0.01
"""By which part a time may be off."""
_CLOSE = {"Connection": "close"}


class Receiving:
    """Takes a request in, or refuses it. An import may have any size, as long as it keeps coming."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._bytes = settings.body_mb * MiB
        self._seconds = settings.request_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except Refused as error:
            await refuse(error, scope, receive, send)
            return
        await self._within_time(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """`Refused` for what is too large by what it says itself, or says two things."""
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if len(lengths) > 1 or (lengths and header(scope, b"transfer-encoding")):
            raise Refused(400, "The request says in two ways where it ends: send one Content-Length.", _CLOSE)
        if scope["path"] != IMPORT and (announced(scope) or 0) > self._bytes:
            raise Refused(413, too_large(self._bytes), _CLOSE)

    async def _within_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        timer = asyncio.timeout(None)
        request = _Arriving(scope, receive, send, timer, self._seconds, self._bytes)
        try:
            async with timer:
                request.work()
                await self._app(scope, request.take, request.answer)
        except TimeoutError:
            if not timer.expired() or request.answering:
                raise
            await refuse(self._too_slow(request.waiting), scope, receive, send)

    def _too_slow(self, arriving: bool) -> Refused:
        within = f"within {self._seconds:g} s (RECOLLECT_REQUEST_SECONDS)"
        if arriving:
            return Refused(408, f"The body did not arrive {within}.", _CLOSE)
        return Refused(503, f"There was no answer {within}: try again.", {"Retry-After": "1"})


class _Arriving:
    """One request on its way: what has come of it, and the timer that goes on meanwhile."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, timer: asyncio.Timeout, seconds: float, most: int
    ) -> None:
        self._receive, self._send = receive, send
        self._timer, self._seconds = timer, seconds
        self._now = asyncio.get_running_loop().time
        self._any_size = scope["path"] == IMPORT
        self._hurried = is_hurried(scope["path"])
        self._began = self._now()
        self._most, self._size = most, 0
        self._whole = announced(scope) == 0
        self.waiting, self.answering = False, False

    def work(self) -> None:
        """From now on the time is ours."""
        self._end_at(self._now() + self._seconds if self._hurried else None)

    def _end_at(self, when: float | None) -> None:
        """Set the timer; not for a difference that nobody notices: setting it takes longer than the rest."""
        current = self._timer.when()
        if when is None or current is None:
            if when is not current:
                self._timer.reschedule(when)
        elif abs(when - current) > self._seconds * UNNOTICED:
            self._timer.reschedule(when)

    async def take(self) -> Message:
        """The next part of the body. It may take so long in all; of an import, each part may."""
        if self._whole or self.answering:
            return await self._receive()
        self.waiting = True
        self._end_at((self._now() if self._any_size else self._began) + self._seconds)
        message = await self._receive()
        self.waiting = False
        self.work()
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._most and not self._any_size:
            raise HTTPException(413, too_large(self._most), _CLOSE)
        return message

    async def answer(self, message: Message) -> None:
        if not self.answering:
            self.answering = True
            self._end_at(None)
        await self._send(message)


def is_hurried(path: str) -> bool:
    """Whether an answer is due soon. Models take their time: behind the gateway, and when they mine."""
    return not (is_gateway(path) or path in UNHURRIED or path.endswith("/mine"))


def too_large(most: int) -> str:
    return (
        f"The body is larger than {most // MiB:,} MiB (RECOLLECT_BODY_MB): send less at a time. "
        f"{IMPORT} takes any size."
    )
