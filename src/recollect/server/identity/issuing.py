"""Making keys: what is handed out once, and what is kept of it."""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from recollect.errors import Invalid
from recollect.keys import API_KEY
from recollect.limits import check_given, check_time
from recollect.model.scope import NAME_LIMIT, check_name
from recollect.ports.clock import Clock
from recollect.ports.keys import ApiKey, KeyRole, KeyStore
from recollect.record.ids import id_maker

PREFIX = API_KEY
"""Every key begins so: it can be told from others' keys, and found where it should not be."""
SESSION = "rks_"
"""What is in the cookie of a session begins so: it is no key, and opens nothing when it is sent as one."""
_LETTERS = {KeyRole.USER: "u", KeyRole.SERVICE: "s", KeyRole.ADMIN: "a"}
_SECRET_BYTES = 32
_KEY = re.compile(rf"{PREFIX}[{''.join(_LETTERS.values())}]_[A-Za-z0-9_-]{{43}}")
_TOKEN = re.compile(rf"{SESSION}[A-Za-z0-9_-]{{43}}")


@dataclass(frozen=True, slots=True)
class Issued:
    """A new key, and what is kept of it. The key itself is nowhere else."""

    key: str = field(repr=False)
    kept: ApiKey


def issue(
    store: KeyStore,
    clock: Clock,
    role: KeyRole,
    *,
    owner: str | None = None,
    name: str = "",
    expires_at: datetime | None = None,
) -> Issued:
    """Make a key: of a user, who is its owner, of a service or of an admin."""
    now = clock.now()
    if (owner is None) is (role is KeyRole.USER):
        raise Invalid("A key of role user has a user, whose memory it opens; no other key has one.")
    if owner is not None:
        check_name("user", owner)
    if expires_at is not None and (expires_at := check_time("expires_at", expires_at)) <= now:
        raise Invalid("The key would expire before it is used: give a time to come.")
    key = f"{PREFIX}{_LETTERS[role]}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    kept = ApiKey(
        id=id_maker(clock)(1)[0],
        digest=digest(key),
        name=check_given("name", name, NAME_LIMIT),
        role=role,
        owner=owner,
        created_at=now,
        expires_at=expires_at,
    )
    store.add_key(kept)
    return Issued(key, kept)


def open_session(store: KeyStore, clock: Clock, key: ApiKey, lasting: timedelta) -> Issued:
    """Make a session of a key: what the key opens, for so long at most. `NotFound` when it opens nothing any
    more."""
    now = clock.now()
    token = f"{SESSION}{secrets.token_urlsafe(_SECRET_BYTES)}"
    kept = ApiKey(
        id=id_maker(clock)(1)[0],
        digest=digest(token),
        name="",
        role=key.role,
        owner=key.owner,
        created_at=now,
        expires_at=min(now + lasting, key.expires_at or now + lasting),
        parent=key.id,
    )
    store.add_key(kept)
    return Issued(token, kept)


def digest(key: str) -> str:
    """What is kept of a key. As long and random as keys are, a plain hash cannot be turned back."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def is_key(text: str) -> bool:
    """Whether it could be a key of ours."""
    return _KEY.fullmatch(text) is not None


def is_session(text: str) -> bool:
    """Whether it could be what is in the cookie of a session."""
    return _TOKEN.fullmatch(text) is not None


_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_SPAN = re.compile(r"(\d{1,6})([mhdw])")


def expiry(text: str, now: datetime) -> datetime:
    """When a key expires: after a while such as 90d, 12h, 4w or 30m, or at a time such as 2030-01-31."""
    if found := _SPAN.fullmatch(text.strip()):
        try:
            return now + timedelta(seconds=int(found[1]) * _UNITS[found[2]])
        except OverflowError:
            raise Invalid(f"{text!r} from now is too far away; leave it out for a key that stays.") from None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{text!r} is no time: write 90d, 12h, 4w, 30m or a date such as 2030-01-31.") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
