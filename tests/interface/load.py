"""Clients that write to a server as fast as it lets them, and know what it has accepted."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

CLIENTS = 4


class Load:
    """Writes until it is stopped, or, unless it is `patient`, until somebody cannot reach the server."""

    def __init__(self, url: str, patient: bool = False) -> None:
        self.accepted: list[str] = []
        """The contents that the server said are stored."""
        self.answers: Counter[int] = Counter()
        self._url, self._patient = url, patient
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(CLIENTS)]

    def _write(self, number: int) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            count = 0
            while not self._stop.is_set():
                count += 1
                content = f"client {number} says {count}"
                body = {"messages": [{"role": "user", "content": content, "conversation": f"c{number}"}]}
                try:
                    answer = client.post("/api/v1/turns", json=body)
                except httpx.TransportError:
                    if self._patient:
                        continue
                    return
                with self._changed:
                    self.answers[answer.status_code] += 1
                    if answer.status_code == httpx.codes.CREATED:
                        self.accepted.append(content)
                    self._changed.notify_all()

    def until(self, done: Callable[["Load"], bool]) -> None:
        """Wait for something to come true of what was answered."""
        with self._changed:
            assert self._changed.wait_for(lambda: done(self), timeout=90), self.answers

    def more(self, count: int) -> None:
        """Wait until so many more are accepted."""
        wanted = len(self.accepted) + count
        self.until(lambda load: len(load.accepted) >= wanted)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        self.join()


@contextmanager
def writing(url: str, patient: bool = False) -> Iterator[Load]:
    load = Load(url, patient)
    load.start()
    try:
        yield load
    finally:
        load.stop()


def lost(load: Load, stored: list[str]) -> list[str]:
    """What was accepted and is not stored, or more than once."""
    counts = Counter(stored)
    return [content for content in load.accepted if counts[content] != 1]
