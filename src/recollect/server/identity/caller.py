"""The caller of a request, as established by its key or token, and never by what it says of itself."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Caller:
    """`user` is whose memory the request works on; None for an admin, who can read nobody's."""

    role: Literal["local", "user", "service", "admin"]
    user: str | None
    key: str = "local"
    """What limits are counted by: the id of the key, also where a session of it calls, or of the token's
    user."""
    session: str | None = None
    """The id of the session of the page, if it is one that calls."""
