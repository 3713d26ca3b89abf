"""Where a server without keys may listen."""

from recollect.ports.store import Store
from recollect.settings import Settings


def check_bind(settings: Settings, store: Store) -> None:
    """Refuse an address that others can reach while nobody needs a key to come in."""
