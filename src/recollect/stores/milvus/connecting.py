"""How Milvus is reached: a server by its address, or Milvus Lite by the folder that it keeps its files in."""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect.errors import ProjectionError, SettingsError

SERVERS = ("http", "https", "tcp", "unix")
LONGEST = 300
"""How much of what the client says is passed on."""
LITE = threading.Lock()
"""Milvus Lite runs in this process, and loses what two threads write at once."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where Milvus is, and that place as it may be shown: without a password."""

    uri: str
    shown: str
    lite: bool


def address(given: str) -> Address:
    scheme, separator, _ = given.partition("://")
    if separator:
        if scheme not in SERVERS:
            raise SettingsError(
                f"RECOLLECT_MILVUS begins with {scheme}://, but is http://host:19530, https://… or a path."
            )
        try:
            parts = urlsplit(given)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:  # which quotes what may be a part of the password
            raise SettingsError(
                "RECOLLECT_MILVUS cannot be read: give http://host:19530, and what it lets us in by as "
                "RECOLLECT_MILVUS_TOKEN."
            ) from None
        return Address(given, f"{scheme}://{parts.hostname or parts.path}{port}", lite=False)
    path = Path(given).expanduser()
    if path.suffix != ".db":  # the client tells Milvus Lite from a server by this
        raise SettingsError(
            f"RECOLLECT_MILVUS is {given!r}: give http://host:19530 of a server, or a path that ends in .db "
            "for Milvus Lite."
        )
    return Address(str(path), str(path), lite=True)


class Connection:
    """The client, made when it is first needed. Those who need it at once wait for one another, and no longer
    than for an answer."""

    def __init__(self, where: Address, token: str, timeout: float) -> None:
        self._where, self._token, self._timeout = where, token, timeout
        self._lock = threading.Lock()
        self._client: Any = None

    @contextmanager
    def client(self) -> Generator[Any]:
        if self._where.lite:
            with LITE:
                yield self._made()
        else:
            yield self._made()

    def _made(self) -> Any:
        if self._client is None:
            if not self._lock.acquire(timeout=self._timeout):
                raise ProjectionError(f"Milvus at {self._where.shown} does not answer.")
            try:
                if self._client is None:
                    self._client = self._connected()
            finally:
                self._lock.release()
        return self._client

    def _connected(self) -> Any:
        from pymilvus import MilvusClient  # pyright: ignore[reportMissingTypeStubs]

        # What fails is told in our words, once; its own would come with a stack for every attempt.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        if self._where.lite:
            logging.getLogger("grpc._server").setLevel(
                logging.CRITICAL
            )  # it lacks what the client asks first
            Path(self._where.uri).parent.mkdir(parents=True, exist_ok=True)
        client: Any = MilvusClient(uri=self._where.uri, token=self._token, timeout=self._timeout)
        if self._where.lite:  # a server remembers what is loaded; Lite does not, from one process to the next
            for name in client.list_collections(timeout=self._timeout):
                client.load_collection(name, timeout=self._timeout)
        return client

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def reason(error: Exception) -> str:
    """What the client says of a failure, on one line."""
    said = " ".join(str(getattr(error, "message", "") or error).split())
    return said[:LONGEST].rstrip(".") or type(error).__name__
