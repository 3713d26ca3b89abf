"""Stands between a client and its server, and cuts the line at a chosen moment, or lets nothing through."""

import select
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from sqlalchemy import make_url

_NAME = ".s.PGSQL.5432"


class Proxy:
    """Passes everything on, until it is told when to cut."""

    def __init__(self, url: str) -> None:
        server = make_url(url)
        self._server = Path(str(server.query["host"])) / _NAME
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-")
        self.url = server.update_query_dict({"host": self._folder.name}).render_as_string(False)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self._folder.name) / _NAME))
        self._listener.listen(64)
        self._cuts: list[tuple[bytes, str]] = []
        self.cut = 0
        self._left_open: list[socket.socket] = []
        self.swallows = threading.Event()
        """While it is set, all that comes from either side is taken, and goes nowhere."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, words: bytes, when: str, times: int = 1) -> None:
        """Cut the next so many lines that carry these words: `before` the server gets them, `after` it
        has answered them, or while it still works, leaving it to notice (`silently`); or `swallow` them, and
        all that comes after, on every line."""
        self._cuts += [(words, when)] * times

    def close(self) -> None:
        self._listener.close()
        for line in self._left_open:
            line.close()
        self._folder.cleanup()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        ends = [client, server]
        with client, server, suppress(OSError):  # one whose end was not passed on may be gone by now
            while ends:
                ready, _, _ = select.select(ends, [], [])
                for end in ready:
                    data = end.recv(1 << 16)
                    if not data and self.swallows.is_set():
                        ends.remove(end)  # nor does the other end learn that this one has gone
                        continue
                    if not data or (end is client and self._is_cut(data, server)):
                        return
                    if not self.swallows.is_set():
                        (server if end is client else client).sendall(data)

    def _is_cut(self, data: bytes, server: socket.socket) -> bool:
        for cut in self._cuts:
            words, when = cut
            if words in data:
                self._cuts.remove(cut)
                self.cut += 1
                if when == "swallow":
                    self.swallows.set()
                    return False
                if when == "after":
                    server.sendall(data)
                    server.recv(1 << 16)
                elif when == "silently":  # the server believes that we are still there
                    self._left_open.append(server.dup())
                return True
        return False
