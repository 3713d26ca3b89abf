"""Answers and vectors in Redis, for all processes together.

Each shelf is one hash, `cache:{user}:{what}`, so that all of it is erased with one command. Its fields are
the names, which are digests, and `at`: the state that everything in it was made of. Values are sealed with
the user's own secret, which is in the database of record only: whoever can read the server, or has its
files, reads nothing of them, and of a user who was erased nobody can.
"""

import hmac
import logging
from typing import Any, cast
from urllib.parse import quote

from recollect.errors import StoreCorrupt
from recollect.ports.cache import Shelf
from recollect.stores.redis.link import Link
from recollect.stores.sql.sealing import Seal

log = logging.getLogger("recollect")

SHELVES = ("answers", "vectors")
MOST = 200
"""How many values a shelf has; the next one finds it empty."""
LARGEST = 1024 * 1024
"""Bytes of a value that is kept."""

_PUT = """
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('DEL', KEYS[1]) end
local at = redis.call('HGET', KEYS[1], 'at')
if at and at > ARGV[1] then return end
if at ~= ARGV[1] or redis.call('HLEN', KEYS[1]) > tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'at', ARGV[1], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
"""


class RedisCache:
    """The `Cache` port."""

    def __init__(self, url: str, *, timeout: float) -> None:
        Seal(b"")  # says what to install, now and not with each question
        self._link = Link(url, timeout, "Recall is not cached", "Recall is cached again")

    def get(self, shelf: Shelf, name: bytes) -> bytes | None:
        found: Any = self._link.tried(
            "get", lambda: self._link.client.hget(_key(shelf.user, shelf.what), name), None
        )
        if found is None:
            return None
        try:
            return cast(bytes, _seal(shelf).open(shelf.user, _place(shelf, name), found))
        except StoreCorrupt:  # another program's, or of another state
            return None

    def put(self, shelf: Shelf, name: bytes, value: bytes, seconds: float) -> None:
        if len(value) > LARGEST:
            return
        sealed = cast(bytes, _seal(shelf).close(shelf.user, _place(shelf, name), value))
        kept = max(1, round(seconds * 1000))
        self._link.run(_PUT, [_key(shelf.user, shelf.what)], shelf.at, MOST, name, sealed, kept)

    def erase(self, user: str) -> None:
        keys = [_key(user, what) for what in SHELVES]
        if not self._link.settle(user, lambda: self._link.client.delete(*keys)):
            log.warning(
                "What is cached in %s is not erased yet, because it does not answer: it is when it does "
                "again, and expires in any case. Nobody is given it.",
                self._link.where,
            )

    def close(self) -> None:
        self._link.close()


def _key(user: str, what: str) -> str:
    return f"cache:{quote(user, safe='', errors='surrogatepass')}:{what}"


def _seal(shelf: Shelf) -> Seal:
    return Seal(hmac.digest(shelf.secret, b"cache", "sha256"))


def _place(shelf: Shelf, name: bytes) -> str:
    """What a value is bound to: it opens nowhere else."""
    return f"{shelf.what} {shelf.at} {name.hex()}"
