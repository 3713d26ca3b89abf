"""MCP at /mcp of the server: streamable HTTP without sessions, so that any process answers any request.

Every request has an MCP server of its own, made for whoever the gate says is calling. The SDK takes two
seconds to import, which only those wait for who call here first.
"""

import json
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from recollect import GLOBAL, ScopedMemory
from recollect.errors import Invalid
from recollect.server import problems
from recollect.server.headers import origins
from recollect.server.identity import said as headers
from recollect.server.problems import Refused
from recollect.server.scope import SEEN_FROM, own
from recollect.server.serving import Serving
from recollect.settings import MiB

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
MISSING = "MCP needs its extra on the server: pip install 'recollect[mcp]', and start it again."

NO_MESSAGE = "This is no message of MCP: send one JSON-RPC 2.0 object with jsonrpc, id, method and params."


def route() -> Route:
    """Nothing is sent that was not asked for and no session is kept, so POST is all there is."""
    return Route(PATH, _Endpoint(), methods=["POST"], name="mcp", include_in_schema=False)


class _Endpoint:
    """Answers one message of the protocol a request; a class, so that it gets the connection as it is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serving: Serving = scope["app"].state.serving
        _check_origin(scope, serving)
        memory = _seen(scope, serving)
        if find_spec("mcp") is None:
            raise Refused(501, MISSING)
        manager = await serving.run(lambda: _manager(serving, memory))
        async with manager.run():
            await manager.handle_request(scope, receive, _in_a_sentence(send))


def _in_a_sentence(send: Send) -> Send:
    """Tells what is no message in one sentence: the SDK tells all that its parser tried."""
    held: list[Message] = []

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.BAD_REQUEST:
            held.append(message)
        elif not held or message["type"] != "http.response.body":
            await send(message)
        else:
            held.append(message)
            if message.get("more_body"):
                return
            start, body = held[0], _shorter(b"".join(one["body"] for one in held[1:]))
            sized = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            sized.append((b"content-length", str(len(body)).encode()))
            held.clear()
            await send({**start, "headers": sized})
            await send({"type": "http.response.body", "body": body})

    return told


def _shorter(body: bytes) -> bytes:
    try:
        answer = json.loads(body)
        several = "\n" in answer["error"]["message"]
    except (ValueError, LookupError, TypeError):
        return body
    if not several:
        return body
    return json.dumps({**answer, "error": {**answer["error"], "message": NO_MESSAGE}}).encode()


def _check_origin(scope: Scope, serving: Serving) -> None:
    """`Refused` for a page from elsewhere in somebody's browser, whatever key it has got hold of."""
    origin = headers.said(scope["headers"]).get(headers.ORIGIN)
    if origin is None or headers.is_loopback(headers.origin_host(origin)):
        return
    if origin not in origins(serving.settings):
        raise Refused(403, "This comes from a web page that RECOLLECT_CORS does not name.")


def _seen(scope: Scope, serving: Serving) -> ScopedMemory:
    """The caller's memory, seen from where the address says."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if odd := [name for name, values in given.items() if name not in SEEN_FROM or len(values) > 1]:
        raise Invalid(f"{PATH} takes {', '.join(SEEN_FROM)}, each once, and not {odd[0][:100]!r}.")
    said = {name: values[0] for name, values in given.items()}
    return serving.memory.scope(
        own(scope["state"]["caller"]),
        said.get("channel", GLOBAL),
        said.get("agent"),
        said.get("conversation"),
    )


def _manager(serving: Serving, memory: ScopedMemory) -> "StreamableHTTPSessionManager":
    """What speaks the protocol over HTTP for one request. In a thread: the first time, all is imported."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from recollect.server.mcp.protocol import Seat, server
    from recollect.server.mcp.toolkit import Seen

    async def run(work: Any, asks: bool) -> Any:
        return await (serving.ask(work) if asks else serving.run(work))

    return StreamableHTTPSessionManager(
        server(Seat(Seen(memory, memory.scope.conversation), run, problems.told)),
        json_response=True,
        stateless=True,
        max_request_body_size=serving.settings.body_mb * MiB,
    )
