"""A request passed on to the upstream, and its answer passed back: byte by byte, as they come."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.server.gateway.hearing import unpacked
from recollect.server.gateway.refusals import Turned
from recollect.server.gateway.upstream import headers_back
from recollect.server.serving import Serving

if TYPE_CHECKING:
    import httpx


MISSING = (404, 405, 501)
"""How an upstream says that it has no such path."""
MODEL = b"model"
"""Where this is said, it is a model that is missing."""
READ = 64 * 1024
"""How much of an error is looked at."""
ABOUT = ("content-type", "content-length", "content-encoding", "etag", "content-md5", "digest")
"""Headers about bytes that are not passed back."""


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
    otherwise: "Callable[[], Outgoing] | None" = None
    """The same in the other dialect, for an upstream that may not have this one."""
    works: Callable[[], None] = lambda: None
    """Told that the upstream has this dialect."""
    translated: "Callable[[httpx.Response], Awaitable[Translated]] | None" = None
    """What the client gets in place of the answer, if there is one."""


@dataclass(frozen=True, slots=True)
class Translated:
    """An answer in another dialect."""

    kind: str
    content: AsyncIterator[bytes]


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
            outgoing, response, content = await self._asked(outgoing)
        except Turned as turned:
            await turned.answer(outgoing.headers)(scope, receive, send)
            return
        try:
            await _passed_back(response, content, outgoing, send)
        except Turned as turned:  # before anything was passed back
            await turned.answer(outgoing.headers)(scope, receive, send)
        finally:
            await response.aclose()

    async def _asked(self, outgoing: Outgoing) -> "tuple[Outgoing, httpx.Response, AsyncIterator[bytes]]":
        """The answer and its bytes, in whichever dialect the upstream has."""
        response = await self._answered(outgoing.request)
        if response.is_success:
            outgoing.works()
        if outgoing.otherwise is None or response.status_code not in MISSING:
            return outgoing, response, response.aiter_raw()
        content = b"".join([chunk async for chunk in _unbroken(response)])
        await response.aclose()
        encoding = response.headers.get("content-encoding", "").strip().lower()
        refused = outgoing, response, _once(content)
        if MODEL in unpacked(content, encoding, READ).lower():
            return refused
        try:
            return await self._asked(outgoing.otherwise())
        except Turned:
            return refused

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


async def _passed_back(
    response: "httpx.Response", content: AsyncIterator[bytes], outgoing: Outgoing, send: Send
) -> None:
    import httpx

    kept = outgoing.kept
    if kept is not None:
        kept.begin(response)
    headers = headers_back(response, outgoing.headers)
    if outgoing.translated is not None and response.is_success:
        other = await outgoing.translated(response)
        own = {**outgoing.headers, "content-type": other.kind}
        headers, content = headers_back(response, own, ABOUT), other.content
        if kept is not None:
            kept.kind, kept.encoding = other.kind, ""
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    try:
        async for chunk in content:
            if kept is not None:
                kept.add(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except httpx.HTTPError:
        return  # without an end, so that the client sees that it broke off
    if kept is not None:
        kept.whole = True
    await send({"type": "http.response.body", "body": b""})


async def _unbroken(response: "httpx.Response") -> AsyncIterator[bytes]:
    """What comes of it."""
    import httpx

    with suppress(httpx.HTTPError):
        async for chunk in response.aiter_raw():
            yield chunk


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
