"""The client for asyncio, derived as `AsyncMemory` is."""

import time
from collections.abc import Callable

from recollect.asynchronous import AsyncScopedMemory, Opened, awaited
from recollect.client import ADDRESS, ATTEMPTS, TIMEOUT, Client
from recollect.model.scope import GLOBAL


class AsyncClient(Opened):
    """`Client` for asyncio, with its arguments. Use it with `async with`, or close it."""

    _inner: Client

    def __init__(
        self,
        url: str = ADDRESS,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(Client(url, key, timeout=timeout, attempts=attempts, sleep=sleep))

    def scope(
        self,
        user: str | None = None,
        channel: str = GLOBAL,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> AsyncScopedMemory:
        """One user's memory, as `Client.scope` opens it."""
        return AsyncScopedMemory(self._inner.scope(user, channel, agent, conversation), self._threads)

    whoami = awaited(Client.whoami)
    tend = awaited(Client.tend)
    jobs = awaited(Client.jobs)
    figures = awaited(Client.figures)
