"""Working memory in Redis, for several processes.

Keys are `working:{user}:{channel}:{conversation}:items|values|goal`, each name percent-encoded: none can
hold a colon or a wildcard, so none reaches into another's. Every operation is one script, which also renews
the time to live of all three.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from recollect.errors import SettingsError
from recollect.model.working import Desk, WorkingItem, WorkingState
from recollect.resting import Resting
from recollect.stores.working.codec import decode, decode_item, encode, encode_item

T = TypeVar("T")

log = logging.getLogger("recollect")

_PARTS = ("items", "values", "goal")
_AT_ONCE = 1000
"""How many keys are looked at, and deleted, in one step."""
_NAME = "redis"
_QUIET = 60.0
"""Seconds for which a failure is not logged again."""

_RENEW = "for i = 1, #KEYS do redis.call('PEXPIRE', KEYS[i], ARGV[1]) end "
# A command that was sent again because its answer got lost adds nothing twice.
_APPEND = (
    "if not redis.call('LPOS', KEYS[1], ARGV[2]) then redis.call('RPUSH', KEYS[1], ARGV[2]) end " + _RENEW
)
_ITEMS = _RENEW + "return redis.call('LRANGE', KEYS[1], 0, -1)"
# Items have ids of their own and lists change at their ends only: if the first and the last of those expected
# are in their places, so is what is between them.
_REPLACE = (
    "local count = tonumber(ARGV[2]) "
    "if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[3] or redis.call('LINDEX', KEYS[1], count - 1) ~= ARGV[4] "
    "then return 0 end "
    "redis.call('LTRIM', KEYS[1], count, -1) "
    "for i = #ARGV, 5, -1 do redis.call('LPUSH', KEYS[1], ARGV[i]) end " + _RENEW + "return 1"
)
_PUT = (
    "if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) "
    "then return 0 end redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) " + _RENEW + "return 1"
)
_TAKE_OUT = "redis.call('HDEL', KEYS[2], ARGV[2]) " + _RENEW
_VALUE = _RENEW + "return redis.call('HGET', KEYS[2], ARGV[2])"
_VALUES = _RENEW + "return redis.call('HGETALL', KEYS[2])"
_SET_GOAL = "redis.call('SET', KEYS[3], ARGV[2]) " + _RENEW
_NO_GOAL = "redis.call('DEL', KEYS[3]) " + _RENEW
_GOAL = _RENEW + "return redis.call('GET', KEYS[3])"


class RedisWorkingStore:
    """The `WorkingStore` port. A server that is down costs the caller nothing but what was to be kept there;
    one that is slow to fail is left alone for a while."""

    def __init__(self, url: str, *, ttl: float, timeout: float) -> None:
        self._where = _address(url)
        self._ttl = max(1, round(ttl * 1000))
        self._client: Any = _client(url, timeout)
        self._scripts: dict[str, Any] = {}
        self._resting = Resting()
        self._lock = threading.Lock()
        self._failing: dict[str, tuple[str, bool]] = {}
        """What fails, why, and whether the server answered: one that is full still lets itself be read."""
        self._told = False
        self._quiet_until = 0.0
        self._owed: set[tuple[str, str | None, str | None]] = set()
        """What was to be erased while the server was down."""

    def append(self, desk: Desk, item: WorkingItem) -> None:
        self._run(_APPEND, desk, encode_item(item))

    def items(self, desk: Desk) -> list[WorkingItem]:
        return list(_decoded(decode_item, self._run(_ITEMS, desk) or ()))

    def replace(self, desk: Desk, expected: Sequence[WorkingItem], items: Sequence[WorkingItem]) -> bool:
        if not expected:
            return True
        ends = encode_item(expected[0]), encode_item(expected[-1])
        return self._run(_REPLACE, desk, len(expected), *ends, *map(encode_item, items)) == 1

    def put(self, desk: Desk, key: str, value: Any, most: int) -> bool:
        field = key.encode("utf-8", "surrogatepass")
        if value is None:
            self._run(_TAKE_OUT, desk, field)
            return True
        return self._run(_PUT, desk, field, encode(value), most) != 0

    def value(self, desk: Desk, key: str) -> Any:
        found = self._run(_VALUE, desk, key.encode("utf-8", "surrogatepass"))
        return next(iter(_decoded(decode, () if found is None else (found,))), None)

    def values(self, desk: Desk) -> Mapping[str, Any]:
        found: list[bytes] = self._run(_VALUES, desk) or []
        pairs = zip(found[::2], found[1::2], strict=True)
        return dict(_decoded(lambda pair: (_text(pair[0]), decode(pair[1])), pairs))

    def set_goal(self, desk: Desk, goal: str | None) -> None:
        if goal is None:
            self._run(_NO_GOAL, desk)
        else:
            self._run(_SET_GOAL, desk, goal.encode("utf-8", "surrogatepass"))

    def goal(self, desk: Desk) -> str | None:
        found = self._run(_GOAL, desk)
        return None if found is None else _text(found)

    def erase(self, user: str, *, channel: str | None = None, conversation: str | None = None) -> None:
        what = (user, channel, conversation)
        self._owed.add(what)
        self._tried("erase", lambda: None, None)
        if what in self._owed:
            log.warning(
                "Working memory in %s is not erased yet, because it does not answer: it is when it does "
                "again, and expires in any case.",
                self._where,
            )

    def state(self) -> WorkingState:
        info: dict[str, Any] = self._tried(
            "state", lambda: {**self._client.info("memory"), **self._client.info("stats")}, {}
        )
        policy, most = info.get("maxmemory_policy"), info.get("maxmemory")
        problem = next((reason for reason, _ in [*self._failing.values()]), None)
        if policy == "noeviction" and most:
            problem = (
                "Redis takes nothing any more once its memory is full: set maxmemory-policy volatile-ttl."
            )
        return WorkingState(
            self._where,
            used_bytes=info.get("used_memory"),
            most_bytes=most or None,
            evicted=info.get("evicted_keys"),
            policy=policy,
            problem=problem,
        )

    def close(self) -> None:
        with suppress(RedisError, OSError):
            self._client.close()

    def _run(self, script: str, desk: Desk, *arguments: bytes | int) -> Any:
        """What the script gives for this conversation; None when the server is down."""
        if script not in self._scripts:
            self._scripts[script] = self._client.register_script(script)
        keys = [f"{_stem(*desk)}:{part}" for part in _PARTS]
        return self._tried(script, lambda: self._scripts[script](keys, (self._ttl, *arguments)), None)

    def _tried(self, what: str, ask: Callable[[], T], otherwise: T) -> T:
        if self._resting.reason(_NAME):
            return otherwise
        try:
            with self._resting.after_slow_failure(_NAME, "Working memory is not kept"):
                for owed in tuple(self._owed):
                    self._erase(*owed)
                    self._owed.discard(owed)
                answer = ask()
        except (RedisError, OSError) as error:
            self._failed(what, error)
            return otherwise
        if self._failing:
            self._worked(what)
        return answer

    def _failed(self, what: str, error: Exception) -> None:
        """Say so: once, and not again and again of a server that is now full, now not."""
        reason = f"Working memory is not kept: {self._where} fails with {type(error).__name__}: {error}"
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
            log.warning("Working memory is kept again: %s answers.", self._where)

    def _erase(self, user: str, channel: str | None, conversation: str | None) -> None:
        stem = _stem(user, channel, conversation)
        wanted = stem.split(":")
        if channel is not None and conversation is not None:
            self._client.delete(*(f"{stem}:{part}" for part in _PARTS))
            return
        doomed: list[bytes] = []
        for key in cast("Iterable[bytes]", self._client.scan_iter(match=f"{stem}:*", count=_AT_ONCE)):
            parts = key.decode("utf-8", "replace").split(":")[: len(wanted)]
            if all(one in ("*", other) for one, other in zip(wanted, parts, strict=False)):
                doomed.append(key)
        for start in range(0, len(doomed), _AT_ONCE):
            self._client.delete(*doomed[start : start + _AT_ONCE])


def _stem(user: str, channel: str | None, conversation: str | None) -> str:
    """What the keys begin with; `*` stands for any."""
    names = (user, channel, conversation)
    parts = ("*" if name is None else quote(name, safe="", errors="surrogatepass") for name in names)
    return f"working:{':'.join(parts)}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _decoded(read: Callable[[Any], T], found: Iterable[Any]) -> Iterable[T]:
    """What can be read; another program may have written the rest."""
    for one in found:
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            yield read(one)


def _client(url: str, timeout: float) -> Any:
    """A client that connects when it is asked, and asks once more on a connection that had gone stale."""
    try:
        return cast(Any, Redis).from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 1, supported_errors=(Disconnected,)),
            protocol=2,
        )
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
