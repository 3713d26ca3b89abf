"""The tools, resources and prompts of one person's memory, as the SDK's server speaks of them.

A server is made for one connection, or one request, and holds nobody else's memory: nothing in what a client
sends could lead to another.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recollect import __version__
from recollect.errors import NotFound, RecollectError
from recollect.limits import shown
from recollect.server.mcp import prompts, resources
from recollect.server.mcp.toolkit import Answer, Seen, Tool
from recollect.server.mcp.tools import TOOLS

T = TypeVar("T")
log = logging.getLogger("recollect.server")

UNFORESEEN = "Something went wrong here that should not. The log of the server says what."

SAID = 800
"""Characters of an error that are told."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one client sits: whose memory it sees, where work is done, and how much it is told of errors."""

    seen: Seen
    run: Callable[[Callable[[], Any], bool], Awaitable[Any]]
    """Does the work in a thread; with True it is a question."""
    tell: Callable[[Exception], str] = str


def server(seat: Seat) -> Server[Any]:
    """The MCP server of this seat."""
    made: Server[Any] = Server(
        "recollect",
        title="Recollect",
        version=__version__,
        description="Long-term memory.",
        instructions=prompts.INSTRUCTIONS,
        on_list_tools=_listing(types.ListToolsResult(tools=[_tool(one) for one in TOOLS.values()])),
        on_call_tool=lambda _, params: _call(seat, params),
        on_list_resources=_listing(types.ListResourcesResult(resources=_RESOURCES)),
        on_list_resource_templates=_listing(types.ListResourceTemplatesResult(resource_templates=_TEMPLATES)),
        on_read_resource=lambda _, params: _read(seat, params),
        on_list_prompts=_listing(types.ListPromptsResult(prompts=_PROMPTS)),
        on_get_prompt=lambda _, params: _prompt(seat, params),
        get_tool_input_schema=lambda name: TOOLS[name].schema if name in TOOLS else None,
    )
    made.middleware.clear()  # its spans tell what strangers call tools; requests have spans of ours
    return made


def _listing(result: T) -> Callable[[Any, Any], Awaitable[T]]:
    async def listed(context: Any, params: Any) -> T:
        return result

    return listed


async def _call(seat: Seat, params: types.CallToolRequestParams) -> types.CallToolResult:
    """What the tool answers. What goes wrong is an answer too, which the model can act on."""
    given = params.arguments or {}
    try:
        if (tool := TOOLS.get(params.name)) is None:
            raise NotFound(f"There is no tool {shown(params.name)}; there are {', '.join(TOOLS)}.")
        answer: Answer = await seat.run(lambda: tool.call(seat.seen, given), tool.asks)
    except Exception as error:  # noqa: BLE001 - told to the model, or to the log
        return types.CallToolResult(content=[_text(_told(seat, error))], is_error=True)
    return types.CallToolResult(content=[_text(answer.text)], structured_content=answer.data)


async def _read(seat: Seat, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    read = await _done(seat, lambda: resources.read(seat.seen, uri), asks=False)
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=params.uri, text=read, mime_type=resources.MIME)]
    )


async def _prompt(seat: Seat, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    written = await _done(seat, lambda: prompts.write(seat.seen, params.name, given), asks=True)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=_text(written))])


async def _done(seat: Seat, work: Callable[[], str], *, asks: bool) -> str:
    """What the work gives; its errors as the protocol has them."""
    try:
        return await seat.run(work, asks)
    except Exception as error:  # noqa: BLE001 - told to the client, or to the log
        code = types.INVALID_PARAMS if isinstance(error, RecollectError) else types.INTERNAL_ERROR
        raise MCPError(code=code, message=_told(seat, error)) from None


def _told(seat: Seat, error: Exception) -> str:
    if isinstance(error, RecollectError):
        said = seat.tell(error)
        return said if len(said) <= SAID else f"{said[:SAID]} …"  # some quote what was asked for
    log.error("A call of a tool failed: %s", type(error).__name__, exc_info=error)
    return UNFORESEEN


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text.encode("utf-8", "replace").decode())


def _tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.reads or tool.name in ("forget", "pin"),
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=dict(tool.schema), annotations=hints
    )


_RESOURCES = [
    types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type=resources.MIME)
    for one in resources.FIXED
]
_TEMPLATES = [
    types.ResourceTemplate(
        uri_template=one.uri, name=one.name, description=one.description, mime_type=resources.MIME
    )
    for one in resources.TEMPLATES
]
_PROMPTS = [
    types.Prompt(
        name=one.name,
        description=one.description,
        arguments=[
            types.PromptArgument(name=given.name, description=given.description, required=False)
            for given in one.parameters
        ],
    )
    for one in prompts.PROMPTS.values()
]
