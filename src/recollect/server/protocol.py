"""HTTP as uvicorn reads it, with what it leaves open: how large the head of a request may be, how long it may
take to arrive, and how long an answer may wait to be read. Bodies are limited further inside, where it is
known who sends them."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_LIMIT = 64 * 1024
"""The most bytes of a request's first line and headers together."""
HEAD_SECONDS = 20.0
"""How long they may take to arrive, and how long a connection may be open before its first request."""
READ_SECONDS = 60.0
"""How long a client may leave what was sent to it unread; who reads, however slowly, is not cut off."""
ALIVE = b"/healthz"
"""Answered also when there are too many connections: a process that is busy is not to be started again."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"connection: close\r\ncontent-length: 0\r\ncontent-type: text/plain\r\n\r\n"
)


class Protocol(HttpToolsProtocol):
    """One connection."""

    _head = 0
    """How many bytes came of a head that is not complete."""
    _outside_body = True
    """Whether what comes belongs to a head, or to nothing yet."""
    _parsed = False
    """Whether a head or a body ended in what just came: then it was not a part of a head alone."""
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def data_received(self, data: bytes) -> None:
        self._parsed = False
        super().data_received(data)
        if self._parsed or not self._outside_body or self.transport.is_closing():
            return
        self._head += len(data)
        if self._head > HEAD_LIMIT:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_headers_complete(self) -> None:
        self._outside_body, self._parsed, self._head = False, True, 0
        self._in_time()
        self.limit_concurrency = None if self.url == ALIVE else self.config.limit_concurrency
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._outside_body = self._parsed = True
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read()

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        self._read()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
