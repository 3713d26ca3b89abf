"""A Milvus server that is killed while it is written to and searched."""

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("pymilvus", reason="the client is an extra")

from recollect import Memory, ScopedMemory
from recollect.tend.projecting import project
from recollect.testing.store_samples import ManualClock
from tests.contract import milvus

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1200)]

PATIENCE = 240.0
"""Seconds that a server has to come back in, on a machine that has much else to do."""


@pytest.fixture(scope="module")
def server() -> Iterator[milvus.Server]:
    with milvus.own_server() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def given(server: milvus.Server, tmp_path: Path, clock: ManualClock) -> dict[str, Any]:
    beside = {"milvus": server.url, "milvus_over": 10, "milvus_timeout": 30.0}
    return {"db": tmp_path / "memory.db", "embedder": "hashing", "clock": clock, **beside}


def say(scope: ScopedMemory, first: int, last: int) -> None:
    for number in range(first, last):
        scope.record("user", f"I keep thing {number} in box {number * 7}.")


def found_in_both(memory: Memory, plain: Memory) -> bool:
    """Whether Milvus was asked, and the same was found as without it."""
    found = [opened.scope("derek").recall("thing 17 in box 119") for opened in (memory, plain)]
    assert [hit.id for hit in found[0].hits] == [hit.id for hit in found[1].hits]
    return found[0].problems == ()


def caught_up(given: dict[str, Any], clock: ManualClock) -> bool:
    """Whether a process that begins now brings it up to date and is answered by it."""
    with Memory.open(**given) as memory, Memory.open(**{**given, "milvus": ""}) as plain:
        if project(memory._tender(), lambda: True)[1] is not None:
            return False
        clock.advance(minutes=1)
        return found_in_both(memory, plain)


def test_a_killed_server_fails_no_recall_and_what_it_missed_is_brought_to_it(
    server: milvus.Server, given: dict[str, Any], clock: ManualClock
) -> None:
    with Memory.open(**given) as memory, Memory.open(**{**given, "milvus": ""}) as plain:
        derek, over = memory.scope("derek", conversation="c"), threading.Event()
        say(derek, 0, 40)
        assert project(memory._tender(), lambda: True)[1] is None
        clock.advance(minutes=1)
        assert found_in_both(memory, plain)
        epoch = memory._projections[0].epoch()
        failures: list[Exception] = []

        def going_on(step: Any) -> None:
            try:
                while not over.is_set():
                    step()
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not be
                failures.append(error)

        numbers = iter(range(40, 10_000))
        steps = (
            lambda: derek.recall("thing 17 in box 119"),
            lambda: say(derek, number := next(numbers), number + 1),
            lambda: project(memory._tender(), lambda: True),
        )
        threads = [threading.Thread(target=going_on, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        try:
            while next(numbers) < 60:
                derek.recall("box")
            server.kill()
            for _ in range(10):
                assert derek.recall("thing 17 in box 119").hits
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert failures == []
        server.start()

    ends = monotonic() + PATIENCE
    while not caught_up(given, clock):
        assert monotonic() < ends, "It was not brought up to date, or not searched again."
    with Memory.open(**given) as memory:
        (index,), looking = memory._projections, milvus.client(server.url)
        reach = memory.store.user("derek").reach("milvus", None, clock.now(), index.settles)
        assert reach is not None
        assert reach.epoch == epoch
        assert memory.store.users_behind("milvus", epoch, "", 1) == []
        assert len(milvus.rows(looking, epoch, reach.number)) == reach.documents
        looking.close()
