"""A second process that tends a day whenever it is told to, by a clock of its own.

`python -m recollect.bench.tending.beside` reads the address of the database, which may hold a password and
therefore is no argument, and the time; then a line for each day. It ends with its input.
"""

import subprocess
import sys
import threading
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from recollect import Memory
from recollect.bench.quality.ingest import SetClock
from recollect.errors import RecollectError

BEGUN, OVER = "begun", "over"


class TendingProcess:
    """The process, seen from the first one."""

    def __init__(self, address: str, at: datetime) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect.bench.tending.beside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._send(f"{address}\n{at.isoformat()}")
        self._wait_for(BEGUN)

    def day(self) -> threading.Thread:
        """Have it tend for a day; alive until that is over."""
        self._send("")
        waiting = threading.Thread(target=self._wait_for, args=(OVER,), daemon=True)
        waiting.start()
        return waiting

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def _wait_for(self, word: str) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != word:
            raise RecollectError("The second process of the benchmark failed; its error is above.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def main() -> None:
    """Tend a day for each line, until the input ends."""
    address, at = sys.stdin.readline().rstrip("\n"), sys.stdin.readline().strip()
    clock = SetClock(datetime.fromisoformat(at))
    with Memory.open(address, embedder="hashing", miner="rules", clock=clock) as memory:
        print(BEGUN, flush=True)
        for _ in sys.stdin:
            clock.at += timedelta(days=1)
            memory.tend()
            print(OVER, flush=True)


if __name__ == "__main__":
    main()
