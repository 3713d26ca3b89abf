"""MCP at /mcp: the same gate, limits and endings as the rest of the server; nobody reaches anybody else's."""

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from recollect import Memory
from tests.interface.guarded import guarded, problem
from tests.interface.mcp_client import ERAS, over_http, refused, text, told, within
from tests.interface.serving import Served, started

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "remember", "arguments": {"content": "Whales sing"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def send(client: httpx.Client, body: Any = CALL, path: str = "/mcp", **headers: str) -> httpx.Response:
    return client.post(path, json=body, headers={**ACCEPT, **headers})


@pytest.mark.parametrize("era", ERAS)
def test_two_users_have_two_memories(served: Served, era: str) -> None:
    ana, ben = served.issue(owner=f"ana {era}").key, served.issue(owner=f"ben {era}").key

    async def save(client: Client) -> str:
        await told(
            client, "record", role="user", content="The vault opens with kiwi-4711", conversation="vault"
        )
        return (await told(client, "remember", content="Ana's safe code is kiwi-4711", about="Ana"))["id"]

    id = within(over_http(served.url, ana, era), save)

    async def pry(client: Client) -> None:
        assert "kiwi-4711" not in await text(client, "recall", query="safe code kiwi-4711 vault")
        assert "kiwi-4711" not in await text(client, "timeline")
        for tool, given in (
            ("correct", {"id": id, "content": "mine now"}),
            ("pin", {"id": id}),
            ("forget", {"id": id}),
            ("complete_goal", {"id": id}),
        ):
            said = await refused(client, tool, **given)
            assert id in said
            assert "kiwi-4711" not in said
        assert (await told(client, "forget", conversation="vault")).get("erased", {}) == {}
        entities = await client.read_resource("recollect://entities")
        assert "Ana" not in entities.contents[0].text  # type: ignore[union-attr]

    within(over_http(served.url, ben, era), pry)

    async def look(client: Client) -> str:
        return await text(client, "recall", query="safe code")

    assert "kiwi-4711" in within(over_http(served.url, ana, era), look)


@pytest.mark.parametrize("name", ["user", "user_id", "scope", "X-Recollect-User"])
def test_a_forged_user_is_refused_and_nothing_is_written(served: Served, name: str) -> None:
    async def work(client: Client) -> str:
        return await refused(client, "remember", content="Forged", **{name: "victim"})

    assert name in within(over_http(served.url, served.issue(owner="forger").key), work)
    assert served.memory.scope("victim").counts() == {}
    assert served.memory.scope("forger").counts() == {}


def test_another_user_in_a_header_is_as_if_there_were_none(served: Served) -> None:
    client = served.client(served.issue(owner="plain").key)
    assert problem(send(client, **{"X-Recollect-User": "victim"}), 404)


def test_a_service_acts_for_whom_it_names(served: Served) -> None:
    service = served.client(served.issue("service").key)
    assert "X-Recollect-User" in problem(send(service), 400)
    assert send(service, **{"X-Recollect-User": "served one"}).status_code == 200
    assert served.memory.scope("served one").counts()["fact"] == 1


def test_without_a_key_and_with_an_admins_nothing_is_opened(served: Served) -> None:
    assert "needs a key" in problem(send(served.client()), 401)
    assert "unknown" in problem(send(served.client("rk_made_up")), 401)
    assert "opens nobody's memory" in problem(send(served.admin()), 404)


def test_the_address_says_where_memory_is_seen_from(served: Served) -> None:
    key = served.issue(owner="channels").key

    async def save(client: Client) -> None:
        await told(client, "remember", content="The launch is in May")

    within(over_http(served.url, key, query="?channel=work&agent=cursor"), save)
    (fact,) = served.memory.scope("channels").list("fact")
    assert (fact.channel, fact.agent) == ("work", "cursor")  # type: ignore[attr-defined]

    async def look(client: Client) -> str:
        return await text(client, "recall", query="launch")

    assert "launch is in May" not in within(over_http(served.url, key, query="?channel=home"), look)
    assert "launch is in May" in within(over_http(served.url, key, query="?channel=work"), look)
    client = served.client(key)
    assert "each once" in problem(send(client, path="/mcp?user=victim"), 422)
    assert "each once" in problem(send(client, path="/mcp?channel=a&channel=b"), 422)
    assert problem(send(client, path=f"/mcp?channel={'c' * 2000}"), 422)


def test_a_web_page_from_elsewhere_is_refused(served: Served) -> None:
    client = served.of("browsing")
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        assert "RECOLLECT_CORS" in problem(send(client, Origin=origin), 403)
    assert send(client, Origin="http://localhost:3000").status_code == 200


def test_a_page_that_is_named_may_call(tmp_path: Path) -> None:
    with guarded(tmp_path, cors="https://app.example.org") as server:
        client = server.of("ana")
        assert send(client, Origin="https://app.example.org").status_code == 200
        assert problem(send(client, Origin="https://app.example.com"), 403)


def test_without_keys_whoever_is_on_this_machine_is_the_local_user(tmp_path: Path) -> None:
    with guarded(tmp_path, keyed=False) as server:

        async def save(client: Client) -> None:
            await told(client, "remember", content="Whales sing")

        within(over_http(server.url), save)
        assert server.memory.scope("local").counts()["fact"] == 1
        client = server.client()
        assert problem(send(client, Host="evil.example"), 403)
        assert problem(send(client, Origin="https://evil.example"), 403)
        assert problem(send(client, **{"X-Recollect-User": "ben"}), 404)


def test_it_is_measured_as_every_route_is(served: Served) -> None:
    client = served.of("measured")
    assert "x-request-id" in send(client, path="/mcp?channel=secret").headers
    told = served.admin().get("/metrics").text
    assert 'route="/mcp"' in told
    assert "secret" not in told


def test_there_is_nothing_but_post(served: Served) -> None:
    client = served.of("methods")
    for method in ("GET", "DELETE", "PUT"):
        answered = client.request(method, "/mcp", headers=ACCEPT)
        assert problem(answered, 405)
        assert answered.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
        json.dumps(CALL | {"params": {"name": "recall", "arguments": {"query": "\ud800"}}}).encode(),
    ],
)
def test_what_is_no_message_is_refused_and_the_server_goes_on(served: Served, body: bytes) -> None:
    client = served.of("hostile")
    answered = client.post("/mcp", content=body, headers={**ACCEPT, "Content-Type": "application/json"})
    assert answered.status_code < 500, answered.text
    assert "Traceback" not in answered.text
    assert send(client).status_code == 200


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"jsonrpc": "2.0"}'])
def test_what_is_no_message_is_told_so_in_a_sentence(served: Served, body: bytes) -> None:
    answered = served.of("hostile").post(
        "/mcp", content=body, headers={**ACCEPT, "Content-Type": "application/json"}
    )
    assert answered.status_code == 400
    assert "JSON-RPC 2.0" in answered.json()["error"]["message"]
    assert len(answered.content) < 300


