"""A server on a database of its own, with keys for everybody, for tests of who may do what."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from recollect import Memory
from recollect.ports.clock import Clock, SystemClock
from tests.interface.serving import Served, served

WAIT = 60.0
"""Seconds after which a test gives up."""


@contextmanager
def guarded(
    folder: Path, clock: Clock | None = None, http: str = "httptools", *, keyed: bool = True, **settings: Any
) -> Iterator[Served]:
    database = folder / "memory.db"
    with (
        Memory.open(database, embedder="hashing", clock=clock or SystemClock(), **settings) as memory,
        served(memory, keyed=keyed, http=http) as server,
    ):
        yield server


def raw(server: Served, *parts: bytes) -> tuple[int, dict[str, str], bytes]:
    """What comes back for bytes that no client would send: status, headers, body."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT) as connection:
        for part in parts:
            connection.sendall(part)
        received = b""
        while chunk := _received(connection):
            received += chunk
            head, end, body = received.partition(b"\r\n\r\n")
            if end and len(body) >= _length(head):
                break
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    return int(first.split()[1]), headers, body[: int(headers.get("content-length", len(body)))]


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""


def _length(head: bytes) -> float:
    lines = head.lower().split(b"\r\n")
    return next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), float("inf"))


def remembered(client: httpx.Client, content: str, **params: Any) -> str:
    """The id of a memory that is now stored."""
    answered = client.post("/api/v1/memories", json={"items": [{"content": content}]}, params=params)
    assert answered.status_code == 201, answered.text
    return answered.json()["memories"][0]["id"]


def problem(answered: httpx.Response, status: int) -> str:
    """What a refusal says; every one has the same shape."""
    assert answered.status_code == status, answered.text
    assert answered.headers["content-type"] == "application/problem+json"
    told = json.loads(answered.text)
    assert told["status"] == status
    assert told["title"]
    return told["detail"]
