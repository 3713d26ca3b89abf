"""A server for the commands on PostgreSQL, one for REST, and a clock that nobody waits for."""

import itertools
import logging
from collections.abc import Callable, Iterator

import httpx
import pytest

from recollect.server.logs import Json, Text
from tests.interface import serving
from tests.interface.serving import Served


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server."""
    from tests.contract.postgres import started

    with started() as address:
        yield address


@pytest.fixture
def waits() -> list[float]:
    """What a client would have slept."""
    return []


_NAMES = (f"user {number}" for number in itertools.count(1))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for a memory."""
    with serving.in_file(tmp_path_factory.mktemp("served") / "memory.db") as server:
        yield server


@pytest.fixture
def somebody(served: Served) -> Callable[[], httpx.Client]:
    """A client of a new user."""
    return lambda: served.of(next(_NAMES))


@pytest.fixture
def me(somebody: Callable[[], httpx.Client]) -> httpx.Client:
    """A client of a user of whom nothing is known."""
    return somebody()


@pytest.fixture(autouse=True)
def _own_log() -> Iterator[None]:
    """A server that a command starts in this process logs to a stream that is closed after its test."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    root.handlers[:] = [one for one in root.handlers if not isinstance(one.formatter, (Text, Json))]