def test_limits_hold_here_too(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=3, body_mb=1) as server:
        client = server.of("ana")
        large = {**CALL, "params": {"name": "remember", "arguments": {"content": "x" * 2_000_000}}}
        assert "RECOLLECT_BODY_MB" in problem(send(client, large), 413)
        seen = [send(client).status_code for _ in range(4)]
        assert seen[-1] == 429
        assert "ratelimit-limit" in {name.lower() for name in send(client).headers}


def test_a_client_that_leaves_in_the_middle_harms_nobody(served: Served) -> None:
    key = served.issue(owner="leaving").key
    body = json.dumps(CALL).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    for sent in (head, head + body[:20], head + body, head + body):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(sent)
    client = served.client(key)
    assert send(client).status_code == 200
    counts = served.memory.scope("leaving").counts()
    assert 1 <= counts["fact"] <= 3


def test_many_clients_at_once_each_see_their_own(served: Served) -> None:
    keys = {f"crowd {number}": served.issue(owner=f"crowd {number}").key for number in range(8)}

    async def one(user: str, key: str) -> None:
        async with over_http(served.url, key) as client:
            await told(client, "remember", content=f"My name is {user}")
            for _ in range(3):
                found = (await told(client, "recall", query="What is my name?"))["memories"]
                assert [memory["content"] for memory in found] == [f"My name is {user}"]

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for user, key in keys.items():
                group.create_task(one(user, key))

    asyncio.run(all_of_them())


def test_without_its_extra_the_answer_names_it(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)  # as if it were not installed
    assert "pip install 'recollect[mcp]'" in problem(send(served.of("bare")), 501)


def test_a_store_that_fails_is_an_error_that_tells_no_secrets(tmp_path: Path) -> None:
    with guarded(tmp_path) as server:
        client = server.of("ana")
        assert send(client).status_code == 200
        server.memory.store.close()
        answered = send(client)
        assert str(tmp_path) not in answered.text
        assert answered.status_code in (200, 503)
        if answered.status_code == 200:
            assert answered.json()["result"]["isError"] is True


@pytest.mark.slow
def test_several_processes_behind_one_address_answer_alike(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    with Memory.open(database, embedder="hashing") as memory:
        memory.scope("local").remember("Whales sing")
    with started(tmp_path / "log", "--processes", "2", db=database, user="local") as process:

        async def work(client: Client) -> None:
            for _ in range(6):
                assert "Whales" in await text(client, "recall", query="What do whales do?")

        for era in ERAS:
            within(over_http(process.url, era=era), work)
        process.signal()
        assert process.wait() == 0
    assert "Whales" not in process.log.read_text()


@pytest.mark.slow
def test_a_server_starts_without_the_sdk_and_ends_while_clients_are_connected(tmp_path: Path) -> None:
    code = (
        "import sys\nimport recollect.server.app, recollect.cli\n"
        "assert not [name for name in sys.modules if name == 'mcp' or name.startswith('mcp.')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with started(tmp_path / "log", db=tmp_path / "memory.db", user="local") as process:

        async def work(client: Client) -> int:
            await told(client, "remember", content="Whales sing")
            process.signal()
            return await asyncio.to_thread(process.wait)

        assert within(over_http(process.url), work) == 0
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        assert memory.scope("local").counts()["fact"] == 1
