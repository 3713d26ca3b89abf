"""The one place that says who is calling and whose memory that opens."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from recollect.errors import Invalid, RecollectError, StoreError
from recollect.model.scope import check_name
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.keys import ApiKey, KeyRole
from recollect.ports.store import Store
from recollect.server.headers import origins
from recollect.server.identity import said as headers
from recollect.server.identity.caller import Caller
from recollect.server.identity.issuing import PREFIX, digest, is_key
from recollect.server.identity.sessions import PATHS, check_page, is_own
from recollect.server.identity.sessions import token as session_token
from recollect.server.identity.tokens import Signed, Tokens
from recollect.server.problems import Refused, log
from recollect.settings import Settings

TRUSTED = timedelta(seconds=5)
"""For how long a key is not looked up again: a revoked one opens nothing after that, on every process."""
GRACE = timedelta(minutes=5)
"""For how long a key that was good still is while the database does not answer: the gateway goes on without
memory then, and does not send everybody away."""
_NO_SUCH_USER = "There is no such user here for this key: X-Recollect-User is for service keys."
_ONE_USER = (
    "This server has one user, as it has no keys. Leave the user out, start it with RECOLLECT_USER=NAME, or "
    "make a service's key with `recollect keys create --service`."
)
NOTED = timedelta(minutes=1)
"""How exactly it is known when a key was last used."""
TOKEN_NAMED = 16
"""How many digits of the digest of its user name a token in the log, and where limits are counted."""
REMEMBERED = 10_000
"""How many keys and tokens are remembered at once."""

T = TypeVar("T")
_UNKNOWN = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class Remembered(Generic[T]):
    """What was found, and when; all of it is let go when it becomes too much. What was not found is not
    remembered: anybody can make that up, and would drive out the rest."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[datetime, T]] = {}

    def get(self, name: str, now: datetime, age: timedelta) -> T | None:
        found = self._found.get(name)
        return found[1] if found and timedelta(0) <= now - found[0] < age else None

    def put(self, name: str, now: datetime, value: T | None) -> None:
        if value is None:
            self._found.pop(name, None)
            return
        if len(self._found) >= REMEMBERED:
            self._found.clear()
        self._found[name] = (now, value)


