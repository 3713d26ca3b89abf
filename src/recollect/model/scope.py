"""Whose memory, and which part of it."""

import unicodedata
from dataclasses import dataclass

from recollect.errors import Invalid

GLOBAL = "_global"
FORGOTTEN = "_forgotten"
"""What the audit calls a channel that was forgotten."""
"""The channel every other channel also reads."""

NAME_LIMIT = 256


def check_name(what: str, value: str) -> str:
    """A name that can be a key in every store: non-blank, bounded, printable; else `Invalid`."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{what} must be text, not {type(value).__name__}.")
    if not value.strip():
        raise Invalid(f"{what} must not be empty.")
    if len(value) > NAME_LIMIT:
        raise Invalid(f"{what} has {len(value):,} characters; the limit is {NAME_LIMIT}.")
    if not value.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise Invalid(f"{what} must not contain control characters or lone surrogates.")
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """A user, and optionally a channel, an agent and a conversation inside it.

    The user is a wall: nothing crosses it. The channel is a soft scope: recall reads the active
    channel and `_global`. Agent and conversation are labels, used as filters when asked for.
    """

    user: str
    channel: str = GLOBAL
    agent: str | None = None
    conversation: str | None = None

    def __post_init__(self) -> None:
        check_name("user", self.user)
        check_name("channel", self.channel)
        if self.agent is not None:
            check_name("agent", self.agent)
        if self.conversation is not None:
            check_name("conversation", self.conversation)

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that recall reads here."""
        return (self.channel,) if self.channel == GLOBAL else (self.channel, GLOBAL)
