"""The contract of a working store, on Redis; and what happens when it is down."""

import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("redis", reason="the client is an extra")

from recollect import Memory, SettingsError
from recollect.stores.redis.working import RedisWorkingStore
from recollect.testing.working_suite import (
    DESK,
    NOTHING,
    TTL,
    PassTime,
    WorkingContract,
    contents,
    everything,
    fill,
    holding,
    item,
)
from tests.contract import redis

pytestmark = pytest.mark.engine

TIMEOUT = 30.0


@pytest.fixture
def working(redis_server: redis.Server, redis_client: Any) -> Iterator[RedisWorkingStore]:
    working = RedisWorkingStore(redis_server.url, ttl=TTL, timeout=TIMEOUT)
    yield working
    working.close()


class TestRedisWorkingStore(WorkingContract):
    @pytest.fixture
    def pass_time(self, redis_client: Any) -> PassTime:
        def pass_(seconds: float) -> None:
            """Every key expires so much earlier."""
            for key in redis_client.scan_iter():
                redis_client.pexpire(key, redis_client.pttl(key) - round(seconds * 1000))

        return pass_


def test_every_key_has_a_time_to_live_at_every_moment(working: RedisWorkingStore, redis_client: Any) -> None:
    def check(keys: int) -> None:
        left = [redis_client.pttl(key) for key in redis_client.scan_iter()]
        assert len(left) == keys
        assert all(TTL * 1000 - 60_000 < one <= TTL * 1000 for one in left)

    working.append(DESK, item("a"))
    check(1)
    working.put(DESK, "k", 1, 10)
    check(2)
    working.set_goal(DESK, "tea")
    check(3)
    working.replace(DESK, working.items(DESK), [item("s")])
    check(3)
    working.set_goal(DESK, None)
    working.put(DESK, "k", None, 10)
    check(1)


def test_keys_follow_the_pattern_and_hold_no_name_as_it_is(
    working: RedisWorkingStore, redis_client: Any
) -> None:
    fill(working, DESK, "tea")
    fill(working, DESK._replace(user="a:b*", channel="[x]"), "tea")
    assert sorted(redis_client.scan_iter()) == sorted(
        f"working:{names}:{part}".encode()
        for names in ("alice:work:c", "a%3Ab%2A:%5Bx%5D:c")
        for part in ("items", "values", "goal")
    )


def test_what_is_sent_again_is_not_kept_twice(working: RedisWorkingStore) -> None:
    one = item("a")
    working.append(DESK, one)
    working.append(DESK, item("b"))
    working.append(DESK, one)
    assert contents(working) == ["a", "b"]


def test_others_keys_are_left_alone_and_their_rubbish_is_passed_over(
    working: RedisWorkingStore, redis_client: Any
) -> None:
    redis_client.set("working", "x")
    redis_client.set("other:alice:work:c:items", "x")
    fill(working, DESK, "tea")
    redis_client.rpush("working:alice:work:c:items", b"\xff", b"[]", b'{"at": 1}', b"null", b"[" * 100_000)
    redis_client.hset("working:alice:work:c:values", b"\xff", b"\xff")
    assert everything(working, DESK) == holding("tea")
    working.erase("alice")
    assert sorted(redis_client.scan_iter()) == [b"other:alice:work:c:items", b"working"]


@pytest.mark.usefixtures("tireless")
def test_a_key_of_another_type_fails_nobody(working: RedisWorkingStore, redis_client: Any) -> None:
    redis_client.set("working:alice:work:c:items", "mine")
    fill(working, DESK, "tea")
    assert everything(working, DESK) == ([], {"key": "tea"}, "tea")
    working.erase("alice")
    fill(working, DESK, "tea")
    assert everything(working, DESK) == holding("tea")


@pytest.mark.usefixtures("tireless")
def test_a_server_that_dies_fails_no_call_and_works_again_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with redis.own_server() as redis_server:
        working = RedisWorkingStore(redis_server.url, ttl=TTL, timeout=TIMEOUT)
        fill(working, DESK, "tea")
        redis_server.kill()
        with caplog.at_level(logging.WARNING, "recollect"):
            for _ in range(3):
                fill(working, DESK, "secret")
                assert everything(working, DESK) == NOTHING
                assert working.replace(DESK, [item()], []) is False
            assert len(caplog.records) == 1
            assert "Working memory is not kept" in caplog.text
            problem = working.state().problem
            assert problem is not None
            assert "ConnectionError" in problem
            redis_server.start()
            fill(working, DESK._replace(conversation="new"), "coffee")
            assert everything(working, DESK._replace(conversation="new")) == holding("coffee")
            assert "is kept again" in caplog.text
            assert working.state().problem is None
        assert "secret" not in caplog.text
        working.close()


@pytest.mark.usefixtures("tireless")
def test_a_server_that_dies_while_many_use_it(redis_client: Any) -> None:
    with redis.own_server() as redis_server:
        working = RedisWorkingStore(redis_server.url, ttl=TTL, timeout=TIMEOUT)

        def use(n: int) -> None:
            for i in range(50):
                if (n, i) == (0, 25):
                    redis_server.kill()
                fill(working, DESK._replace(conversation=str(n)), "tea")
                everything(working, DESK._replace(conversation=str(n)))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(use, range(8)))
        redis_server.start()
        working.erase("alice")
        fill(working, DESK, "tea")
        assert everything(working, DESK) == holding("tea")
        working.close()


@pytest.mark.usefixtures("tireless")
def test_what_was_forgotten_meanwhile_is_erased_before_it_can_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with redis.own_server() as redis_server:
        working = RedisWorkingStore(redis_server.url, ttl=TTL, timeout=TIMEOUT)
        other = DESK._replace(user="bob")
        for desk in (DESK, other):
            fill(working, desk, "tea")
        redis_server.kill()
        working.erase("alice")
        assert "is not erased yet" in caplog.text
        redis_server.start()  # with what it had written to its files
        assert everything(working, other) == holding("tea")
        with redis_server.client() as redis_client:
            assert all(b":bob:" in key for key in redis_client.scan_iter())
        working.close()


