"""Memory behind a server, with the verbs of memory in this process."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

from recollect.addresses import Patience
from recollect.client.connection import Connection
from recollect.client.scoped import RemoteScopedMemory
from recollect.client.working import RemoteWorkingMemory
from recollect.model.scope import GLOBAL
from recollect.ports.tending import JobState
from recollect.tend.tender import Outcome

__all__ = ["Client", "RemoteScopedMemory", "RemoteWorkingMemory", "WhoAmI"]

ADDRESS = "http://127.0.0.1:7070"
"""Where `recollect serve` listens unless it is told otherwise."""
TIMEOUT = 60.0
ATTEMPTS = 3
DAYS = 30
"""How many days figures are asked of unless somebody says."""


class WhoAmI(NamedTuple):
    """Whom a server takes the client for: a `user`, a `service` that acts for users, an `admin`, or the one
    `local` user of a server without keys."""

    role: str
    user: str | None = None


class Client:
    """A server's memory, in place of `Memory`: the same scopes, with the same verbs. Use it as a context
    manager, or close it. Safe in any thread, and after a fork.

    `timeout` is how many seconds the server may be silent. What fails in passing (no connection, a server
    that is busy or starting) is tried `attempts` times in all; a write that arrives twice is done once.
    """

    def __init__(
        self,
        url: str = ADDRESS,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = Connection(url, key, Patience(timeout=timeout, attempts=attempts, sleep=sleep))

    def scope(
        self,
        user: str | None = None,
        channel: str = GLOBAL,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> RemoteScopedMemory:
        """One user's memory. With a user's key that is the user's, named or not; a service's key opens the
        memory of whomever it names."""
        return RemoteScopedMemory(self._connection, user, channel, agent, conversation)

    def whoami(self) -> WhoAmI:
        """Whom the server takes this client for; the first thing to ask when something is refused."""
        return self._connection.call("GET", ("whoami",), WhoAmI)

    def tend(self) -> list[Outcome]:
        """Have the server do the background's work now, once; needs an admin's key."""
        return self._connection.call("POST", ("jobs", "run"), list[Outcome], inside="outcomes")

    def jobs(self) -> list[JobState]:
        """What the background's jobs did last; needs an admin's key."""
        return self._connection.call("GET", ("jobs",), list[JobState], inside="jobs")

    def figures(self, days: int = DAYS) -> dict[str, Any]:
        """How the memory is doing, everybody taken together, as `recollect stats` tells; needs an admin's
        key."""
        return self._connection.call("GET", ("figures",), dict[str, Any], params={"days": days})

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._connection.where!r})"  # and not its key
