"""The line to a server: it does not wait for ever for one that has fallen silent.

The server ends a statement that takes too long, and the system notices a machine that is gone. Neither
helps when the machine is there and the server, or something between, says nothing any more.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg

from recollect.stores.postgres.failures import NoAnswer


class Line(psycopg.Connection[Any]):
    """A connection that is given up after `silence` seconds without a byte; None: never."""

    silence: float | None = None

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        return super().wait(gen if self.silence is None else _heard(self, gen), *args, **kwargs)


def _heard(line: Line, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """What the driver waits with, as long as something happens now and then."""
    last = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            now = time.monotonic()
            if ready:
                last = now
            elif line.silence is not None and now - last > line.silence:
                line.close()
                raise NoAnswer(f"no answer for {line.silence:g} s")
            wanted = gen.send(ready)
    except StopIteration as ended:
        return ended.value