def test_a_server_that_hangs_is_left_alone_after_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        working = RedisWorkingStore(url, ttl=TTL, timeout=0.6)
        begun = monotonic()
        for _ in range(20):
            fill(working, DESK, "tea")
            assert everything(working, DESK) == NOTHING
        assert monotonic() - begun < 30
        problem = working.state().problem
        assert problem is not None
        assert "Timeout" in problem
        working.close()


@pytest.mark.usefixtures("tireless")
def test_a_full_server_drops_what_is_new_and_says_what_to_set(
    working: RedisWorkingStore, redis_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    redis_client.config_set("maxmemory-policy", "noeviction")
    redis_client.config_set("maxmemory", redis_client.info("memory")["used_memory"] + 400_000)
    for n in range(100):
        fill(working, DESK._replace(conversation=str(n)), "x" * 10_000)
    assert caplog.text.count("is not kept") == 1  # though it may be full, and not, and full
    assert "xxxx" not in caplog.text
    problem = working.state().problem
    assert problem is not None
    assert "volatile-ttl" in problem
    redis_client.config_set("maxmemory-policy", "volatile-ttl")
    for n in range(100):
        fill(working, DESK._replace(conversation=str(n)), "x" * 10_000)
    state = working.state()
    assert state.problem is None
    assert state.evicted
    assert any(contents(working, DESK._replace(conversation=str(n))) for n in range(90, 100))


@pytest.mark.parametrize(
    "url", ["http://u:hunter2@h", "redis://u:hunter2@h:port", "redis://u:hunter2@[h", "x"]
)
def test_an_address_that_cannot_be_read_is_told_without_its_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError) as told:
        Memory.open(tmp_path / "memory.db", embedder="none", redis=url)
    assert "RECOLLECT_REDIS" in str(told.value)
    assert "hunter2" not in str(told.value)


def test_a_password_is_shown_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = "redis://user:hunter2@127.0.0.1:1/0"
    with Memory.open(tmp_path / "memory.db", embedder="none", redis=url) as memory:
        memory.scope("alice", conversation="c").working.add("thought", "tea")
        shown = f"{memory.settings!r} {memory.working_state()} {caplog.text}"
    assert "127.0.0.1:1" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize("what", ["conversation", "channel", "agent", "everything", "clear"])
def test_no_byte_of_what_was_forgotten_is_left(
    tmp_path: Path, redis_server: redis.Server, redis_client: Any, what: str
) -> None:
    given: dict[str, Any] = {"redis": redis_server.url, "redis_timeout": TIMEOUT, "working_tokens": 50}
    with Memory.open(tmp_path / "memory.db", embedder="none", **given) as memory:
        bob = memory.scope("bob", "work", conversation="c").working
        bob.add("thought", "bob's own")
        alice = memory.scope("alice", "work", "scout", "c")
        for n in range(20):
            alice.working.add("observation", f"the needle {n} " * 5, tool="needle")
        alice.working.set("needle", "needle")
        alice.working.goal = "find the needle"
        assert b"needle" in dump(redis_client)
        targets: dict[str, dict[str, Any]] = {
            "conversation": {"conversation": "c"},
            "channel": {"channel": "work"},
            "agent": {"agent": "scout"},
            "everything": {"everything": True},
        }
        if what == "clear":
            alice.working.clear()
        else:
            memory.scope("alice").forget(**targets[what])
        assert b"needle" not in dump(redis_client)
        assert b"alice" not in dump(redis_client)
        assert alice.working.items() == []
        assert [one.content for one in bob.items()] == ["bob's own"]


def dump(client: Any) -> bytes:
    """All that the server holds."""
    readers = {
        b"list": lambda k: client.lrange(k, 0, -1),
        b"hash": client.hgetall,
        b"string": client.get,
    }
    return repr([(key, readers[client.type(key)](key)) for key in client.scan_iter()]).encode()


def test_two_processes_share_a_conversation(
    tmp_path: Path, redis_server: redis.Server, redis_client: Any
) -> None:
    given: dict[str, Any] = {"redis": redis_server.url, "redis_timeout": TIMEOUT, "working_tokens": 40}
    opened = [Memory.open(tmp_path / f"{n}.db", embedder="none", **given) for n in range(2)]
    one, two = (memory.scope("alice", conversation="c").working for memory in opened)

    def add(n: int) -> None:
        (one, two)[n % 2].add("decision", f"take number {n}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(60)))
    held = one.items()
    assert [item.id for item in two.items()] == [item.id for item in held]
    from recollect.record.working_summary import counted, lines

    assert sum(counted([line for item in held for line in lines(item)]).values()) == 60
    for memory in opened:
        memory.close()


def test_the_doctor_looks_at_it(tmp_path: Path, redis_server: redis.Server, redis_client: Any) -> None:
    from typer.testing import CliRunner

    from recollect.cli import app

    def doctor(url: str) -> str:
        environment = {"RECOLLECT_REDIS": url, "RECOLLECT_EMBEDDER": "hashing", "COLUMNS": "300"}
        return CliRunner().invoke(app, ["doctor", "--json"], env=environment).output

    assert "noeviction, " in doctor(redis_server.url)
    assert "keys evicted" in doctor(redis_server.url)
    down = doctor("redis://user:hunter2@127.0.0.1:1/0")
    assert "Working memory is not kept" in down
    assert "hunter2" not in down
    assert "RECOLLECT_REDIS cannot be read" in doctor("nonsense")
