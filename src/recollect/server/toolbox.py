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

FIRST_SECONDS = 10.0
"""How long the first who ask wait for the servers to be reached."""


class Toolbox:
    """Connected when the first agent asks for tools, each server in a thread of its own. One that cannot be
    reached, or hangs, holds up nobody again: agents do without its tools, and it is tried again later."""

    def __init__(self, settings: Settings, first_seconds: float = FIRST_SECONDS) -> None:
        self._settings = settings
        self._first_seconds = min(first_seconds, settings.agent_tool_seconds)
        self._changed = threading.Condition()
        self._closing = ExitStack()
        self._closed = False
        self._servers: list[McpServer] | None = None
        self._found: dict[int, list[Tool]] = {}
        self._trying: set[int] = set()
        self._again: dict[int, float] = {}
        self._patient_until = 0.0

    def tools(self) -> list[Tool]:
        """What there is now. Blocks for a while where nothing was tried before."""
        with self._changed:
            if self._servers is None:
                self._servers = servers_of(self._settings.agent_mcp)
                self._patient_until = time.monotonic() + self._first_seconds
            for place, server in enumerate(self._servers):
                self._try(place, server)
            self._changed.wait_for(lambda: not self._trying, max(0.0, self._patient_until - time.monotonic()))
            return distinct(tool for _, tools in sorted(self._found.items()) for tool in tools)

    def _try(self, place: int, server: McpServer) -> None:
        waiting = time.monotonic() < self._again.get(place, 0.0)
        if waiting or self._closed or place in self._found or place in self._trying:
            return
        self._trying.add(place)
        # A daemon: a server that hangs must not keep this one from ending.
        name = "recollect-mcp-connecting"
        threading.Thread(target=self._reach, args=(place, server), name=name, daemon=True).start()

    def _reach(self, place: int, server: McpServer) -> None:
        opening = ExitStack()
        found: list[Tool] | None = None
        try:
            found = opening.enter_context(mcp_tools([server], Limits.of(self._settings)))
        except RecollectError as error:
            log.warning("Agents do without some tools: %s", error)
        except Exception as error:  # noqa: BLE001 - of the SDK, or of a server's answers; it is tried again
            log.warning("Agents do without some tools: %s", type(error).__name__)
        with self._changed:
            if found is not None and not self._closed:
                self._found[place] = found
                self._closing.push(opening.pop_all())
            self._trying.discard(place)
            self._again[place] = time.monotonic() + self._settings.agent_tool_seconds
            self._changed.notify_all()
        opening.close()  # nobody wants them any more, if they are still here

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._closing.close()
