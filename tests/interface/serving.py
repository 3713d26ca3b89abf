"""The server over real connections: as `recollect serve` runs it, but in a thread; or that command itself."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from recollect import Memory
from recollect.server import running

ENDS_WITHIN = 60
"""Seconds; a server that does not end fails its test."""


@contextmanager
def serve(memory: Memory, *routers: APIRouter) -> Iterator[str]:
    """The address of a server for this memory, with further routes; it ends as after a signal, and the memory
    stays open."""
    socket = running.listening(replace(memory.settings, host="127.0.0.1", port=0))
    server = running.server(memory)
    for router in routers:
        server.config.app.include_router(router)  # type: ignore[union-attr]
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.run([socket])
        except BaseException as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    thread = threading.Thread(target=run, name="served")
    thread.start()  # whoever connects before it is ready waits: the socket listens already
    try:
        yield running.address(socket)
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
    if failed:
        raise failed[0]


class Process:
    """`recollect serve` as a process of its own; its log goes to a file."""

    def __init__(self, log: Path, *arguments: str, **settings: Any) -> None:
        given = {f"RECOLLECT_{name.upper()}": str(value) for name, value in settings.items()}
        command = [sys.executable, "-m", "recollect", "serve", "--json", *arguments]
        self.log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_PORT": "0", **given},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.told: dict[str, str] = json.loads(line) if line else {}

    @property
    def url(self) -> str:
        """Where it is; it says so before it is ready, and whoever connects waits."""
        assert self.told, self.log.read_text()
        return self.told["address"]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def signal(self, sig: int = signal.SIGTERM) -> None:
        self._process.send_signal(sig)

    def wait(self) -> int:
        """The exit code, once it has ended."""
        try:
            return self._process.wait(ENDS_WITHIN)
        finally:
            self.close()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def started(log: Path, *arguments: str, **settings: Any) -> Iterator[Process]:
    process = Process(log, *arguments, **settings)
    try:
        yield process
    finally:
        process.close()
