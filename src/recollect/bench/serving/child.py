"""A process that serves something until whoever started it is done, or gone."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recollect.bench.measure import MiB
from recollect.errors import RecollectError

END_SECONDS = 30.0
"""How long it may take to end by itself."""


class Child:
    """`python -m module`, seen from outside; `url` is where it answers. It is told what it needs by a line of
    JSON on its input: there may be a password in it."""

    def __init__(self, module: str, given: Mapping[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"recollect.bench.serving.{module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(given)}\n")
        self._process.stdin.flush()
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self._end()
            raise RecollectError(f"The benchmark's {module} could not be started; its error is above.")

    def rss_mb(self) -> float:
        """What it holds in memory now; 0 where the system does not say."""
        statm = Path(f"/proc/{self._process.pid}/statm")
        with suppress(OSError):
            return round(int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MiB, 2)
        return 0.0

    def cpu_seconds(self) -> float:
        """The processor time it has used; 0 where the system does not say."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _end(self) -> None:
        try:
            self._process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def told() -> dict[str, Any]:
    """What this process was told; from now on it ends, as by a signal, when its input does."""
    given = json.loads(sys.stdin.readline())

    def wait() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    return given


def ready(url: str) -> None:
    print(url, flush=True)