class Gate:
    """Tells callers by their key or token. Where no key was ever made and no token is taken, and on a
    loopback address only, whoever is on this machine is the one local user."""

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        self._store = store
        self._local_user = settings.user
        self._clock = clock or SystemClock()
        self._tokens = Tokens(settings, self._clock) if settings.jwt_issuer else None
        self._on_loopback = headers.is_loopback(settings.host)
        self._origins = origins(settings)
        self._keys = Remembered[ApiKey]()
        self._signed = Remembered[Signed]()
        self._locally = Remembered[bool]()
        self._noted: dict[str, datetime] = {}
        self._notes: set[asyncio.Future[None]] = set()
        with suppress(StoreError):  # then it is asked again with the first request
            self._locally.put("", self._clock.now(), not store.keys(1))

    async def caller(self, scope: Any) -> Caller:
        """Who sends the request of this ASGI scope; `Refused` when nobody that is known."""
        said = headers.said(scope["headers"])
        if self._tokens is None and self._on_loopback and await self._is_unlocked():
            self._check_local(scope, said)
            return _acting(Caller("local", self._local_user), said)
        if (session := session_token(scope, said)) is not None:
            found = await self._visitor(session)
            check_page(scope, said)
            return _acting(found, said)
        token = headers.token(said)
        if token is None:
            raise Refused(
                401,
                "This needs a key: send `Authorization: Bearer rk_…`. `recollect keys create --user NAME` "
                "makes one on the server.",
                {"WWW-Authenticate": "Bearer"},
            )
        if self._tokens is not None and not token.startswith(PREFIX):
            return _acting(await self._signer(self._tokens, token), said)
        return _acting(await self._holder(token), said)

    async def _is_unlocked(self) -> bool:
        """Whether no key was ever made; where one was, it stays asked for, also after it was revoked."""
        now = self._clock.now()
        if (known := self._locally.get("", now, TRUSTED)) is not None:
            return known
        try:
            found = not await asyncio.to_thread(self._store.keys, 1)
        except StoreError:
            if (known := self._locally.get("", now, GRACE)) is None:
                raise
            return known
        self._locally.put("", now, found)
        return found

    def _check_local(self, scope: Any, said: dict[str, str]) -> None:
        """`Refused` for what does not come from this machine and its own programs: another address, a page
        from elsewhere in a browser here (by its origin, or by a name of its own that leads here), a proxy."""
        host, origin = headers.host_of(said.get(headers.HOST, "")), said.get(headers.ORIGIN)
        if not headers.is_loopback(headers.peer(scope)) or headers.FORWARDED in said:
            why = "comes from another machine"
        elif not headers.is_loopback(host):
            why = "asks for a host that is not localhost"
        elif origin is not None and not self._is_ours(scope, said):
            why = "comes from a web page that RECOLLECT_CORS does not name"
        elif said.get(headers.SITE) == "cross-site" and origin is None:
            why = "comes from a web page"
        else:
            given = (said.get(headers.API_KEY, ""), said.get(headers.AUTHORIZATION, "").partition(" ")[2])
            if any(one.strip().startswith(PREFIX) for one in given):  # it would be passed on to strangers
                raise Refused(401, "This key opens nothing: no key was made here.", _UNKNOWN)
            return
        raise Refused(
            403,
            f"Without keys only this machine is served, and this {why}. "
            "`recollect keys create --user NAME` makes one.",
        )

    def _is_ours(self, scope: Any, said: dict[str, str]) -> bool:
        """Whether a page may call: one that is named, or this server's own; and where models are asked, any
        of this machine. What others on this machine show is not to change a memory with a form."""
        origin = said[headers.ORIGIN]
        if origin in self._origins or is_own(scope, said):
            return True
        return not scope["path"].startswith(PATHS) and headers.is_loopback(headers.origin_host(origin))

    async def _signer(self, tokens: Tokens, token: str) -> Caller:
        name, now = digest(token), self._clock.now()
        known = self._signed.get(name, now, TRUSTED)
        if known is None or now >= known.until:
            known = await tokens.signed(token)
            self._signed.put(name, now, known)
        # No name: it goes into the log. Of one user, whatever the token, it is the same.
        return Caller("user", known.user, f"token {digest(known.user)[:TOKEN_NAMED]}")

    async def _holder(self, token: str) -> Caller:
        key = await self.key(token)
        return Caller(key.role.value, key.owner, key.id)

    async def key(self, token: str) -> ApiKey:
        """The key that this is; `Refused` when it opens nothing."""
        key = await self._valid(token) if is_key(token) else None
        if key is None or key.parent is not None:
            # One answer for all: nobody learns that a key was once good.
            raise Refused(401, "This key opens nothing: it is unknown, revoked or expired.", _UNKNOWN)
        return key

    async def _visitor(self, token: str) -> Caller:
        session = await self._valid(token)
        if session is None or session.parent is None:
            raise Refused(401, "You are signed out: sign in again with a key.", _UNKNOWN)
        return Caller(session.role.value, session.owner, session.parent, session.id)

    async def _valid(self, token: str) -> ApiKey | None:
        """A key or session, noted as used, while it is valid."""
        found, now = await self._looked_up(token), self._clock.now()
        if found is None or not found.is_valid(now):
            return None
        self._note_use(found, now)
        return found

    def lock(self) -> None:
        """A key was made here just now: nobody comes in without one any more."""
        self._locally.put("", self._clock.now(), False)

    def forget(self, token: str) -> None:
        """Look it up again when it comes next: here it was just revoked."""
        self._keys.put(digest(token), self._clock.now(), None)

    async def _looked_up(self, token: str) -> ApiKey | None:
        name, now = digest(token), self._clock.now()
        if (known := self._keys.get(name, now, TRUSTED)) is not None:
            return known
        try:
            found = await asyncio.to_thread(self._store.key_by_digest, name)
        except StoreError:
            if (known := self._keys.get(name, now, GRACE)) is None:
                raise
            return known
        self._keys.put(name, now, found)
        return found

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        """Write down that a key is in use, out of the request's way; what cannot be written is not missed."""
        last = self._noted.get(key.id, key.used_at)
        if last is not None and timedelta(0) <= now - last < NOTED:
            return
        if len(self._noted) >= REMEMBERED:  # sessions come and go; at worst something is noted once more
            self._noted.clear()
        self._noted[key.id] = now
        note = asyncio.get_running_loop().run_in_executor(None, partial(self._note, key.id, now))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    def _note(self, id: str, now: datetime) -> None:
        try:
            self._store.note_key_used(id, now)
        except RecollectError as error:
            log.info("When a key was used was not noted: %s", error)


def _acting(caller: Caller, said: dict[str, str]) -> Caller:
    """The caller on behalf of the user that `X-Recollect-User` names: a service acts for any, others for
    themselves."""
    user = said.get(headers.USER)
    if user is None or caller.role == KeyRole.ADMIN:
        return caller
    try:
        check_name(headers.USER, user)
    except Invalid as error:
        raise Refused(400, str(error)) from None
    if caller.role == KeyRole.SERVICE:
        return replace(caller, user=user)
    if user != caller.user:  # as if that user did not exist
        raise Refused(404, _ONE_USER if caller.role == "local" else _NO_SUCH_USER)
    return caller
