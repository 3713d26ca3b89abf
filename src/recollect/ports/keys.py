"""Keys to the server, as they are stored: by a digest, from which nobody gets the key."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
