"""A second process that records a turn whenever it is told to.

`python -m recollect.bench.second USER` reads the address of the database, which may hold a password and
therefore is no argument, and records a turn for each line after it.
"""

import subprocess
import sys
from types import TracebackType
from typing import Self

from recollect.bench.corpus import Corpus
from recollect.bench.subject import open_memory
from recollect.errors import RecollectError

_STREAM = 30_000_000
_TURNS = 64


class SecondProcess:
    """The process, seen from the first one."""

    def __init__(self, address: str, user: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect.bench.second", user],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._tell(address)

    def record(self) -> None:
        """Have one turn recorded; it is when this returns."""
        self._tell("record")
        taken = self._process.stdout
        assert taken is not None
        if taken.readline().strip() != "recorded":
            raise RecollectError("The second process of the benchmark failed; its error is above.")

    def _tell(self, line: str) -> None:
        given = self._process.stdin
        assert given is not None
        given.write(f"{line}\n")
        given.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def main(user: str) -> None:
    """Record a turn for each line that comes in, and say so."""
    messages = Corpus().rows(_TURNS, _STREAM).messages(prefix="second-")
    with open_memory(sys.stdin.readline().rstrip("\n")) as memory:
        scope = memory.scope(user)
        for number, _ in enumerate(sys.stdin):
            scope.record_many([messages[number % _TURNS]])
            print("recorded", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
