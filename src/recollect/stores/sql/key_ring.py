"""Keys to the server: who may use it, by digests."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, or_, select, text, update

from recollect.errors import Conflict, NotFound
from recollect.ports.keys import SESSIONS, ApiKey, KeyRole
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

        def work(connection: Connection) -> int:
            if key.parent is not None:
                self._make_room(connection, key.parent, key.created_at)
            return connection.execute(_ADD, values).rowcount

        if not self._backend.write(work):
            raise Conflict("There is such a key already.")

    def _make_room(self, connection: Connection, parent: str, now: datetime) -> None:
        """For another session of a key. The key is held meanwhile: whoever revokes it waits, and then finds
        the new session as well."""
        its = select(_KEYS).where(_KEYS.c.id == parent)
        row = connection.execute(self._backend.locked(its)).one_or_none()
        if row is None or not _key(row).is_valid(now):
            raise NotFound("The key opens nothing any more: it was revoked, has expired or is gone.")
        opened = _KEYS.c.parent == parent
        connection.execute(delete(_KEYS).where(opened, _KEYS.c.expires_at <= encode_time(now)))
        newest = select(_KEYS.c.id).where(opened).order_by(_KEYS.c.id.desc()).limit(SESSIONS - 1)
        connection.execute(delete(_KEYS).where(opened, _KEYS.c.id.not_in(newest)))

    @only_reads
    def keys(self, limit: int = 100, after: str | None = None, owner: str | None = None) -> list[ApiKey]:
        wanted: list[ColumnElement[bool]] = [_KEYS.c.parent.is_(None)]
        if after is not None:
            wanted.append(_KEYS.c.id < encode_text(after))
        if owner is not None:
            wanted.append(_KEYS.c.owner == owner)
        return self._found(wanted, limit)

    @only_reads
    def sessions(self, owner: str | None, now: datetime) -> list[ApiKey]:
        whose = _KEYS.c.owner.is_(None) if owner is None else _KEYS.c.owner == owner
        valid = _KEYS.c.revoked_at.is_(None), _KEYS.c.expires_at > encode_time(now)
        return self._found([_KEYS.c.parent.is_not(None), whose, *valid])

    @only_reads
    def key(self, id: str) -> ApiKey | None:
        return next(iter(self._found([_KEYS.c.id == encode_text(id)])), None)

    @only_reads
    def key_by_digest(self, digest: str) -> ApiKey | None:
        return next(iter(self._found([_KEYS.c.digest == encode_text(digest)])), None)

    def _found(self, wanted: Sequence[ColumnElement[bool]], limit: int | None = None) -> list[ApiKey]:
        newest = select(_KEYS).where(*wanted).order_by(_KEYS.c.id.desc()).limit(limit)
        with self._backend.read() as connection:
            return [_key(row) for row in connection.execute(newest)]

    def revoke_key(self, id: str, now: datetime, owner: str | None = None) -> ApiKey:
        its: list[ColumnElement[bool]] = [_KEYS.c.id == encode_text(id)]
        if owner is not None:
            its.append(_KEYS.c.owner == owner)

        def work(connection: Connection) -> Row[Any] | None:
            valid = update(_KEYS).where(_KEYS.c.revoked_at.is_(None)).values(revoked_at=encode_time(now))
            connection.execute(valid.where(*its))
            row = connection.execute(select(_KEYS).where(*its)).one_or_none()
            if row is not None:  # by a statement of its own, which sees what was opened until this one's turn
                connection.execute(valid.where(_KEYS.c.parent == row.id))
            return row

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
    its = delete(_KEYS).where(_KEYS.c.owner == owner)
    # The second time finds a session that was opened while the first waited for its key.
    return connection.execute(its).rowcount + connection.execute(its).rowcount


def _key(row: Row[Any]) -> ApiKey:
    values: dict[str, Any] = dict(row._mapping)  # pyright: ignore[reportPrivateUsage] - it is public
    values |= {name: decode_time(at) for name in _TIMES if (at := values[name]) is not None}
    values |= {"name": decode_text(row.name), "role": KeyRole(row.role)}
    return ApiKey(**values)
