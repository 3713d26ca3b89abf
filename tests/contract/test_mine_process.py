"""Mining by processes that are killed, and by several at once, on SQLite and PostgreSQL."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.model.records import Turn
from recollect.ports.clock import SystemClock
from tests.contract.children import child, output
from tests.contract.mining import TALKS, assert_whole, everything, killed, opened, recorded, said

pytestmark = pytest.mark.slow

ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.engine)]


@pytest.fixture(params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    return str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("empty")


@pytest.fixture
def memory(address: str) -> Iterator[Memory]:
    with opened(address) as memory:
        recorded(memory)
        yield memory


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, dict[str, Any]]:
    """What comes out when nothing happens, with and without the numbers in the palace."""
    with opened(tmp_path_factory.mktemp("undisturbed") / "memory.db") as memory:
        recorded(memory)
        memory.scope("alice").mine()
        assert_whole(memory)
        return {places: everything(memory, places=places) for places in (True, False)}


@pytest.mark.parametrize("seed", range(2))
def test_what_a_killed_process_left_is_mined_exactly_once(
    memory: Memory, address: str, seed: int, undisturbed: dict[bool, dict[str, Any]]
) -> None:
    chance = random.Random(seed)
    for _ in range(5):
        killed("mine", address, chance)
    output("mine", address)
    assert_whole(memory)
    assert everything(memory) == undisturbed[True]
    assert output("mine", address) == ["begun"]
    assert everything(memory) == undisturbed[True]


class Later(SystemClock):
    """When every lease has run out."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=1)


def test_the_lease_of_a_killed_background_runs_out(
    memory: Memory, address: str, undisturbed: dict[bool, dict[str, Any]]
) -> None:
    process = child("tend", address)
    assert process.stdout is not None
    while not (line := process.stdout.readline()).startswith("mine"):
        assert line, "it ended before"
    process.kill()
    process.communicate()
    with opened(address, clock=Later()) as later:
        later.tend()
        assert later.scope("alice").mine() == []
        assert_whole(later)
        assert everything(later) == undisturbed[True]


def test_two_processes_mine_what_one_would(
    memory: Memory, address: str, undisturbed: dict[bool, dict[str, Any]]
) -> None:
    processes = [child("mine", address, "3") for _ in range(2)]
    for process in processes:
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 0, errors
    output("mine", address)
    assert_whole(memory)
    assert everything(memory, places=False) == undisturbed[False]


def test_recording_goes_on_while_two_processes_mine(memory: Memory, address: str) -> None:
    count = 60
    processes = [child("talk", address, str(count)), *(child("mine", address, "10") for _ in range(2))]
    for process in processes:
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 0, errors
    output("mine", address)
    turns = [turn.content for turn in memory.store.user("alice").find(Turn)]
    told = [text for talk in range(TALKS) for text in said(talk)]
    assert sorted(turns) == sorted([*told, *(f"I have {n + 2} kites." for n in range(count))])
    assert_whole(memory)
    assert all(row[1:] == (row[2], row[2], None) for row in everything(memory)["watermarks"])
