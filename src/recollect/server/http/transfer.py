"""A whole memory out and in, line by line: neither ever holds all of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from recollect import Imported, Invalid, TooLarge
from recollect.record.transfer import LINE_OVERHEAD
from recollect.server.answers import answer
from recollect.server.http.shapes import REFUSED, gives
from recollect.server.problems import Refused
from recollect.server.scope import Scoped
from recollect.server.serving import Serving, serving

router = APIRouter(prefix="/api/v1", tags=["export and import"], responses=REFUSED)

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
    settings, loop = serving(request).settings, asyncio.get_running_loop()
    limit = settings.content_limit * LINE_OVERHEAD + settings.metadata_limit
    body = request.stream()

    async def following() -> bytes | None:
        return await anext(body, None)

    def parts() -> Iterator[bytes]:
        """In the thread that imports: it asks for more when it has done what it got."""
        while True:
            coming = asyncio.run_coroutine_threadsafe(following(), loop)
            try:
                part = coming.result(settings.request_seconds)
            except TimeoutError:
                coming.cancel()
                raise Refused(408, "Nothing arrived for too long. Import again: it goes on.") from None
            except ClientDisconnect:
                raise Refused(400, "The import ended early. Import again: it goes on.") from None
            if part is None:
                return
            yield part

    # Not in a thread for requests: whoever sends slowly would keep those from others.
    return answer(await asyncio.to_thread(lambda: memory.import_(lines(parts(), limit))))


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
