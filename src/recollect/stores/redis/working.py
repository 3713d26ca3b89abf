"""Working memory in Redis, for several processes.

Keys are `working:{user}:{channel}:{conversation}:items|values|goal`, each name percent-encoded: none can
hold a colon or a wildcard, so none reaches into another's. Every operation is one script, which also renews
the time to live of all three.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast
from urllib.parse import quote

from recollect.model.working import Desk, WorkingItem, WorkingState
from recollect.stores.redis.link import Link
from recollect.stores.working.codec import decode, decode_item, encode, encode_item

T = TypeVar("T")

log = logging.getLogger("recollect")

_PARTS = ("items", "values", "goal")
_AT_ONCE = 1000
"""How many keys are looked at, and deleted, in one step."""

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
    """The `WorkingStore` port."""

    def __init__(self, url: str, *, ttl: float, timeout: float) -> None:
        self._ttl = max(1, round(ttl * 1000))
        self._link = Link(url, timeout, "Working memory is not kept", "Working memory is kept again")

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
        if not self._link.settle(what, lambda: self._erase(*what)):
            log.warning(
                "Working memory in %s is not erased yet, because it does not answer: it is when it does "
                "again, and expires in any case.",
                self._link.where,
            )

    def state(self) -> WorkingState:
        client = self._link.client
        info: dict[str, Any] = self._link.tried(
            "state", lambda: {**client.info("memory"), **client.info("stats")}, {}
        )
        policy, most = info.get("maxmemory_policy"), info.get("maxmemory")
        problem = self._link.problem
        if policy == "noeviction" and most:
            problem = (
                "Redis takes nothing any more once its memory is full: set maxmemory-policy volatile-ttl."
            )
        return WorkingState(
            self._link.where,
            used_bytes=info.get("used_memory"),
            most_bytes=most or None,
            evicted=info.get("evicted_keys"),
            policy=policy,
            problem=problem,
        )

    def close(self) -> None:
        self._link.close()

    def _run(self, script: str, desk: Desk, *arguments: bytes | int) -> Any:
        """What the script gives for this conversation; None when the server is down."""
        keys = [f"{_stem(*desk)}:{part}" for part in _PARTS]
        return self._link.run(script, keys, self._ttl, *arguments)

    def _erase(self, user: str, channel: str | None, conversation: str | None) -> None:
        stem = _stem(user, channel, conversation)
        wanted = stem.split(":")
        if channel is not None and conversation is not None:
            self._link.client.delete(*(f"{stem}:{part}" for part in _PARTS))
            return
        doomed: list[bytes] = []
        for key in cast("Iterable[bytes]", self._link.client.scan_iter(match=f"{stem}:*", count=_AT_ONCE)):
            parts = key.decode("utf-8", "replace").split(":")[: len(wanted)]
            if all(one in ("*", other) for one, other in zip(wanted, parts, strict=False)):
                doomed.append(key)
        for start in range(0, len(doomed), _AT_ONCE):
            self._link.client.delete(*doomed[start : start + _AT_ONCE])


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
