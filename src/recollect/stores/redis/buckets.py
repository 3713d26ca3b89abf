"""How often callers asked, counted in Redis for all servers together.

The key is `rate:{digest of the caller}`, a hash of how much is `used` and `at` which time of the server's
own; it expires when nothing is used up any more.
"""

from hashlib import sha256
from typing import Any

from recollect.ports.buckets import Level
from recollect.stores.redis.link import Link

_TAKE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local limit, held = tonumber(ARGV[1]), redis.call('HMGET', KEYS[1], 'used', 'at')
local refill, used, at = limit / 60, tonumber(held[1] or 0) or 0, tonumber(held[2] or now) or now
used = math.max(0, used - math.max(0, now - at) * refill)
local counted = used + 1 <= limit
if counted then used = used + 1 end
redis.call('HSET', KEYS[1], 'used', string.format('%.9f', used), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(used / refill * 1000) + 1000)
return {string.format('%.9f', used), counted and 1 or 0}
"""


class RedisBuckets:
    """The `Buckets` port."""

    def __init__(self, url: str, *, timeout: float) -> None:
        self._link = Link(
            url, timeout, "Each server counts requests for itself", "Requests are counted together again"
        )

    def take(self, who: str, a_minute: int) -> Level | None:
        key = f"rate:{sha256(who.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        found: Any = self._link.run(_TAKE, [key], a_minute)
        return None if found is None else Level(float(found[0]), found[1] == 1)

    def close(self) -> None:
        self._link.close()
