"""A server for the commands on PostgreSQL, one for REST, and a clock that nobody waits for."""

import itertools
from collections.abc import Callable, Iterator

import httpx
import pytest

from recollect import Memory


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
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, str]]:
    """A memory, and the address of a server for it."""
    from tests.interface.rest_server import serve

    path = tmp_path_factory.mktemp("served") / "memory.db"
    with Memory.open(path, embedder="hashing", rate_limit=0) as memory, serve(memory) as url:
        yield memory, url


@pytest.fixture
def somebody(served: tuple[Memory, str]) -> Iterator[Callable[..., httpx.Client]]:
    """A client of a new user; with `user`, of that one."""
    from tests.interface.rest_server import client

    opened: list[httpx.Client] = []

    def new(user: str | None = None, **headers: str) -> httpx.Client:
        opened.append(client(served[1], user or next(_NAMES), **headers))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


@pytest.fixture
def me(somebody: Callable[..., httpx.Client]) -> httpx.Client:
    """A client of a user of whom nothing is known."""
    return somebody()
