"""A client that costs next to nothing: what is measured beside it, on the same cores, is the server."""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from recollect.errors import RecollectError

_SENT = re.compile(rb'"sent": ?([0-9.]+)')
READ = 65536
_END = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Streamed:
    """When chunks of an answer came: seconds from the request to the first and to the end, and how much later
    than it was sent each came."""

    first: float = 0.0
    total: float = 0.0
    sent: list[float] = field(default_factory=list[float])
    came: list[float] = field(default_factory=list[float])
    head: bytes = b""

    def note(self, event: bytes, now: float) -> None:
        for sent in _SENT.findall(event):
            self.sent.append(float(sent))
            self.came.append(now)

    @property
    def lags(self) -> list[float]:
        return [came - sent for sent, came in zip(self.sent, self.came, strict=True)]


class Connection:
    """One connection that stays open. It reads an answer as that is framed, and knows no more of HTTP."""

    def __init__(self, base_url: str) -> None:
        self._url = urlsplit(base_url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        self._streams = await asyncio.open_connection(self._url.hostname, self._url.port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._streams is not None:
            self._streams[1].close()

    def request(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, method: str = "POST"
    ) -> bytes:
        """The bytes of a request, made before anything is timed."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{method} {self._url.path}{path} HTTP/1.1",
            f"host: {self._url.netloc}",
            "content-type: application/json",
            f"content-length: {len(data)}",
            *(f"{name}: {value}" for name, value in (headers or {}).items()),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + data

    async def ask(self, request: bytes) -> Answer:
        reader, writer = self._open()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        length = re.search(rb"\r\ncontent-length: ?(\d+)", head, re.IGNORECASE)
        if length is not None:
            return Answer(status, await reader.readexactly(int(length[1])))
        if status == 204:
            return Answer(status, b"")
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return Answer(status, body)

    async def stream(self, request: bytes) -> Streamed:
        """Ask for an answer in chunks, and note when they come."""
        reader, writer = self._open()
        found, begun = Streamed(), time.monotonic()
        writer.write(request)
        found.head = await reader.readuntil(b"\r\n\r\n")
        if not found.head.startswith(b"HTTP/1.1 200"):
            raise RecollectError(f"The server answered {found.head[:60]!r} to the benchmark.")
        rest, done = b"", False
        while not done:
            data = await reader.read(READ)
            now = time.monotonic()
            if not data:
                raise RecollectError("The server closed the connection in the middle of an answer.")
            if not found.first and b"data:" in data:
                found.first = now - begun
            rest += data
            done = rest.endswith(_END)
            *events, rest = rest.split(b"\n\n")
            for event in events:
                found.note(event, now)
        found.total = time.monotonic() - begun
        return found

    def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        assert self._streams is not None
        return self._streams
