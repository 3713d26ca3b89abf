"""Keys to the server, as they are stored: by a digest, from which nobody gets the key."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class KeyRole(StrEnum):
    """What a key opens: one user's memory; any user's, for a service that acts for them; or the server's own
    affairs, and nobody's memory."""

    USER = "user"
    SERVICE = "service"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    id: str
    digest: str
    name: str
    role: KeyRole
    owner: str | None = None
    """The user, of a key of role `user`."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class KeyStore(Protocol):
    """The part of a database of record that is about keys. They go with their user when that is erased."""

    def add_key(self, key: ApiKey) -> None:
        """Keep a new key; `Conflict` when there is one with this id or digest."""
        ...

    def keys(self, limit: int = 100, after: str | None = None) -> list[ApiKey]:
        """Keys, newest first, those that are no longer valid among them; `after` is an id."""
        ...

    def key_by_digest(self, digest: str) -> ApiKey | None: ...

    def revoke_key(self, id: str, now: datetime) -> ApiKey:
        """Have a key open nothing from now on; one that was revoked before stays so since then. `NotFound`
        when there is no such key."""
        ...

    def note_key_used(self, id: str, at: datetime) -> None:
        """Note when a key was last used; what is noted of a later time stays."""
        ...
