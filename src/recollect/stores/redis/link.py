"""The way to a Redis server that may be down, slow or full: nobody who asks fails because of it."""

import logging
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from recollect.errors import SettingsError
from recollect.resting import SLOW, Resting

T = TypeVar("T")

log = logging.getLogger("recollect")

_NAME = "redis"
_QUIET = 60.0
"""Seconds for which a failure is not logged again."""


class Link:
    """A server that is down costs the caller nothing but what is kept there (`without` says what is missed,
    `again` that it no longer is); one that is slow to fail is left alone for a while."""

    def __init__(self, url: str, timeout: float, without: str, again: str) -> None:
        self.where = _address(url)
        self.client: Any = _client(url, timeout)
        self._without = without
        self._again = again
        self._scripts: dict[str, Any] = {}
        self._resting = Resting(slow=min(SLOW, timeout / 2))
        self._lock = threading.Lock()
        self._paying = threading.Lock()
        self._unpaid = 0
        """How often what is owed could not be paid."""
        self._failing: dict[str, tuple[str, bool]] = {}
        """What fails, why, and whether the server answered: one that is full still lets itself be read."""
        self._told = False
        self._quiet_until = 0.0
        self._owed: dict[Hashable, Callable[[], object]] = {}
        """What was to be erased while the server was down."""

    @property
    def problem(self) -> str | None:
        return next((reason for reason, _ in [*self._failing.values()]), None)

    def run(self, script: str, keys: list[str], *arguments: bytes | str | float) -> Any:
        """What the script gives; None when the server is down."""
        if script not in self._scripts:
            self._scripts[script] = self.client.register_script(script)
        return self.tried(script, lambda: self._scripts[script](keys, arguments), None)

    def tried(self, what: str, ask: Callable[[], T], otherwise: T) -> T:
        """What is asked of the server, behind what is owed to it."""
        if self._resting.reason(_NAME):
            return otherwise
        try:
            if self._owed and not self._paid():
                return otherwise
            with self._resting.after_slow_failure(_NAME, self._without):
                answer = ask()
        except (RedisError, OSError) as error:
            self._failed(what, error)
            return otherwise
        if self._failing:
            self._worked(what)
        return answer

    def _paid(self) -> bool:
        """Pay what is owed, or wait for who is at it: an erasure may look through everything that is there.
        What then could not be paid, those who waited do not try again."""
        unpaid = self._unpaid
        with self._paying:
            if self._unpaid != unpaid or self._resting.reason(_NAME):
                return False
            try:
                with self._resting.after_slow_failure(_NAME, self._without):
                    self._pay()
            except BaseException:
                self._unpaid += 1
                raise
        return True

    def _pay(self) -> None:
        for name, pay in tuple(self._owed.items()):
            pay()
            with self._lock:
                if self._owed.get(name) is pay:  # and not one that came meanwhile
                    del self._owed[name]

    def settle(self, name: Hashable, pay: Callable[[], object]) -> bool:
        """Do what must be done before anything else is asked: now, or once the server answers again. Whether
        it is done."""
        with self._lock:
            self._owed[name] = pay
        self.tried("erase", lambda: None, None)
        return name not in self._owed

    def close(self) -> None:
        with suppress(RedisError, OSError):
            self.client.close()

    def _failed(self, what: str, error: Exception) -> None:
        """Say so: once, and not again and again of a server that is now full, now not."""
        reason = f"{self._without}: {self.where} fails with {type(error).__name__}: {error}"
        now = monotonic()
        with self._lock:
            tell = not self._failing and now >= self._quiet_until
            self._failing[what] = reason, isinstance(error, ResponseError)
            if tell:
                self._told, self._quiet_until = True, now + _QUIET
        if tell:
            log.warning("%s", reason)

    def _worked(self, what: str) -> None:
        with self._lock:
            self._failing.pop(what, None)
            self._failing = {one: failed for one, failed in self._failing.items() if failed[1]}
            tell = self._told and not self._failing
            self._told = self._told and not tell
        if tell:
            log.warning("%s: %s answers.", self._again, self.where)


def _client(url: str, timeout: float) -> Any:
    """A client that connects when it is asked, and asks once more on a connection that had gone stale."""
    try:
        client = cast(Any, Redis).from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 1, supported_errors=(Disconnected,)),
            protocol=2,
        )
        # What the address asks for beside the place would come before this, and bytes are kept there.
        client.connection_pool.connection_kwargs |= {"decode_responses": False}
        client.connection_pool.make_connection()  # of an option that there is not it tells now
        return client
    except (ValueError, TypeError):  # the message may hold the password
        raise SettingsError(
            "RECOLLECT_REDIS cannot be read: give redis://[user:password@]host[:port][/database], rediss://… "
            "for TLS, or unix://path."
        ) from None


def _address(url: str) -> str:
    """Where it is, as it may be shown: without a password."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        return "redis"
