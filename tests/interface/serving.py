"""The server over real connections, as `recollect serve` runs it but in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from recollect import Memory
from recollect.server import running


@contextmanager
def serve(memory: Memory) -> Iterator[str]:
    """The address of a server for this memory; it ends as after a signal, and the memory stays open."""
    socket = running.listening(replace(memory.settings, host="127.0.0.1", port=0))
    server = running.server(memory)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.run([socket])
        except BaseException as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    thread = threading.Thread(target=run, name="served")
    thread.start()  # whoever connects before it is ready waits: the socket listens already
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        socket.close()
    if failed:
        raise failed[0]
