"""A server process: its socket, its limits, and how it ends."""

import ipaddress
import os
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from recollect import Memory, SettingsError
from recollect.server.app import create_app
from recollect.server.identity.binding import check_bind
from recollect.settings import Settings

BACKLOG = 2048
"""How many connections the system keeps waiting; it may have a lower bound of its own."""


class Server(uvicorn.Server):
    """Ends by a signal once it has finished what it accepted; by a second one at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


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
        create_app(memory),
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        backlog=BACKLOG,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.shutdown_seconds,  # pyright: ignore[reportArgumentType]
        limit_concurrency=settings.connections,
    )
    return Server(config)


def run(given: dict[str, Any], bound: socket.socket, ready: Callable[[Memory], None]) -> None:
    """Serve the memory that these settings open until a signal ends it."""
    with Memory.open(background=True, **given) as memory:
        check_bind(memory.settings, memory.store)
        ready(memory)
        serving = server(memory)
        serving.run([bound])
        if serving.force_exit:
            os._exit(1)
