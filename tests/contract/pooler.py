"""A pooler as pgbouncer is in transaction mode: a client has a connection of the server's from the first
message of a transaction to its end, and the next one may be another. As pgbouncer does, it refuses settings
that come with the connection, and knows nothing of what was prepared on which."""

import queue
import select
import socket
import struct
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from sqlalchemy import make_url

SSL, GSS = 80877103, 80877104


class Pooler:
    """Before one database; clients share `size` connections."""

    def __init__(self, database: str, size: int) -> None:
        url = make_url(database)
        self._target = f"{url.query['host']}/.s.PGSQL.5432"
        self._startup = _packet({"user": url.username or "postgres", "database": url.database or ""})
        self._free: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._greeting = b""
        for _ in range(size):
            self._free.put(self._connected())
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-pooler-")
        path = f"{self._folder.name}/.s.PGSQL.5432"
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        self._listening.listen(64)
        self.address = url.update_query_dict({"host": str(Path(path).parent)}).render_as_string(
            hide_password=False
        )
        self.transactions = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()
        with suppress(queue.Empty):
            while True:
                self._free.get_nowait().close()
        self._folder.cleanup()

    def _connected(self) -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._target)
        server.sendall(self._startup)
        greeting = b""
        while True:
            kind, message = _message(server)
            greeting += message
            if kind == b"Z":
                self._greeting = greeting
                return server

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if not self._greeted(client):
                return
            while True:
                kind, message = _message(client)
                if kind == b"X":
                    return
                server = self._free.get()
                try:
                    server = self._living(server)
                    server.sendall(message)
                    self._transaction(client, server)
                except OSError:
                    server.close()  # nobody can go on with a transaction that is half done
                    raise
                finally:
                    self.transactions += 1
                    self._free.put(server)

    def _living(self, server: socket.socket) -> socket.socket:
        """The connection, or another, should it have ended: clients need not know."""
        if server.fileno() >= 0 and not select.select([server], [], [], 0)[0]:
            return server
        server.close()
        return self._connected()

    def _transaction(self, client: socket.socket, server: socket.socket) -> None:
        """Until the server says that none is open."""
        while True:
            for ready in select.select([client, server], [], [])[0]:
                kind, message = _message(ready)
                (server if ready is client else client).sendall(message)
                if ready is server and kind == b"Z" and message[-1:] == b"I":
                    return

    def _greeted(self, client: socket.socket) -> bool:
        while True:
            (length,) = struct.unpack("!i", _exactly(client, 4))
            startup = _exactly(client, length - 4)
            if struct.unpack("!i", startup[:4])[0] not in (SSL, GSS):
                break
            client.sendall(b"N")
        names = startup[4:].rstrip(b"\0").split(b"\0")[::2]
        if b"options" in names:
            fields = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
            client.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)
            return False
        client.sendall(self._greeting)
        return True


def _packet(parameters: dict[str, str]) -> bytes:
    body = struct.pack("!i", 196608)
    body += b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    kind, head = _exactly(source, 1), _exactly(source, 4)
    return kind, kind + head + _exactly(source, struct.unpack("!i", head)[0] - 4)


def _exactly(source: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = source.recv(size - len(parts))
        if not part:
            raise ConnectionError
        parts += part
    return parts
