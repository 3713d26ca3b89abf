"""The tools of a server's agents: those of the MCP servers that its settings name."""

import logging
import threading
import time
from contextlib import ExitStack

from recollect.agent.remote import Limits, distinct, mcp_tools
from recollect.agent.servers import McpServer, servers_of
from recollect.agent.tools import Tool
from recollect.errors import RecollectError
from recollect.settings import Settings

log = logging.getLogger("recollect.server")


class Toolbox:
    """Connected when the first agent asks for tools. A server that cannot be reached holds up nobody twice in
    a while: agents do without its tools, and it is tried again later."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._closing = ExitStack()
        self._missing: list[McpServer] | None = None
        self._found: list[Tool] = []
        self._again = 0.0

    def tools(self) -> list[Tool]:
        """What there is now. Blocks while it connects."""
        with self._lock:
            if self._missing is None:
                self._missing = servers_of(self._settings.agent_mcp)
            if self._missing and time.monotonic() >= self._again:
                self._missing = [server for server in self._missing if not self._reached(server)]
                self._again = time.monotonic() + self._settings.agent_tool_seconds
            return distinct(self._found)

    def _reached(self, server: McpServer) -> bool:
        try:
            self._found += self._closing.enter_context(mcp_tools([server], Limits.of(self._settings)))
        except RecollectError as error:
            log.warning("Agents do without some tools: %s", error)
            return False
        return True

    def close(self) -> None:
        with self._lock:
            self._closing.close()
