"""Server processes: their socket, their limits, and how they end."""

import ipaddress
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import connection, current_process, get_context, parent_process
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

import uvicorn

from recollect import Memory, SettingsError
from recollect.lasting import rare_collections, steady_memory
from recollect.server import logs
from recollect.server.app import create_app, ends_soon
from recollect.server.identity.binding import check_bind, is_locked, keyless_upstream
from recollect.settings import Settings, load

log = logging.getLogger("recollect.server")

BACKLOG = 2048
"""How many connections the system keeps waiting; it may have a lower bound of its own."""
TICK = 0.3
"""Seconds after which the parent looks whether it was told to end, or a process is missing."""


REQUESTS = 0.8
"""The part of RECOLLECT_SHUTDOWN_SECONDS that requests have; what is left is for recording those that were
broken off, and for threads."""
CLOSING = 5.0
"""Seconds beyond them for writing down counts and letting go of the database."""


class Server(uvicorn.Server):
    """Ends by a signal once it has finished what it accepted; by a second one at once."""

    def __init__(self, config: uvicorn.Config, seconds: float) -> None:
        super().__init__(config)
        self._seconds = seconds
        self.ending = threading.Event()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT and parent_process() is not None:
            return  # Ctrl-C reaches all of them; the parent says when to end
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.ending.set()
        ends_soon(self.config.app, self._seconds)
        log.info("Ending: nothing new is accepted, what was accepted is finished.")
        await super().shutdown(sockets)


def listening(settings: Settings) -> socket.socket:
    """The socket at the server's address."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SettingsError(f"RECOLLECT_HOST: {settings.host!r} is no address ({error.strerror}).") from None
    family, _, _, _, address = found[0]
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise SettingsError(
            f"Nothing can listen at {settings.host}:{settings.port} ({error.strerror}): "
            "choose another with --port, or --port 0 for any that is free."
        ) from None
    return bound


def address(bound: socket.socket) -> str:
    """The base URL of a socket, as somebody on this machine calls it."""
    host, port = bound.getsockname()[:2]
    where = ipaddress.ip_address(host)
    if where.is_unspecified:  # listens everywhere; nobody can call that
        host = "::1" if where.version == 6 else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(memory: Memory) -> Server:
    """The server of this memory, to be run on a socket."""
    settings = memory.settings
    config = uvicorn.Config(
        create_app(memory, current_process().name if settings.processes > 1 else ""),
        http=_protocol(),
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        backlog=BACKLOG,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.shutdown_seconds * REQUESTS,  # pyright: ignore[reportArgumentType]
        limit_concurrency=settings.connections,
    )
    return Server(config, settings.shutdown_seconds)


def _protocol() -> Any:
    try:
        from recollect.server.protocol import Protocol
    except ImportError:  # a Python that httptools is not made for: slower, with limits of its own
        return "h11"
    return Protocol


def run(given: dict[str, Any], ready: Callable[[str, bool], None], *, new: bool = False) -> None:
    """Serve the memory that these settings open until a signal ends it; `ready` is told the address, and
    whether it asks for keys. A `new` one that is refused leaves no empty database behind."""
    settings = load(**given)
    logs.install(settings)
    with listening(settings) as bound:
        if new:
            check_bind(settings, None)
        if settings.processes == 1:
            _run(given, bound, lambda locked: ready(address(bound), locked))
            return
        with Memory.open(**given) as memory:  # what cannot be is told once, and the schema made once
            check_bind(settings, memory.store)
            locked = is_locked(settings, memory.store)
            _warn(memory)
        if not settings.redis:
            log.warning(
                "Each process has a working memory of its own and counts rates for itself: set "
                "RECOLLECT_REDIS for one of all."
            )
        ready(address(bound), locked)
        _supervise(lambda number: _child(number, given, bound), settings.processes)


def _warn(memory: Memory) -> None:
    if told := keyless_upstream(memory.settings, memory.store):
        log.warning("%s", told)


def _run(given: dict[str, Any], bound: socket.socket, ready: Callable[[bool], None]) -> None:
    steady_memory()
    with Memory.open(background=load(**given).server_tends, **given) as memory:
        check_bind(memory.settings, memory.store)
        serving = server(memory)
        if (parent := parent_process()) is not None:
            _ending_with(parent.sentinel, serving)
        else:
            _warn(memory)
        _ending_within(memory.settings.shutdown_seconds + CLOSING, serving)
        ready(is_locked(memory.settings, memory.store))
        rare_collections()
        serving.run([bound])
        if serving.force_exit:
            os._exit(1)


def _ending_within(seconds: float, serving: Server) -> None:
    """Have the process end so long after it was told to, whatever a thread still waits for: what was accepted
    is stored, and what was not can be sent again."""

    def wait() -> None:
        serving.ending.wait()
        time.sleep(seconds)
        log.warning("Ended with work undone that took longer than RECOLLECT_SHUTDOWN_SECONDS.")
        os._exit(0)

    threading.Thread(target=wait, name="recollect-ending", daemon=True).start()


# Several processes


def _child(number: int, given: dict[str, Any], bound: socket.socket) -> SpawnProcess:
    return get_context("spawn").Process(target=_served, args=(given, bound), name=f"{number}")


def _served(given: dict[str, Any], bound: socket.socket) -> None:
    """What a process does that shares the address with others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logs.install(load(**given))
    _run(given, bound, lambda locked: None)


def _ending_with(sentinel: int, serving: Server) -> None:
    """Have the server end when its parent is gone, by whatever means."""

    def wait() -> None:
        connection.wait([sentinel])
        serving.should_exit = True

    threading.Thread(target=wait, name="recollect-parent", daemon=True).start()


def _supervise(child: Callable[[int], SpawnProcess], processes: int) -> None:
    """Keep so many processes running until a signal comes, which they are told, as often as it comes."""
    signals: list[int] = []
    running: dict[int, SpawnProcess] = {}
    told = 0
    with ExitStack() as stack:
        for sig in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, sig, signal.signal(sig, lambda sig, frame: signals.append(sig)))
        while not signals or any(process.is_alive() for process in running.values()):
            for number in range(processes if not signals else 0):
                if number in running and running[number].is_alive():
                    continue
                if number in running:
                    code = running[number].exitcode
                    log.error("A server process ended (%s) and is started again.", code)
                running[number] = child(number)
                running[number].start()
            alive = [process for process in running.values() if process.is_alive()]
            if len(signals) > told:
                told = len(signals)
                for process in alive:
                    process.terminate()
            connection.wait([process.sentinel for process in alive], timeout=TICK)
