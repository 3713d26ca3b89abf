"""Where what was worked out a moment ago is kept for a while: losing any of it costs time, nothing else."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is kept of one kind for one user. `at` is the state that it was made of, in an order: once
    something of a later state is put there, all that is older is gone. Without `secret`, which only the
    database of record has, nothing of it can be read."""

    user: str
    what: str
    at: str
    secret: bytes = field(repr=False)


class Cache(Protocol):
    """Bytes by name, of any shelf. Safe in any thread.

    No method fails because a server is down: then nothing is found and nothing kept. What is found is what
    was put there under that name of that shelf, whatever others wrote to the server.
    """

    def get(self, shelf: Shelf, name: bytes) -> bytes | None: ...

    def put(self, shelf: Shelf, name: bytes, value: bytes, seconds: float) -> None:
        """Keep it for so long, at most: it may be gone at any time."""
        ...

    def erase(self, user: str) -> None:
        """Leave nothing of a user. What cannot be erased because a server is down is erased before anything
        is read here again."""
        ...

    def close(self) -> None: ...
