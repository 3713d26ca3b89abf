"""An upstream that answers chats by a schedule, and says in each chunk when it was sent.

As little as possible stands between a request and its first chunk, and it has a process of its own: what is
measured is the way to it. A request may say how many chunks it wants, and how many seconds apart.
"""

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

from recollect.bench.serving.child import ready, told

CHUNKS = 8
SCHEDULE = "schedule"
"""The field of a request that says [chunks, seconds between them]; no API knows it."""

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(text: str, **more: Any) -> bytes:
    said = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    told = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [said],
    }
    return b"data: " + json.dumps({**told, **more}).encode() + b"\n\n"


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _stream(writer: asyncio.StreamWriter, chunks: int, seconds: float) -> None:
    writer.write(_HEAD)
    for number in range(chunks):
        if number and seconds:
            await asyncio.sleep(seconds)
        writer.write(_framed(_chunk(f"word{number} ", sent=time.monotonic())))
        await writer.drain()
    writer.write(_framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()


def _whole() -> bytes:
    message = {"role": "assistant", "content": "A few words."}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }
    data = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        len(data),
        data,
    )


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            body = json.loads(await reader.readexactly(length) or b"{}")
            if body.get("stream"):
                chunks, seconds = body.get(SCHEDULE) or (CHUNKS, 0.0)
                await _stream(writer, chunks, seconds)
            else:
                writer.write(_whole())
                await writer.drain()
    writer.close()


async def main() -> None:
    told()
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    ready(f"http://{host}:{port}/v1")
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
