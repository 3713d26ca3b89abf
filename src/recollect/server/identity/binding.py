"""Whether a server may listen where it is told to."""

from recollect.errors import SettingsError
from recollect.ports.keys import KeyStore
from recollect.server.headers import origins
from recollect.server.identity.said import is_loopback
from recollect.server.identity.tokens import check_tokens
from recollect.settings import Settings


def check_bind(settings: Settings, store: KeyStore) -> None:
    """`SettingsError` where anybody could come in, or nobody could be told from anybody else."""
    check_tokens(settings)
    origins(settings)
    if is_loopback(settings.host) or settings.jwt_issuer or store.keys(1):
        return
    raise SettingsError(
        f"{settings.host or 'Every address'} can be reached from other machines, and there is no key: "
        "anybody could read and change all that is stored. Make one with `recollect keys create --admin`, "
        "and for those who use the memory with `--user NAME` or `--service`; or listen on 127.0.0.1."
    )
