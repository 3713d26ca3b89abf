"""Tools of MCP servers, over both transports, whatever those servers do."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect import RecollectError
from recollect.agent import remote
from recollect.agent.remote import Limits, mcp_tools, why
from recollect.agent.servers import McpServer, servers_of
from recollect.agent.tools import Tool
from recollect.errors import SettingsError
from recollect.testing.engines import Port

HERE = Path(__file__).parent
SAMPLE = (sys.executable, str(HERE / "mcp_tools_server.py"))
QUICK = Limits(seconds=2.0)
PATIENT = Limits(seconds=30.0)

pytestmark = pytest.mark.framework


def raw(manner: str) -> McpServer:
    return McpServer("raw", (sys.executable, str(HERE / "mcp_raw_server.py"), manner))


def stdio() -> McpServer:
    return McpServer("sample", (*SAMPLE, "stdio"))


def by_name(tools: list[Tool]) -> dict[str, Callable[..., Any]]:
    return {tool.name: lambda tool=tool, **given: tool.call(given) for tool in tools}


@pytest.fixture
def web() -> Iterator[tuple[str, Callable[[], None]]]:
    """A server over HTTP, and how to have it again after it died."""
    port, running = Port(), list[subprocess.Popen[bytes]]()

    def start() -> None:
        running.append(
            subprocess.Popen(
                [*SAMPLE, "http", str(port.number)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        pause = threading.Event()
        for _ in range(2400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port.number)) == 0:
                    return
            pause.wait(0.05)
        raise AssertionError("the server did not start")

    start()
    yield f"http://127.0.0.1:{port.number}/mcp", start
    for process in running:
        process.kill()
        process.wait()
    port.close()


def check_works(tools: list[Tool]) -> None:
    call = by_name(tools)
    assert call["add"](a=2, b=3) == "5"
    assert call["odd_name_x"]() == "odd"
    assert '"clear"' in call["weather"](city="Porto")
    assert call["picture"]() == "[image: image/png]"
    with pytest.raises(RecollectError, match="The door is locked"):
        call["fail"]()
    with pytest.raises(RecollectError):
        call["add"](a="no number", b=None)
    assert call["add"](a=1, b=1) == "2"
    add = next(tool for tool in tools if tool.name == "add")
    assert add.description == "Add two numbers."
    assert len({tool.groups for tool in tools}) == 1
    assert set(add.parameters["properties"]) == {"a", "b"}


def test_tools_of_a_command() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        check_works(tools)


def test_tools_of_a_url(web: tuple[str, Callable[[], None]]) -> None:
    with mcp_tools(web[0], PATIENT) as tools:
        check_works(tools)


def test_several_servers_have_names_of_their_own(web: tuple[str, Callable[[], None]]) -> None:
    with mcp_tools([stdio(), web[0]], PATIENT) as tools:
        call = by_name(tools)
        assert call["add"](a=1, b=2) == call["add_2"](a=1, b=2) == "3"
        assert len(call) == len(tools) == 2 * 9


def test_a_server_that_dies_fails_one_call() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        call = by_name(tools)
        with pytest.raises(RecollectError, match="'sample' gave no answer"):
            call["die"]()
        assert call["add"](a=2, b=2) == "4"


def test_a_server_that_dies_behind_a_url(web: tuple[str, Callable[[], None]]) -> None:
    address, start = web
    with mcp_tools(address, Limits(seconds=10)) as tools:
        call = by_name(tools)
        for gone in ("die", "add"):
            with pytest.raises(RecollectError):
                call[gone](**({"a": 1, "b": 1} if gone == "add" else {}))
        start()
        assert call["add"](a=2, b=2) == "4"


def test_a_call_that_hangs_is_given_up_and_the_server_begun_again() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        assert by_name(tools)["add"](a=1, b=1) == "2"
    # connecting counts too: long enough for that, far shorter than the tool
    with mcp_tools([stdio()], Limits(seconds=20)) as tools:
        call = by_name(tools)
        with pytest.raises(RecollectError, match="did not answer within 20 seconds"):
            call["hang"]()
        assert call["add"](a=1, b=1) == "2"


def test_a_long_answer_is_an_error_and_others_go_on(web: tuple[str, Callable[[], None]]) -> None:
    for server in (stdio(), web[0]):
        with mcp_tools([server], Limits(seconds=20, answer=100_000)) as tools:
            call = by_name(tools)
            assert len(call["big"](characters=90_000)) == 90_000
            with pytest.raises(RecollectError):
                call["big"](characters=10_000_000)
            assert call["add"](a=1, b=1) == "2"


def test_lines_that_are_no_messages_are_passed_over() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        assert by_name(tools)["babble"]() == "said"


def test_what_a_server_lists_is_bounded() -> None:
    limits = Limits(seconds=20, tools=25, schema=10_000, description=50)
    with mcp_tools([raw("list")], limits) as tools:
        assert 20 <= len(tools) <= 25
        assert not any(tool.name.startswith("wide") for tool in tools)
        assert {len(tool.description) for tool in tools} == {50}
        with pytest.raises(RecollectError, match="gave no answer"):
            tools[0].call({})


@pytest.mark.parametrize("manner", ["silent", "garbage", "die"])
def test_a_server_that_is_none_is_said_at_the_beginning(manner: str) -> None:
    with pytest.raises(SettingsError, match="'raw'"), mcp_tools([raw(manner)], QUICK):
        pass


@pytest.mark.parametrize("server", ["no-such-command-here --x", "http://127.0.0.1:1/mcp"])
def test_a_server_that_is_not_there_is_said_at_the_beginning(server: str) -> None:
    with pytest.raises(SettingsError, match="cannot be reached"), mcp_tools(server, QUICK):
        pass


def test_calls_of_many_threads_share_a_server() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        call, sums = by_name(tools), list[str]()
        threads = [threading.Thread(target=lambda i=i: sums.append(call["add"](a=i, b=0))) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(int, sums)) == list(range(20))


def test_nothing_runs_after_it() -> None:
    with mcp_tools([stdio()], PATIENT) as tools:
        call = by_name(tools)
    assert not any(thread.name == "recollect-mcp" for thread in threading.enumerate())
    with pytest.raises(Exception, match="closed"):
        call["add"](a=1, b=1)
    with mcp_tools("") as none:
        assert none == []


def test_a_server_that_does_not_end_is_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed = remote._closed

    async def slowly(remotes: Sequence[Any]) -> None:
        await closed(remotes)
        await asyncio.sleep(60)

    monkeypatch.setattr(remote, "_closed", slowly)
    with mcp_tools([stdio()], Limits(seconds=30, closing_seconds=2)) as tools:
        assert by_name(tools)["add"](a=1, b=1) == "2"
    assert "did not end within 2 seconds" in caplog.text


def test_servers_by_text_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b"}},
                    "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer x"}},
                }
            }
        )
    )
    found = servers_of(f"uvx 'a b' --c;https://example.com/mcp?key=s\n{file};")
    assert [(one.name, one.command or one.url) for one in found] == [
        ("uvx", ("uvx", "a b", "--c")),
        ("example.com", "https://example.com/mcp?key=s"),
        ("files", ("npx", "-y", "files")),
        ("web", "https://example.org/mcp"),
    ]
    assert "Bearer" not in repr(found)
    assert found[2].env == {"A": "b"}


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"mcpServers": []}', '{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {"url": "x"}}}',
     '{"mcpServers": {"a": {"command": "a", "args": [1]}}}',
     '{"mcpServers": {"a": {"command": "a", "env": [1]}}}',
     "[" * 100_000],
)  # fmt: skip
def test_a_file_that_is_wrong_says_how(tmp_path: Path, content: str) -> None:
    (tmp_path / "mcp.json").write_text(content)
    with pytest.raises(SettingsError, match=r"mcp\.json"):
        servers_of(str(tmp_path / "mcp.json"))
    with pytest.raises(SettingsError):
        servers_of(str(tmp_path / "missing.json"))
    with pytest.raises(SettingsError):
        servers_of("run 'this")


def test_why_a_server_failed_tells_no_password() -> None:
    told = why(ValueError("401 for url 'https://me:PASSWORD@tools.test/mcp?key=SECRET'. See the manual."))
    assert told == "ValueError: 401 for url 'https://tools.test/mcp'. See the manual."
