"""The server over real connections: as `recollect serve` runs it, but in a thread; or that command itself."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI

from recollect import Memory
from recollect.ports.keys import KeyRole
from recollect.server import running
from recollect.server.identity.issuing import Issued, issue

ENDS_WITHIN = 60
"""Seconds; a server that does not end fails its test."""
WAIT = 60.0
"""Seconds after which a client gives up: the server may still be starting."""

get = partial(httpx.get, timeout=WAIT)
post = partial(httpx.post, timeout=WAIT)


@dataclass
class Served:
    """A server for a memory, and those who call it."""

    memory: Memory
    app: FastAPI
    url: str
    closing: ExitStack

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def issue(self, role: str = "user", owner: str | None = None, **more: Any) -> Issued:
        return issue(self.memory.store, self.memory.clock, KeyRole(role), owner=owner, **more)

    def client(self, key: str | None = None, **headers: Any) -> httpx.Client:
        """One that sends this key, closed with the server."""
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        given = httpx.Client(base_url=self.url, headers={**bearer, **headers}, timeout=WAIT)
        return self.closing.enter_context(given)

    def of(self, user: str) -> httpx.Client:
        """The client of a user with a key of their own."""
        return self.client(self.issue(owner=user).key, **{"X-Recollect-User": user})

    def admin(self) -> httpx.Client:
        return self.client(self.issue("admin").key)


@contextmanager
def served(memory: Memory, *routers: APIRouter, keyed: bool = True, http: Any = None) -> Iterator[Served]:
    """A server for this memory; `keyed`: there is a key, so that keys are asked for."""
    if keyed:
        issue(memory.store, memory.clock, KeyRole.ADMIN, name="first")
    server = running.server(memory)
    server.config.http = http or server.config.http
    app: Any = server.config.app
    with _run(memory, server, *routers) as url, ExitStack() as closing:
        yield Served(memory, app, url, closing)


@contextmanager
def in_file(path: Path, *, keyed: bool = True, **settings: Any) -> Iterator[Served]:
    """A server for a memory of its own, without a model, that nobody asks too often."""
    with (
        Memory.open(path, embedder="hashing", rate_limit=0, **settings) as memory,
        served(memory, keyed=keyed) as server,
    ):
        yield server


@contextmanager
def serve(memory: Memory, *routers: APIRouter) -> Iterator[str]:
    """The address of a server for this memory, with further routes."""
    with _run(memory, running.server(memory), *routers) as url:
        yield url


@contextmanager
def _run(memory: Memory, server: running.Server, *routers: APIRouter) -> Iterator[str]:
    """Run it until it ends as after a signal; the memory stays open."""
    socket = running.listening(replace(memory.settings, host="127.0.0.1", port=0))
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
