"""A second process that tends, day after day by a clock of its own, until it is told to stop.

`python -m recollect.bench.tending.beside` reads the address of the database, which may hold a password and
therefore is no argument, and the time; it ends with its input.
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


class TendingProcess:
    """The process, seen from the first one. It tends when this is entered."""

    def __init__(self, address: str, at: datetime) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect.bench.tending.beside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{address}\n{at.isoformat()}\n")
        self._process.stdin.flush()
        if self._process.stdout.readline().strip() != "begun":
            raise RecollectError("The second process of the benchmark failed; its error is above.")

    def stop(self) -> int:
        """How many days it has tended."""
        days, _ = self._process.communicate()
        return int(days or 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.communicate()


def main() -> None:
    """Tend until the input ends."""
    address, at = sys.stdin.readline().rstrip("\n"), sys.stdin.readline().strip()
    clock, stopped = SetClock(datetime.fromisoformat(at)), threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=wait, daemon=True).start()
    days = 0
    with Memory.open(address, embedder="hashing", miner="rules", clock=clock) as memory:
        print("begun", flush=True)
        while not stopped.is_set():
            clock.at += timedelta(days=1)
            memory.tend()
            days += 1
    print(days, flush=True)


if __name__ == "__main__":
    main()
