"""The tools of a server's agents, whatever the MCP servers do that have them."""

import sys
import threading
from pathlib import Path

import pytest

from recollect.server.toolbox import Toolbox
from recollect.settings import load

HERE = Path(__file__).parent
TOOLS = f"{sys.executable} {HERE / 'mcp_tools_server.py'} stdio"
HANGING = f"{sys.executable} -c '__import__(\"sys\").stdin.read()'"

pytestmark = pytest.mark.framework


def test_a_server_that_hangs_holds_up_nobody() -> None:
    toolbox = Toolbox(load({}, agent_mcp=HANGING, agent_tool_seconds=2.0), first_seconds=0.01)
    for _ in range(3):
        assert toolbox.tools() == []
    (connecting,) = [one for one in threading.enumerate() if one.name == "recollect-mcp-connecting"]
    toolbox.close()
    assert toolbox.tools() == []
    connecting.join(120)
    assert not connecting.is_alive()


def test_what_comes_late_is_there_for_the_next() -> None:
    toolbox = Toolbox(load({}, agent_mcp=f"no-such-server-here; {TOOLS}"), first_seconds=0.0)
    pause = threading.Event()
    for _ in range(12000):
        if found := toolbox.tools():
            break
        pause.wait(0.01)
    else:
        raise AssertionError("the tools never came")
    assert "add" in {tool.name for tool in found}
    toolbox.close()
