"""A whole memory out and in, line by line: neither ever holds all of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from recollect import Imported, Invalid, TooLarge
from recollect.record.transfer import LINE_OVERHEAD
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import gives
from recollect.server.problems import Refused
from recollect.server.scope import Scoped
from recollect.server.serving import Serving, serving

router = ours("export and import")

LINES = 256
"""How many lines are read from the store at a time."""
NDJSON = "application/x-ndjson"
_LINE: dict[str, Any] = {NDJSON: {"schema": {"type": "string"}}}


@router.get(
    "/export",
    operation_id="export",
    summary="Export",
    response_class=StreamingResponse,
    responses={200: {"description": "JSON Lines", "content": _LINE}},
)
async def export(request: Request, memory: Scoped) -> Response:
    """The whole memory as JSON Lines; `import` takes it back in."""
    lines = memory.export()
    first = await _some(serving(request), lines)  # what fails at once is told as a problem
    return StreamingResponse(_following(serving(request), first, lines), media_type=NDJSON)


async def _some(serving: Serving, lines: Iterator[str]) -> bytes:
    found = await serving.run(lambda: list(islice(lines, LINES)))
    return "".join(f"{line}\n" for line in found).encode()


async def _following(serving: Serving, first: bytes, lines: Any) -> AsyncIterator[bytes]:
    try:
        part = first
        while part:
            yield part
            part = await _some(serving, lines)
    finally:
        with suppress(ValueError):  # a thread is still at it, and lets go of it when it has done
            lines.close()


@router.post(
    "/import",
    operation_id="import_",
    summary="Import",
    openapi_extra={"requestBody": {"required": True, "content": _LINE}},
    **gives(Imported),
)
async def import_(request: Request, memory: Scoped) -> Response:
    """Take in what `export` wrote, while it arrives. Doing it twice changes nothing."""
    settings = serving(request).settings
    limit = settings.content_limit * LINE_OVERHEAD + settings.metadata_limit
    arriving = _Arriving(request, settings.request_seconds)
    try:
        imported = await serving(request).run_waiting(lambda: memory.import_(lines(arriving.parts(), limit)))
    finally:
        arriving.end()
    return answer(imported)


class _Arriving:
    """A body on its way into the thread that works on it, which asks for more when it has done its part."""

    def __init__(self, request: Request, patience: float) -> None:
        self._body = request.stream()
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._ended = False
        self._coming: Future[bytes | None] | None = None

    def parts(self) -> Iterator[bytes]:
        """In the thread."""
        while not self._ended:
            self._coming = asyncio.run_coroutine_threadsafe(self._following(), self._loop)
            try:
                part = self._coming.result(self._patience)
            except TimeoutError:
                self._coming.cancel()
                raise Refused(408, "Nothing arrived for too long. Import again: it goes on.") from None
            except ClientDisconnect:
                raise Refused(400, "The import ended early. Import again: it goes on.") from None
            if part is None:
                return
            yield part

    async def _following(self) -> bytes | None:
        return await anext(self._body, None)

    def end(self) -> None:
        """Let go of the thread, should nobody wait for it any more: a server that ends does not wait for what
        no longer comes."""
        self._ended = True
        if self._coming is not None:
            self._coming.cancel()


def lines(parts: Iterator[bytes], limit: int) -> Iterator[str]:
    """The lines of a text that comes in parts, none of them longer than the limit."""
    number, held = 0, bytearray()
    for part in parts:
        if b"\n" not in part:
            held += part
            whole: list[bytes] = []
        else:
            *whole, rest = (bytes(held) + part).split(b"\n")
            held = bytearray(rest)
        for line in whole:
            number += 1
            yield _decoded(number, line, limit)
        if len(held) > limit:
            _decoded(number + 1, held, limit)
    if held:
        yield _decoded(number + 1, held, limit)


def _decoded(number: int, line: bytes | bytearray, limit: int) -> str:
    if len(line) > limit:
        raise TooLarge(f"Line {number} is longer than {limit:,} bytes, which is the limit.")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise Invalid(f"Line {number} is not UTF-8: import what `export` wrote.") from None
