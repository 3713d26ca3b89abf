"""Keys to the server, as they are stored: by a digest, from which nobody gets the key. A session is one of
them: of the same role and owner as the key that it was opened with, and never longer valid."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

SESSIONS = 100
"""How many sessions of one key there are at most: of more, those opened first are forgotten."""
OWN_KEYS = 1000
"""How many keys a user can have made, revoked and expired ones among them; an admin makes further ones."""


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
    parent: str | None = None
    """Of a session: the id of the key that it was opened with."""

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class KeyStore(Protocol):
    """The part of a database of record that is about keys. They go with their user when that is erased."""

    def add_key(self, key: ApiKey) -> None:
        """Keep a new key; `Conflict` when there is one with this id or digest. With a session go those of
        its key that had expired when it was made; `NotFound` when its key is revoked, expired or gone."""
        ...

    def keys(self, limit: int = 100, after: str | None = None, owner: str | None = None) -> list[ApiKey]:
        """Keys, or those of one owner, newest first, those that are no longer valid among them, and no
        sessions; `after` is an id."""
        ...

    def sessions(self, owner: str | None, now: datetime) -> list[ApiKey]:
        """The sessions of a user, or of nobody in particular, that are valid now, newest first."""
        ...

    def key(self, id: str) -> ApiKey | None: ...

    def key_by_digest(self, digest: str) -> ApiKey | None: ...

    def revoke_key(self, id: str, now: datetime, owner: str | None = None) -> ApiKey:
        """Have a key, with its sessions, or a session open nothing from now on; one that was revoked before
        stays so since then. `NotFound` when there is no such key, or none of this owner's where one is
        given."""
        ...

    def note_key_used(self, id: str, at: datetime) -> None:
        """Note when a key was last used; what is noted of a later time stays."""
        ...
