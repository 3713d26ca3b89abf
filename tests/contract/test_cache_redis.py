"""The cache in Redis: what is in it, and what happens when it is down, slow, full or full of rubbish."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("redis", reason="the client is an extra")

from recollect import Memory, SettingsError
from recollect.ports.cache import Shelf
from recollect.stores.redis.cache import LARGEST, MOST, RedisCache
from recollect.stores.redis.link import Link
from tests.contract import redis

pytestmark = pytest.mark.engine

TIMEOUT = 30.0
SHELF = Shelf("ana", "answers", "1.1", b"secret")
VECTORS = Shelf("ana", "vectors", "", b"secret")
SECONDS = 300

OpenMemory = Callable[..., Memory]


@pytest.fixture
def cache(redis_server: redis.Server, redis_client: Any) -> Iterator[RedisCache]:
    cache = RedisCache(redis_server.url, timeout=TIMEOUT)
    yield cache
    cache.close()


@pytest.fixture
def open_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenMemory]:
    """Opens one database with Redis, patient with a busy machine."""
    monkeypatch.setattr("recollect.wiring.IMPATIENT", TIMEOUT)
    opened: list[Memory] = []

    def opener(url: str, **given: Any) -> Memory:
        settings = {"embedder": "hashing", "redis": url, "redis_timeout": TIMEOUT, **given}
        opened.append(Memory.open(tmp_path / "memory.db", **settings))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


def steps(memory: Memory, query: str = "tea") -> list[str]:
    found = memory.scope("ana").recall(query)
    assert not found.problems
    assert found.hits
    return [step.name for step in found.used]


def is_cached(memory: Memory, query: str = "tea") -> bool:
    return steps(memory, query)[-1] == "cache"


def dump(client: Any) -> bytes:
    """All that the server holds."""
    return b"".join(key + b" " + (client.dump(key) or b"") for key in client.scan_iter())


# What is owed


@pytest.mark.parametrize("patience", [0.02, 60])  # it fails slowly, or at once
@pytest.mark.parametrize("fails", [False, True])
def test_one_pays_what_is_owed_and_others_wait(fails: bool, patience: float) -> None:
    link = Link("redis://127.0.0.1:1/0", patience, "Nothing is kept", "It is kept again")
    began, paid_again, end = threading.Event(), threading.Event(), threading.Event()
    done: list[str] = []

    def pay() -> None:
        (paid_again if began.is_set() else began).set()
        assert end.wait(TIMEOUT)
        done.append("paid")
        if fails:
            raise TimeoutError("No answer.")

    def ask(n: int) -> str:
        return link.tried("ask", lambda: done.append("asked") or "answer", "nothing")

    with ThreadPoolExecutor(5) as pool:
        settled = pool.submit(link.settle, "what", pay)
        assert began.wait(TIMEOUT)
        answers = [pool.submit(ask, n) for n in range(4)]
        assert not paid_again.wait(0.3)
        end.set()
        assert settled.result(TIMEOUT) is not fails
        assert {one.result(TIMEOUT) for one in answers} == {"nothing" if fails else "answer"}
    assert done == ["paid"] if fails else ["paid", *["asked"] * 4]
    link.close()


# What is kept


def test_what_is_put_is_found_and_only_there(cache: RedisCache) -> None:
    cache.put(SHELF, b"n", b"tea", SECONDS)
    assert cache.get(SHELF, b"n") == b"tea"
    others = (replace(SHELF, user="ben"), replace(SHELF, at="1.2"), replace(SHELF, secret=b"x"), VECTORS)
    assert [cache.get(shelf, b"n") for shelf in others] == [None] * len(others)
    assert cache.get(SHELF, b"m") is None
    for user in ("a:answers", "*", "a%3Aanswers", "ä", "ana:answers", ""):
        cache.put(replace(SHELF, user=user), b"n", user.encode() + b"'s", SECONDS)
    assert cache.get(SHELF, b"n") == b"tea"
    cache.erase("*")
    assert cache.get(replace(SHELF, user="ä"), b"n") == "ä's".encode()


def test_a_later_state_clears_away_what_was_made_of_an_earlier_one(
    cache: RedisCache, redis_client: Any
) -> None:
    later = replace(SHELF, at="1.2")
    cache.put(SHELF, b"n", b"tea", SECONDS)
    cache.put(VECTORS, b"v", b"vector", SECONDS)
    cache.put(later, b"n", b"coffee", SECONDS)
    assert redis_client.hlen("cache:ana:answers") == 2  # with `at`
    cache.put(SHELF, b"m", b"milk", SECONDS)  # by one who took longer
    assert cache.get(SHELF, b"m") is None
    assert cache.get(later, b"n") == b"coffee"
    assert cache.get(VECTORS, b"v") == b"vector"


def test_everything_expires_and_nothing_grows_without_end(cache: RedisCache, redis_client: Any) -> None:
    for n in range(MOST + 1):
        cache.put(SHELF, str(n).encode(), b"tea", SECONDS)
    assert redis_client.hlen("cache:ana:answers") == 2
    assert cache.get(SHELF, str(MOST).encode()) == b"tea"
    cache.put(VECTORS, b"large", bytes(LARGEST + 1), SECONDS)
    cache.put(VECTORS, b"small", b"vector", 60)
    for key in redis_client.scan_iter():
        assert 0 < redis_client.pttl(key) <= SECONDS * 1000
    assert cache.get(VECTORS, b"large") is None


@pytest.mark.usefixtures("tireless")
def test_rubbish_under_our_names_is_passed_over_and_replaced(cache: RedisCache, redis_client: Any) -> None:
    cache.put(SHELF, b"n", b"tea", SECONDS)
    for rubbish in (b"", b"x", b"\xff" * 100, redis_client.hget("cache:ana:answers", "n")[:-1]):
        redis_client.hset("cache:ana:answers", "n", rubbish)
        assert cache.get(SHELF, b"n") is None
    redis_client.set("cache:ana:vectors", "mine")
    assert cache.get(VECTORS, b"v") is None
    cache.put(VECTORS, b"v", b"vector", SECONDS)
    assert cache.get(VECTORS, b"v") == b"vector"


# With a memory around it


def test_two_processes_share_an_answer(
    open_memory: OpenMemory, redis_server: redis.Server, redis_client: Any
) -> None:
    one, two, without = (
        open_memory(redis_server.url),
        open_memory(redis_server.url),
        open_memory(redis_server.url, cache_seconds=0),
    )
    one.scope("ana").record("user", "I drink green tea")
    assert [is_cached(memory) for memory in (one, two, one, without)] == [False, True, True, False]
    assert "cache" not in steps(without)
    two.scope("ana").record("user", "I drink black tea")
    assert [is_cached(memory) for memory in (one, two)] == [False, True]


@pytest.mark.parametrize("key", ["", "5e" * 32])
@pytest.mark.parametrize("what", ["memory", "conversation", "everything"])
def test_no_byte_of_what_was_forgotten_is_left(
    open_memory: OpenMemory, redis_server: redis.Server, redis_client: Any, what: str, key: str
) -> None:
    memory = open_memory(redis_server.url, key=key)
    ana, ben = memory.scope("anastasia"), memory.scope("ben")
    ana.record("user", "the needle is in the haystack", conversation="c")
    fact = ana.remember("needle, sharp")
    ben.record("user", "ben's own")
    assert ana.recall("needle").hits
    assert ben.recall("own").hits
    assert {b"cache:anastasia:answers", b"cache:anastasia:vectors"} < set(redis_client.keys())
    assert b"needle" not in dump(redis_client)
    target: dict[str, Any] = {
        "memory": {"id": fact.id},
        "conversation": {"conversation": "c"},
        "everything": {"everything": True},
    }[what]
    ana.forget(**target)
    assert b"anastasia" not in dump(redis_client)
    assert set(redis_client.keys()) == {b"cache:ben:answers", b"cache:ben:vectors"}


@pytest.mark.usefixtures("tireless")
def test_what_was_forgotten_meanwhile_is_erased_before_anything_is_read(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.own_server() as redis_server:
        memory = open_memory(redis_server.url)
        for user in ("ana", "ben"):
            memory.scope(user).record("user", "I drink green tea")
            memory.scope(user).recall("tea")
        redis_server.kill()
        memory.scope("ana").forget(everything=True)
        assert "is not erased yet" in caplog.text
        redis_server.start()  # with what it had written to its files
        memory.scope("ben").recall("tea")
        with redis_server.client() as redis_client:
            assert all(b":ben:" in key for key in redis_client.scan_iter())
        memory.close()


@pytest.mark.usefixtures("tireless")
def test_a_server_that_dies_and_comes_back_under_load_fails_no_recall(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.own_server() as redis_server:
        memory = open_memory(redis_server.url)
        for n in range(8):
            memory.scope(f"user {n}").record("user", f"I drink tea number {n}")
        turns, once = threading.Barrier(8), threading.Lock()
        deeds = iter((redis_server.kill, redis_server.start, redis_server.kill, redis_server.start))

        def ask(n: int) -> None:
            scope = memory.scope(f"user {n}")
            for i in range(40):
                if i % 10 == 5 and turns.wait() == 0:
                    with once:
                        next(deeds)()
                found = scope.recall(f"tea {i % 3}")
                assert not found.problems
                assert [hit.content for hit in found.hits] == [f"I drink tea number {n}"]

        with caplog.at_level(logging.WARNING, "recollect"), ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(8)))
        memory.scope("ana").record("user", "I drink tea")
        assert [is_cached(memory) for _ in range(2)] == [False, True]
        assert caplog.text.count("Recall is not cached") == 1
        assert "Recall is cached again" in caplog.text
        memory.close()


def test_a_server_that_hangs_is_left_alone_after_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with Memory.open(tmp_path / "memory.db", embedder="hashing", redis=url) as memory:
            memory.scope("ana").record("user", "I drink green tea")
            begun = monotonic()
            for _ in range(20):
                assert not is_cached(memory)
            memory.scope("ana").forget(everything=True)
            assert monotonic() - begun < 12


@pytest.mark.usefixtures("tireless")
def test_a_full_server_answers_what_it_has_and_keeps_nothing_new(
    open_memory: OpenMemory, redis_server: redis.Server, redis_client: Any
) -> None:
    memory = open_memory(redis_server.url)
    memory.scope("ana").record("user", "I drink green tea")
    steps(memory)
    redis_client.config_set("maxmemory", 1)
    assert is_cached(memory)
    assert [is_cached(memory, "green") for _ in range(2)] == [False, False]
    redis_client.config_set("maxmemory", 0)
    assert [is_cached(memory, "green") for _ in range(2)] == [False, True]


@pytest.mark.usefixtures("tireless")
def test_rubbish_costs_nothing_but_the_time_saved(
    open_memory: OpenMemory, redis_server: redis.Server, redis_client: Any
) -> None:
    memory = open_memory(redis_server.url)
    memory.scope("ana").record("user", "I drink green tea")
    steps(memory)
    for key in redis_client.scan_iter():
        for field in redis_client.hkeys(key):
            redis_client.hset(key, field, b"\x00rubbish")
    assert not is_cached(memory)
    redis_client.flushall()
    redis_client.set("cache:ana:answers", b"rubbish")
    redis_client.rpush("cache:ana:vectors", b"rubbish")
    assert [is_cached(memory) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("url", ["http://u:hunter2@h", "redis://h?password=hunter2&foo=bar"])
def test_an_address_that_cannot_be_read_is_told(url: str) -> None:
    with pytest.raises(SettingsError) as told:
        RedisCache(url, timeout=TIMEOUT)
    assert "hunter2" not in str(told.value)


def test_an_address_does_not_change_how_values_are_read(
    redis_server: redis.Server, redis_client: Any
) -> None:
    cache = RedisCache(f"{redis_server.url}?decode_responses=true", timeout=TIMEOUT)
    cache.put(SHELF, b"n", b"\xff", SECONDS)
    assert cache.get(SHELF, b"n") == b"\xff"
    cache.close()
