"""A request passed on to the upstream, and its answer passed back: byte by byte, as they come."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.server.gateway.refusals import Turned
from recollect.server.gateway.upstream import headers_back
from recollect.server.serving import Serving

if TYPE_CHECKING:
    import httpx


@dataclass(slots=True)
class Kept:
    """What was passed back, as far as it is kept to be read later."""

    most: int
    status: int = 0
    kind: str = ""
    encoding: str = ""
    whole: bool = False
    size: int = 0
    chunks: list[bytes] = field(default_factory=list[bytes])

    def begin(self, response: "httpx.Response") -> None:
        self.status = response.status_code
        self.kind = response.headers.get("content-type", "")
        self.encoding = response.headers.get("content-encoding", "").strip().lower()

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        if self.size <= self.most:
            self.chunks.append(chunk)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as the upstream gets it, what the client is told beside the answer, and who is told of the
    answer's end, however it comes about."""

    request: "httpx.Request"
    headers: dict[str, str]
    kept: Kept | None = None
    ended: Callable[[], None] = lambda: None


class Passing(Response):
    """Prepares a request and passes it on. Stops, there and here, as soon as the client is gone."""

    def __init__(self, serving: Serving, prepare: Callable[[], Awaitable[Outgoing]]) -> None:
        super().__init__()
        self._serving = serving
        self._prepare = prepare

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passing = asyncio.ensure_future(self._pass(scope, receive, send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((passing, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not passing.done():
                passing.cancel()
            with suppress(asyncio.CancelledError):
                await passing

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            outgoing = await self._prepare()
        except Turned as turned:
            await turned.answer()(scope, receive, send)
            return
        try:
            await self._forward(outgoing, scope, receive, send)
        finally:
            outgoing.ended()

    async def _forward(self, outgoing: Outgoing, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._answered(outgoing.request)
        except Turned as turned:
            await turned.answer(outgoing.headers)(scope, receive, send)
            return
        try:
            await _passed_back(response, outgoing, send)
        finally:
            await response.aclose()

    async def _answered(self, request: "httpx.Request") -> "httpx.Response":
        import httpx

        try:
            return await self._serving.upstream.send(request, stream=True)
        except httpx.TimeoutException:
            raise Turned(
                504, "The upstream did not answer in time.", "upstream_timeout", kind="upstream_error"
            ) from None
        except httpx.HTTPError as error:
            raise Turned(
                502,
                f"The upstream cannot be reached ({type(error).__name__}). See RECOLLECT_UPSTREAM.",
                "upstream_unreachable",
                kind="upstream_error",
            ) from None


async def _passed_back(response: "httpx.Response", outgoing: Outgoing, send: Send) -> None:
    import httpx

    kept = outgoing.kept
    if kept is not None:
        kept.begin(response)
    await send(
        {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": headers_back(response, outgoing.headers),
        }
    )
    try:
        async for chunk in response.aiter_raw():
            if kept is not None:
                kept.add(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except httpx.HTTPError:
        return  # without an end, so that the client sees that it broke off
    if kept is not None:
        kept.whole = True
    await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
