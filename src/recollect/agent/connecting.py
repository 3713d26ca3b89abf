"""A client of the MCP SDK for a server, with bounds on what it reads; and what a tool answered, as text."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from recollect.agent.servers import McpServer
from recollect.errors import SettingsError
from recollect.ports.language_model import as_data

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp_types import CallToolResult, ContentBlock

BYTES = 4
"""The most bytes of a character."""


@asynccontextmanager
async def client_of(server: McpServer, seconds: float, answer: int) -> AsyncGenerator["Client"]:
    """A client that is connected. No stream is silent for longer than `seconds` when an answer is waited for,
    and none is read beyond `answer` characters where we are the ones who read."""
    try:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client
    except ImportError as error:
        raise SettingsError(
            f"Tools of MCP servers need an extra: pip install 'recollect[mcp]' ({error})."
        ) from None

    if server.command:
        command, *args = server.command
        parameters = StdioServerParameters(command=command, args=args, env=dict(server.env) or None)
        parameters.encoding_error_handler = "replace"
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - no path of ours
            async with Client(stdio_client(parameters, nowhere), read_timeout_seconds=seconds) as client:
                yield client
        return
    async with _http(server, seconds, answer * BYTES) as http:
        transport = streamable_http_client(server.url, http_client=http, max_sse_event_size=answer * BYTES)
        async with Client(transport, read_timeout_seconds=seconds) as client:
            yield client


def _http(server: McpServer, seconds: float, most: int) -> "httpx2.AsyncClient":
    import httpx2

    class Bounded(httpx2.AsyncBaseTransport):
        """Reads no more of an answer than it may have; the SDK itself bounds events of a stream only."""

        def __init__(self) -> None:
            self._inner = httpx2.AsyncHTTPTransport()

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await self._inner.handle_async_request(request)
            if "text/event-stream" in response.headers.get("content-type", ""):
                return response
            if response.headers.get("content-encoding", "identity") != "identity":
                raise httpx2.DecodingError("It is compressed, which was not asked for.", request=request)
            stream: Any = response.stream
            return httpx2.Response(
                response.status_code,
                headers=response.headers,
                stream=Counted(stream),
                extensions=response.extensions,
            )

        async def aclose(self) -> None:
            await self._inner.aclose()

    class Counted(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > most:
                    raise httpx2.ReadError(f"The answer has more than {most:,} bytes.")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    headers = {"accept-encoding": "identity", **server.headers}
    # A stream that the server keeps open may be silent; calls have a limit of their own.
    timeout = httpx2.Timeout(seconds, read=None)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=Bounded())


def text_of(result: "CallToolResult") -> str:
    """What a tool answered. What is no text is named; structured content speaks where nothing else does."""
    text = "\n".join(filter(None, map(_block, result.content)))
    if not text and result.structured_content is not None:
        return as_data(result.structured_content)
    return text


def _block(block: "ContentBlock") -> str:
    if block.type == "text":
        return block.text
    if block.type == "resource_link":
        return f"[{block.name}: {block.uri}]"
    if block.type == "resource":
        resource = block.resource
        return getattr(resource, "text", "") or f"[{resource.mime_type or 'a file'}: {resource.uri}]"
    return f"[{block.type}: {block.mime_type}]"
