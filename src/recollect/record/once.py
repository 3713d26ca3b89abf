"""Writes that are sent again when nobody knows whether they arrived: done once, answered each time."""

import hashlib
import hmac
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.errors import Invalid
from recollect.limits import check_given
from recollect.model.changes import Once
from recollect.workspace import Workspace

KEY_LIMIT = 255

Made = tuple[tuple[str, str], ...]
"""The kinds and ids of what a write stored."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request to write, as it is known again. The key its sender chose is kept nowhere: it is what the
    digests are made by, so that nobody can try out what a request may have said."""

    key: str
    digest: str


def sent(key: str, *request: bytes) -> Sent:
    """What was sent under a key, in parts."""
    if not check_given("The Idempotency-Key", key, KEY_LIMIT).strip():
        raise Invalid("The Idempotency-Key is empty: send a new UUID with each write, or none.")
    secret = key.encode("utf-8", "surrogatepass")
    parts = b"".join(len(part).to_bytes(8, "big") + part for part in request)
    return Sent(hashlib.sha256(secret).hexdigest(), hmac.digest(secret, parts, "sha256").hex())


def answered(work: Workspace, sent: Sent) -> Made | None:
    """What the write made, if it was done; `Invalid` when another one was done under its key."""
    found = work.store.answered(sent.key)
    if found is None or found.at < _since(work):
        return None
    if found.digest != sent.digest:
        raise Invalid(
            "This Idempotency-Key was sent with another request before: send a new one with each write."
        )
    return found.made


def guarded(work: Workspace, sent: Sent, kinds: tuple[str, ...]) -> Workspace:
    """A workspace whose changes are made only if nobody made them under this key."""
    once = Once(sent.key, uuid.uuid4().hex, sent.digest, work.clock.now(), _since(work), kinds)
    return replace(work, guards=(*work.guards, once))


def _since(work: Workspace) -> datetime:
    return work.clock.now() - timedelta(hours=work.settings.answer_hours)
