"""Rates that several servers count together in Redis, and each for itself while it is away."""

import asyncio
import logging
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("redis", reason="the client is an extra")
pytest.importorskip("fastapi", reason="the server is an extra")

from recollect.server.limiting import Rate, Taken
from recollect.stores.redis.buckets import RedisBuckets
from tests.contract import redis
from tests.interface.guarded import guarded

pytestmark = pytest.mark.engine

TIMEOUT = 30.0


@pytest.fixture
def buckets(redis_server: redis.Server, redis_client: Any) -> Iterator[RedisBuckets]:
    buckets = RedisBuckets(redis_server.url, timeout=TIMEOUT)
    yield buckets
    buckets.close()


def take(rate: Rate, who: str = "ana") -> Taken:
    taken = asyncio.run(rate.take(who))
    assert taken is not None
    return taken


def pass_time(client: Any, seconds: float) -> None:
    """What is counted was counted so much earlier."""
    for key in client.scan_iter():
        client.hset(key, "at", float(client.hget(key, "at")) - seconds)


def stop_time(client: Any) -> None:
    """What is counted was counted so much later that whatever passes until the next request is nothing."""
    for key in client.scan_iter("rate:*"):
        client.hset(key, "at", float(client.hget(key, "at")) + 3600)
        client.persist(key)


def test_two_servers_hold_a_caller_to_one_rate(
    buckets: RedisBuckets, redis_server: redis.Server, redis_client: Any
) -> None:
    other = RedisBuckets(redis_server.url, timeout=TIMEOUT)
    one, two = Rate(6, buckets), Rate(6, other)

    def at_once(rate: Rate, who: str = "ana") -> Taken:
        stop_time(redis_client)
        return take(rate, who)

    taken = [at_once(rate) for _ in range(3) for rate in (one, two)]
    assert [one.left for one in taken] == [5, 4, 3, 2, 1, 0]
    assert not any(one.wait for one in taken)
    late = at_once(one)
    assert late.left == 0
    assert late.wait == pytest.approx(10)  # a sixth of a minute for each
    assert not at_once(two, "ben").wait
    assert at_once(two).wait
    pass_time(redis_client, 10)
    assert not take(two).wait
    assert at_once(one).wait
    other.close()


@pytest.mark.parametrize("seed", range(3))
def test_the_server_counts_as_a_process_does(buckets: RedisBuckets, redis_client: Any, seed: int) -> None:
    dice, passed, now = random.Random(seed), 0.0, 0.0
    together, alone = Rate(6, buckets), Rate(6, now=lambda: now)
    for _ in range(200):
        if dice.random() < 0.2:
            jump = dice.choice((5.0, 15.0, 30.0, 500.0))
            passed += jump
            pass_time(redis_client, jump)
        one = take(together)
        (key,) = redis_client.scan_iter()
        now = passed + float(redis_client.hget(key, "at"))  # both count at the same moment
        other = take(alone)
        assert abs(one.left - other.left) <= 1
        assert abs(one.reset - other.reset) <= 1
        assert one.wait == pytest.approx(other.wait, abs=0.01)


def test_keys_expire_and_tell_of_nobody(buckets: RedisBuckets, redis_client: Any) -> None:
    rate, begun = Rate(60, buckets), monotonic()
    for _ in range(30):
        take(rate, "192.0.2.7")
    (key,) = redis_client.scan_iter()
    assert key.startswith(b"rate:")
    assert b"192.0.2" not in key
    left = redis_client.pttl(key)  # half a minute's requests drain in half a minute
    assert 30_000 - 1000 * (monotonic() - begun) <= left <= 32_000


@pytest.mark.usefixtures("tireless")
def test_rubbish_is_counted_anew_or_beside(buckets: RedisBuckets, redis_client: Any) -> None:
    rate = Rate(3, buckets)
    take(rate)
    (key,) = redis_client.scan_iter()
    redis_client.hset(key, mapping={"used": "x", "at": "y"})
    assert take(rate).left == 2
    redis_client.hset(key, "at", 1e12)
    assert take(rate).left == 1
    redis_client.set(key, "mine")
    assert [take(rate).left for _ in range(2)] == [2, 1]  # by this process


@pytest.mark.usefixtures("tireless")
def test_each_counts_for_itself_while_it_is_away(caplog: pytest.LogCaptureFixture) -> None:
    with redis.own_server() as redis_server:
        buckets = RedisBuckets(redis_server.url, timeout=TIMEOUT)
        rate = Rate(3, buckets)
        take(rate)
        redis_server.kill()
        with caplog.at_level(logging.WARNING, "recollect"):
            assert [take(rate).left for _ in range(3)] == [2, 1, 0]
            assert take(rate).wait
            assert caplog.text.count("Each server counts requests for itself") == 1
            redis_server.start()
            assert not take(rate).wait
            assert "counted together again" in caplog.text
        buckets.close()


def test_one_that_hangs_holds_up_no_other_request() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        buckets = RedisBuckets(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", timeout=0.5)
        rate = Rate(1000, buckets)

        async def ask() -> int:
            asked = [asyncio.create_task(rate.take(str(n))) for n in range(4)]
            turns = 0
            while not all(one.done() for one in asked):
                await asyncio.sleep(0)
                turns += 1
            assert all(one.result() for one in asked)
            return turns

        assert asyncio.run(ask()) > 100  # the loop goes on meanwhile
        begun = monotonic()
        for _ in range(20):
            take(rate)
        assert monotonic() - begun < 8  # half a second each, were it not left alone
        buckets.close()


def test_servers_share_the_limit_of_a_key_and_of_an_address(
    tmp_path: Path, redis_server: redis.Server, redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.wiring.IMPATIENT", TIMEOUT)
    with ExitStack() as stack:
        given: dict[str, Any] = {"rate_limit": 4, "redis": redis_server.url, "redis_timeout": TIMEOUT}
        one, two = (stack.enter_context(guarded(tmp_path, **given)) for _ in range(2))
        key = one.issue(owner="ana").key
        status = _statuses(redis_client, [one.client(key), two.client(key)])
        assert status(6) == [200, 200, 200, 200, 429, 429]
        guess = "rk_u_" + "1" * 43
        status = _statuses(redis_client, [one.client(guess), two.client(guess)])
        assert status(6) == [401, 401, 401, 401, 429, 429]


def _statuses(server: Any, clients: list[Any]) -> Callable[[int], list[int]]:
    """Of so many requests at once, by each of the clients in turn."""

    def asked(n: int) -> int:
        stop_time(server)
        return clients[n % len(clients)].get("/api/v1/whoami").status_code

    return lambda times: [asked(n) for n in range(times)]
