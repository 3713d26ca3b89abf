"""`recollect mcp` as clients start it: a process that speaks the protocol and nothing else on its output."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextResourceContents

from recollect import Memory
from tests.interface.mcp_client import ERAS, command, over_stdio, refused, text, told, within
from tests.interface.serving import ENDS_WITHIN, serve, served
from tests.interface.test_cli_frame import failure, run

pytestmark = pytest.mark.slow  # each starts processes

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def facts(database: Path, user: str) -> list[str]:
    with Memory.open(database, embedder="hashing") as memory:
        return [fact.content for fact in memory.scope(user).list("fact")]  # type: ignore[attr-defined]


@pytest.mark.parametrize("era", ERAS)
def test_memory_of_the_user_that_the_command_line_names(database: Path, era: str) -> None:
    words = ("--user", "ana", "--channel", "work", "--agent", "tester")

    async def work(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"recall", "remember"}
        saved = await told(client, "remember", content="The standup is at 9:30")
        assert saved["id"] in await text(client, "recall", query="When is the standup?")
        first = await told(client, "record", role="user", content="I live in Lisbon")
        second = await told(client, "record", role="assistant", content="Noted")
        assert first["conversation"] == second["conversation"]  # one client, one conversation
        assert "comes from the key or the command line" in await refused(
            client, "remember", content="Forged", user="ben"
        )
        (palace,) = (await client.read_resource("recollect://palace")).contents
        assert isinstance(palace, TextResourceContents)
        assert json.loads(palace.text) == {"places": []}
        assert (await client.get_prompt("review_memory")).messages

    within(over_stdio(database, *words, era=era), work)
    with Memory.open(database, embedder="hashing") as memory:
        (fact,) = memory.scope("ana").list("fact")
        assert (fact.channel, fact.agent) == ("work", "tester")  # type: ignore[attr-defined]
        assert memory.scope("ben").counts() == {}


def test_what_was_remembered_elsewhere_is_known(database: Path) -> None:
    with Memory.open(database, embedder="hashing") as memory:
        memory.scope().remember("The standup is at 9:30")

    async def look(client: Client) -> str:
        return await text(client, "recall", query="When is the standup?")

    assert "standup is at 9:30" in within(over_stdio(database), look)
    assert "standup is at 9:30" not in within(over_stdio(database, "--user", "ben"), look)


def test_two_clients_work_on_one_database(database: Path) -> None:
    async def both() -> None:
        async with over_stdio(database) as one, over_stdio(database) as other:
            async with asyncio.TaskGroup() as group:
                for number in range(10):
                    client = one if number % 2 else other
                    group.create_task(told(client, "remember", content=f"Fact number {number}"))
            found = await told(one, "recall", query="fact number", limit=50)
            assert len(found["memories"]) == 10

    asyncio.run(both())


# How it ends


@contextmanager
def spoken_to(database: Path, *words: str) -> Iterator[Any]:
    """The bare process, after its handshake."""
    parameters = command(database, *words)
    process = subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "recollect"
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]


def call(tool: str, **given: Any) -> bytes:
    params = {"name": tool, "arguments": given}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"


def test_it_ends_when_the_client_closes_its_end(database: Path) -> None:
    with spoken_to(database, "--user", "ana") as process:
        process.stdin.close()
        assert process.wait(ENDS_WITHIN) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_by_a_signal_while_the_client_is_silent(database: Path, sig: int) -> None:
    with spoken_to(database) as process:
        process.send_signal(sig)
        assert process.wait(ENDS_WITHIN) == 0
        assert process.stderr.read() == b""


def test_what_a_client_said_before_it_left_is_done(database: Path) -> None:
    with spoken_to(database, "--user", "ana") as process:
        process.stdin.write(call("remember", content="Last words"))
        process.stdin.close()
        assert process.wait(ENDS_WITHIN) == 0
    assert facts(database, "ana") == ["Last words"]


def test_a_client_that_no_longer_reads_leaves_nothing_behind(database: Path) -> None:
    with spoken_to(database, "--user", "ana") as process:
        process.stdout.close()
        process.stdin.write(call("remember", content="Last words"))
        process.stdin.close()
        process.wait(ENDS_WITHIN)
    assert facts(database, "ana") == ["Last words"]


def test_what_is_no_message_is_passed_over_and_nothing_else_is_printed(database: Path) -> None:
    with spoken_to(database, "--user", "ana") as process:
        process.stdin.write(b"garbage\n\xff\xfe\n\n[1]\n{}\n" + b"[" * 100_000 + b"\n")
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "no/such"}\n')
        process.stdin.write(call("recall", query="x" * 200_000) + call("remember", content="Heard"))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        assert {answer["id"] for answer in answers} == {1, 7}
        process.stdin.close()
        for line in process.stdout.read().splitlines():
            json.loads(line)
        assert process.wait(ENDS_WITHIN) == 0
        assert b"garbage" not in process.stderr.read()
    assert facts(database, "ana") == ["Heard"]


# Of a server's memory


def test_it_speaks_for_the_memory_of_a_server(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "served.db", embedder="hashing") as memory, served(memory) as server:
        keys = {name: server.issue(owner=name).key for name in ("ana", "ben")}

        async def save(client: Client) -> None:
            saved = await told(client, "remember", content="The safe code is kiwi-4711", about="safe")
            assert "kiwi-4711" in await text(client, "recall", query="safe code")
            assert "kiwi-4712" in await text(
                client, "correct", id=saved["id"], content="The safe code is kiwi-4712"
            )
            await told(client, "add_goal", description="Change the code")
            assert len((await told(client, "goals"))["goals"]) == 1
            assert (await told(client, "timeline", about="safe"))["events"]
            assert (await told(client, "palace"))["places"] == []
            assert "safe" in (await client.read_resource("recollect://entities/safe")).contents[0].text  # type: ignore[union-attr]

        async def pry(client: Client) -> None:
            assert "kiwi" not in await text(client, "recall", query="safe code")

        here = tmp_path / "here.db"
        within(over_stdio(here, server_url=server.url, server_key=keys["ana"]), save)
        within(over_stdio(here, "--server", server.url, "--key", keys["ben"]), pry)
        assert not here.exists()
        assert memory.scope("ana").counts()["goal"] == 1

        async def named(client: Client) -> str:
            return await refused(client, "remember", content="Forged")

        words = ("--server", server.url, "--key", keys["ben"], "--user", "ana")
        assert "no such user" in within(over_stdio(here, *words), named)


def test_a_server_that_is_down_is_told_to_the_model(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "served.db", embedder="hashing") as memory, serve(memory) as url:
        pass

    async def work(client: Client) -> str:
        return await refused(client, "recall", query="whales")

    assert "recollect serve" in within(over_stdio(tmp_path / "m.db", server_url=url), work)


# What is refused


def test_a_database_that_cannot_be_opened_is_told_on_standard_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database " * 1000)
    parameters = command(broken)
    done = subprocess.run(
        [parameters.command, *parameters.args],
        env=parameters.env,
        input=b"",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"Error: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_database_and_a_server_are_not_both_meant(tmp_path: Path) -> None:
    assert (
        "not both" in failure("mcp", "--db", tmp_path / "m.db", "--server", "http://h:1", code=2)["message"]
    )
    assert "http://" in failure("mcp", "--server", "elsewhere", code=1)["message"]


def test_without_its_extra_the_message_names_it() -> None:
    code = "import sys; sys.modules['mcp'] = None; from recollect.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp"], env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'recollect[mcp]'" in done.stderr


def test_help_is_there_for_people() -> None:
    assert "install" in run("mcp", "--help").stdout
