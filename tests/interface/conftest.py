"""A server for the commands on PostgreSQL, and a clock that nobody waits for."""

from collections.abc import Iterator

import pytest


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
