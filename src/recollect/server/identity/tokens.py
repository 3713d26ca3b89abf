"""Tokens of an OIDC provider (JWT), taken in place of keys."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import jwt

from recollect.errors import Invalid, SettingsError
from recollect.model.scope import check_name
from recollect.ports.clock import Clock
from recollect.server.identity.said import is_loopback, origin_host
from recollect.server.problems import Refused, log
from recollect.settings import Settings

ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
)
"""Those with a public key. With a shared secret, or none, whoever can check a token can make one."""
_KINDS = frozenset(("RSA", "EC", "OKP"))
TOKEN_LIMIT = 8192
"""The most characters of a token: providers' have one or two thousand."""
SET_LIMIT = 1024 * 1024
FETCH_SECONDS = 5.0
REFRESH = timedelta(hours=1)
"""How old the keys may be: a provider that withdraws one expects no more than that."""
UNKNOWN = timedelta(seconds=30)
"""How soon after trying to fetch them we try again, for a key that is unknown: anybody can name one."""
LEEWAY = timedelta(seconds=30)
"""How far the provider's clock may be from ours."""


@dataclass(frozen=True, slots=True)
class Signed:
    """What a token says: whose it is, and until when."""

    user: str
    until: datetime


class Tokens:
    """Checks tokens of the one issuer that the settings name."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: dict[str | None, Mapping[str, Any]] = {}
        self._fetched: datetime | None = None
        self._tried: datetime | None = None
        self._fetching = asyncio.Lock()

    async def signed(self, token: str) -> Signed:
        """Whose token it is; `Refused` when it is not good."""
        if len(token) > TOKEN_LIMIT:
            raise refused(f"has more than {TOKEN_LIMIT:,} characters.")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise refused("cannot be read.") from None
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise refused("is not signed with a public key (RS256, ES256, EdDSA and their like).")
        key = await self._key(header.get("kid"))
        if key.get("alg", algorithm) != algorithm:
            raise refused("is signed in another way than its key is for.")
        return self._checked(token, algorithm, key)

    def _checked(self, token: str, algorithm: str, key: Mapping[str, Any]) -> Signed:
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm).key,
                algorithms=[algorithm],
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise refused("has expired: get a new one.") from None
        except jwt.ImmatureSignatureError:
            raise refused("is not valid yet: the clocks of issuer and server differ.") from None
        except jwt.InvalidIssuerError:
            raise refused("is of another issuer than RECOLLECT_JWT_ISSUER.") from None
        except jwt.InvalidAudienceError:
            raise refused("is not made out for RECOLLECT_JWT_AUDIENCE.") from None
        except jwt.MissingRequiredClaimError as error:
            raise refused(f"lacks the claim {error.claim}.") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise refused("is not signed by its issuer.") from None
        try:
            user = check_name(settings.jwt_user, claims.get(settings.jwt_user, ""))
            return Signed(user, datetime.fromtimestamp(int(claims["exp"]), UTC) + LEEWAY)
        except (Invalid, ValueError, OverflowError, OSError):
            raise refused(f"names no user in its claim {settings.jwt_user}.") from None

    async def _key(self, kid: Any) -> Mapping[str, Any]:
        await self._refresh(REFRESH)
        if (key := self._named(kid)) is None:
            await self._refresh(UNKNOWN)
            key = self._named(kid)
        if key is None:
            raise refused("is signed with a key that its issuer does not have.")
        return key

    def _named(self, kid: Any) -> Mapping[str, Any] | None:
        if kid is None:  # an issuer with one key need not name it
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid) if isinstance(kid, str) else None

    async def _refresh(self, age: timedelta) -> None:
        """Fetch the issuer's keys when ours are so old. They still do while it cannot be reached, and nobody
        waits then: who has none yet does."""
        if self._keys and not self._is_due(age):
            return
        async with self._fetching:
            if self._is_due(age):
                self._tried = now = self._clock.now()
                try:
                    self._keys = await fetch(self._settings.jwt_keys)
                    self._fetched = now
                except Exception as error:  # noqa: BLE001 - files, networks and others' JSON fail in many ways
                    log.warning("The keys of the token issuer cannot be read: %s", type(error).__name__)
        if not self._keys:
            detail = "The keys that tokens are checked with cannot be read: see RECOLLECT_JWT_KEYS."
            raise Refused(503, detail, {"Retry-After": str(UNKNOWN.seconds)})

    def _is_due(self, age: timedelta) -> bool:
        now = self._clock.now()
        return not (_within(age, self._fetched, now) or _within(UNKNOWN, self._tried, now))


def _within(age: timedelta, then: datetime | None, now: datetime) -> bool:
    return then is not None and timedelta(0) <= now - then < age


async def fetch(where: str) -> dict[str | None, Mapping[str, Any]]:
    """The public keys of a JSON Web Key Set, by their ids."""
    text = (
        await _answered(where)
        if where.startswith(("https://", "http://"))
        else await asyncio.to_thread(_read, where)
    )
    if len(text) > SET_LIMIT:
        raise ValueError
    keys = cast("list[dict[str, Any]]", json.loads(text)["keys"])
    return {key.get("kid"): key for key in keys if key.get("kty") in _KINDS and key.get("use") != "enc"}


async def _answered(where: str) -> bytes:
    """What is at an address, as far as it matters; all of it within the time, however it trickles."""
    import httpx

    found = bytearray()
    async with (
        asyncio.timeout(FETCH_SECONDS),
        httpx.AsyncClient(timeout=FETCH_SECONDS) as client,
        client.stream("GET", where, headers={"accept-encoding": "identity"}) as answer,
    ):
        answer.raise_for_status()
        async for part in answer.aiter_raw():  # unpacked, a little could become a lot
            found += part
            if len(found) > SET_LIMIT:
                break
    return bytes(found)


def _read(where: str) -> bytes:
    with Path(where).expanduser().open("rb") as file:
        return file.read(SET_LIMIT + 1)


def check_tokens(settings: Settings) -> None:
    """`SettingsError` when tokens are to be taken, but cannot be checked."""
    if not settings.jwt_issuer:
        if settings.jwt_keys:
            raise SettingsError(
                "RECOLLECT_JWT_KEYS is set, but not whose keys they are: RECOLLECT_JWT_ISSUER."
            )
        return
    if not settings.jwt_keys or not settings.jwt_audience:
        raise SettingsError(
            "RECOLLECT_JWT_ISSUER is set: also set RECOLLECT_JWT_KEYS (what the issuer's "
            "/.well-known/openid-configuration calls jwks_uri) and RECOLLECT_JWT_AUDIENCE."
        )
    if settings.jwt_keys.startswith("http://") and not is_loopback(origin_host(settings.jwt_keys)):
        raise SettingsError(
            "RECOLLECT_JWT_KEYS must be https: on the way others could put in their own keys."
        )


def refused(why: str) -> Refused:
    """The refusal of a token."""
    return Refused(401, f"The token {why}", {"WWW-Authenticate": 'Bearer error="invalid_token"'})
