"""Milvus for the tests: Lite in this process, and a server of their own to be killed and started again."""

import fcntl
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from recollect.stores.milvus.collection import has_words
from recollect.stores.milvus.rows import NAMES, TIMES

START_SECONDS = 120.0
FIELDS = ["id", "user_id", "confidence", "vector", *NAMES, *TIMES]


def client(where: str) -> Any:
    """Looks into it from outside."""
    from pymilvus import MilvusClient

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return MilvusClient(uri=where, timeout=5)


def rows(looking: Any, epoch: str, number: int) -> dict[str, Any]:
    """Everything there is of a user, whatever was just written."""
    found = looking.query(
        epoch,
        filter=f"user_id == {number}",
        output_fields=[*FIELDS, "words"] if has_words(looking, epoch, timeout=5) else FIELDS,
        consistency_level="Strong",
        limit=16_000,
    )
    return {row["id"]: {**row, "vector": [round(float(part), 5) for part in row["vector"]]} for row in found}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """The package's server takes ports where it finds them free; which process it is, it tells."""

    _RUN = (
        "import sys; from milvus import MilvusServer, MilvusServerConfig as Config;"
        "server = MilvusServer(Config(data_dir=sys.argv[1], proxy_port=int(sys.argv[2])));"
        "server.wait_for_started = False; server.start();"
        "print(server.server_proc.pid, flush=True); server.server_proc.wait()"
    )

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("milvus", reason="there is no wheel of Milvus here")
        self._folder, self._port = folder, _free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", self._RUN, str(self._folder), str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._pid = int(self._process.stdout.readline())
        ends = monotonic() + START_SECONDS
        while monotonic() < ends:
            with suppress(Exception):
                looking = client(self.url)
                looking.list_collections(timeout=2)
                looking.close()
                return
        raise TimeoutError("Milvus did not start.")

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


@contextmanager
def own_server() -> Iterator[Server]:
    """One at a time on a machine: what it keeps its figures in takes a port that cannot be chosen."""
    temporary = Path(tempfile.gettempdir())
    with (temporary / "recollect-milvus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with tempfile.TemporaryDirectory(prefix="recollect-milvus-", ignore_cleanup_errors=True) as folder:
            server = Server(Path(folder))
            try:
                server.start()
                yield server
            finally:
                server.kill()
