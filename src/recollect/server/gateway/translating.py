"""Responses of an upstream that has chat completions only: the request and the answer, turned into each other
on their way."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.server.gateway.from_chat import Answer, Stream, as_event, from_completion
from recollect.server.gateway.hearing import as_json, is_stream
from recollect.server.gateway.passing import Translated
from recollect.server.gateway.reading import parsed
from recollect.server.gateway.refusals import Turned

if TYPE_CHECKING:
    import httpx

JSON, EVENTS = "application/json", "text/event-stream; charset=utf-8"


@dataclass(slots=True)
class Spoken:
    """Whether the upstream has responses of its own, as it is set or has turned out in this process."""

    responses: str

    @property
    def keeps(self) -> bool:
        """Whether it may have responses that were never kept here."""
        return self.responses != "chat"

    def turned_out(self, responses: str) -> None:
        if self.responses == "auto":
            self.responses = responses


async def translated(answer: Answer, response: "httpx.Response") -> Translated:
    """A chat completion, or a stream of it, as a response. What is asked for as a stream and comes as a whole
    is told as a stream."""
    if is_stream(response.headers.get("content-type", "")):
        return Translated(EVENTS, _told(Stream(answer), response))
    completion = parsed(await _read(response))
    if answer.asked.get("stream") and completion is not None:
        events = [*answer.add(completion), *answer.end()]
        return Translated(EVENTS, _once(b"".join(as_event(event) for event in events)))
    body = from_completion(answer, completion)
    if body is None:
        raise _unread()
    return Translated(JSON, _once(as_json(body)))


async def _told(stream: Stream, response: "httpx.Response") -> AsyncIterator[bytes]:
    async for chunk in response.aiter_bytes():
        if events := stream.feed(chunk):
            yield events
    if events := stream.end():
        yield events


async def _read(response: "httpx.Response") -> bytes:
    import httpx

    try:
        return await response.aread()
    except httpx.HTTPError:
        raise _unread() from None


async def _once(content: bytes) -> AsyncIterator[Any]:
    yield content


def _unread() -> Turned:
    message = "The upstream's answer is no chat completion."
    return Turned(502, message, "upstream_unreadable", kind="upstream_error")
