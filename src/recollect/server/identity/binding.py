"""Whether a server may listen where it is told to."""

import shlex

from recollect import wiring
from recollect.errors import SettingsError
from recollect.ports.keys import KeyStore
from recollect.server.headers import origins
from recollect.server.identity.said import is_loopback
from recollect.server.identity.tokens import check_tokens
from recollect.settings import Settings, load


def check_bind(settings: Settings, store: KeyStore | None) -> None:
    """`SettingsError` where anybody could come in, or nobody could be told from anybody else."""
    check_tokens(settings)
    origins(settings)
    check_keys(settings, store)


def check_keys(settings: Settings, store: KeyStore | None) -> None:
    """`SettingsError` where anybody could come in. There is no store before the database is made."""
    if is_loopback(settings.host) or is_locked(settings, store):
        return
    make = f"recollect keys create{_database(settings)}"
    raise SettingsError(
        f"{settings.host or 'Every address'} can be reached from other machines, and there is no key: "
        f"anybody could read and change all that is stored. Make one with `{make} --admin`, "
        "and for those who use the memory with `--user NAME` or `--service`; or listen on 127.0.0.1."
    )


def is_locked(settings: Settings, store: KeyStore | None) -> bool:
    """Whether whoever comes needs a key or a token."""
    return bool(settings.jwt_issuer or (store is not None and store.keys(1)))


def keyless_upstream(settings: Settings, store: KeyStore | None) -> str | None:
    """What to say where the gateway has no key for its upstream: with keys here, nobody's is passed on."""
    if settings.upstream_key or not is_locked(settings, store):
        return None
    return (
        f"The upstream {_shown(settings.upstream)} gets no key: with keys here, callers' own never leave. "
        "Set RECOLLECT_UPSTREAM_KEY, unless it needs none."
    )


def _database(settings: Settings) -> str:
    """The option that has another command use this database, where it would not by itself."""
    if settings.db == load().db:
        return ""
    return f" --db {shlex.quote(wiring.address(settings))}"


def _shown(url: str) -> str:
    """An address without the password that may be in it."""
    return url.rpartition("@")[2]
