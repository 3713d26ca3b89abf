"""Keys to the server: who may use it, by digests."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, or_, select, text, update

from recollect.errors import Conflict, NotFound
from recollect.ports.keys import ApiKey, KeyRole
from recollect.stores.sql import schema
from recollect.stores.sql.backend import Backend, only_reads
from recollect.stores.sql.codec import decode_text, decode_time, encode_text, encode_time

_KEYS = schema.api_keys
_TIMES = ("created_at", "expires_at", "revoked_at", "used_at")
_NAMES = [field.name for field in fields(ApiKey)]
_ADD = text(
    f"INSERT INTO api_keys ({', '.join(_NAMES)}) VALUES (:{', :'.join(_NAMES)}) ON CONFLICT DO NOTHING"
)


class KeyRing:
    """The part of `ports.store.Store` that is about keys."""

    _backend: Backend

    def add_key(self, key: ApiKey) -> None:
        values: dict[str, Any] = {name: getattr(key, name) for name in _NAMES}
        values |= {name: encode_time(at) for name in _TIMES if (at := values[name]) is not None}
        values |= {"name": encode_text(key.name), "role": key.role.value}
        if not self._backend.write(lambda connection: connection.execute(_ADD, values).rowcount):
            raise Conflict("There is such a key already.")

    @only_reads
    def keys(self, limit: int = 100, after: str | None = None) -> list[ApiKey]:
        newest = select(_KEYS).order_by(_KEYS.c.id.desc()).limit(limit)
        if after is not None:
            newest = newest.where(_KEYS.c.id < encode_text(after))
        with self._backend.read() as connection:
            return [_key(row) for row in connection.execute(newest)]

    @only_reads
    def key_by_digest(self, digest: str) -> ApiKey | None:
        with self._backend.read() as connection:
            row = connection.execute(select(_KEYS).where(_KEYS.c.digest == encode_text(digest))).one_or_none()
        return None if row is None else _key(row)

    def revoke_key(self, id: str, now: datetime) -> ApiKey:
        its = _KEYS.c.id == encode_text(id)

        def work(connection: Connection) -> Row[Any] | None:
            valid = update(_KEYS).where(its, _KEYS.c.revoked_at.is_(None))
            connection.execute(valid.values(revoked_at=encode_time(now)))
            return connection.execute(select(_KEYS).where(its)).one_or_none()

        row = self._backend.write(work)
        if row is None:
            raise NotFound("There is no such key; `recollect keys list` shows those there are.")
        return _key(row)

    def note_key_used(self, id: str, at: datetime) -> None:
        used = encode_time(at)
        earlier = or_(_KEYS.c.used_at.is_(None), _KEYS.c.used_at < used)
        note = update(_KEYS).where(_KEYS.c.id == id, earlier).values(used_at=used)
        self._backend.write(lambda connection: connection.execute(note).rowcount)


def drop_keys(connection: Connection, owner: str) -> int:
    """Take a user's keys away; how many they were."""
    return connection.execute(delete(_KEYS).where(_KEYS.c.owner == owner)).rowcount


def _key(row: Row[Any]) -> ApiKey:
    values: dict[str, Any] = dict(row._mapping)  # pyright: ignore[reportPrivateUsage] - it is public
    values |= {name: decode_time(at) for name in _TIMES if (at := values[name]) is not None}
    values |= {"name": decode_text(row.name), "role": KeyRole(row.role)}
    return ApiKey(**values)
