"""An MCP server with tools that do well and tools that do not. Run as a program: stdio, or http PORT."""

import os
import sys
import time

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.utilities.types import Image

server = MCPServer("sample")


@server.tool()
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool(name="odd.name/x")
def odd() -> str:
    """A name that models do not take."""
    return "odd"


@server.tool()
def weather(city: str) -> dict[str, str]:
    """The weather."""
    return {"city": city, "sky": "clear"}


@server.tool()
def fail() -> str:
    """It fails."""
    raise ToolError("The door is locked.")


@server.tool()
def hang() -> str:
    """It takes too long, and everybody waits."""
    time.sleep(60)
    return "late"


@server.tool()
def big(characters: int) -> str:
    """Much."""
    return "x" * characters


@server.tool()
def die() -> str:
    """It ends."""
    os._exit(3)


@server.tool()
def babble() -> str:
    """It prints where it should not."""
    sys.stdout.write("this is no JSON\n{\n")
    sys.stdout.flush()
    return "said"


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG", format="png")


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
