"""Signing in to the memory page: a key is shown once, and a cookie stands for it from then on."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.ports.keys import ApiKey, KeyRole
from recollect.server.answers import answer
from recollect.server.http.asked import PREFIX, ours
from recollect.server.http.shapes import Body, gives, like
from recollect.server.identity import sessions
from recollect.server.identity.caller import Caller
from recollect.server.identity.issuing import Issued, is_key, open_session
from recollect.server.identity.said import said
from recollect.server.problems import Refused
from recollect.server.serving import serving

router = ours("the page")

PATH = sessions.SESSION.removeprefix(PREFIX)
KEY_LIMIT = 8192
"""The most characters that are taken for a key: who has pasted a token is told so."""
NOBODY: dict[str, Any] = {"user": None, "role": None}


class SigningIn(Body):
    model_config = like({"key": "rk_u_…"})

    key: Annotated[str, Field(max_length=KEY_LIMIT)]


class Session(BaseModel):
    user: str | None = Field(description="Whose memory the page shows; nobody's for an admin.")
    role: str | None = Field(description="None: nobody is signed in.")
    expires_at: datetime | None = None


def visitor(request: Request) -> Caller | None:
    """Who is there, as the gate has established."""
    return request.state.visitor


@router.get(PATH, operation_id="session", summary="Who is signed in", **gives(Session, "Who it is"))
async def session(request: Request) -> Response:
    """Who is looking at the page. Nobody is an answer too: it is for whoever is not signed in yet."""
    caller = visitor(request)
    if caller is None:
        return answer(NOBODY)
    store, id = serving(request).memory.store, caller.session
    kept = None if id is None else await serving(request).run(partial(store.key, id))
    return answer(_told(caller.role, caller.user, kept))


@router.post(PATH, operation_id="sign_in", summary="Sign in", **gives(Session, "Who it is"))
async def sign_in(request: Request, body: SigningIn) -> Response:
    """Sign in to the page with a key, which sets a cookie. It needs the header `X-Recollect-Page: 1`.
    Programs send their key with each request."""
    sessions.check_page(request.scope, said(request.scope["headers"]))
    key = await _entered(request, body.key.strip())
    before = visitor(request)
    opened = await serving(request).run(
        partial(_opened, request, key, None if before is None else before.session)
    )
    lasting = opened.kept.expires_at or opened.kept.created_at
    seconds = int((lasting - opened.kept.created_at).total_seconds())
    cookie = sessions.cookie(request.scope, opened.key, seconds)
    return answer(_told(key.role.value, key.owner, opened.kept), headers={"Set-Cookie": cookie})


@router.delete(PATH, operation_id="sign_out", summary="Sign out", **gives(Session, "Nobody"))
async def sign_out(request: Request) -> Response:
    """Have the session open nothing any more, and its cookie forgotten."""
    scope, memory = request.scope, serving(request).memory
    told = said(scope["headers"])
    sessions.check_page(scope, told)
    caller, token = visitor(request), sessions.token(scope, told)
    if caller is not None and caller.session is not None:
        with suppress(NotFound):  # it went with all there was of its user
            await serving(request).run(partial(memory.store.revoke_key, caller.session, memory.clock.now()))
    if token is not None:
        serving(request).gate.forget(token)
    return answer(NOBODY, headers={"Set-Cookie": sessions.cookie(scope, "", 0)})


async def _entered(request: Request, given: str) -> ApiKey:
    """The key that somebody signs in with."""
    if not is_key(given):
        raise Refused(
            401,
            "This is no key: one begins with rk_ and has 48 characters. Tokens of an identity provider are "
            "for programs; the page is entered with a key.",
        )
    try:
        key = await serving(request).gate.key(given)
    except Refused:
        caller = visitor(request)
        if caller is not None and caller.role == "local":
            raise Refused(400, "No key was made here, and none is needed: the page is open.") from None
        raise
    if key.role is KeyRole.SERVICE:
        raise Refused(
            403,
            "A service's key acts for users and is nobody's own: sign in with a user's key, which "
            "`recollect keys create --user NAME` makes, or with an admin's.",
        )
    return key


def _opened(request: Request, key: ApiKey, before: str | None) -> Issued:
    """A new session, whatever cookie came along: one that somebody else put there is of no use to them. The
    one that was open in this browser ends."""
    memory = serving(request).memory
    lasting = timedelta(hours=memory.settings.session_hours)
    try:
        opened = open_session(memory.store, memory.clock, key, lasting)
    except NotFound as error:
        raise Refused(401, str(error)) from None
    if before is not None:
        with suppress(NotFound):  # it went with all there was of its user
            memory.store.revoke_key(before, memory.clock.now())
    return opened


def _told(role: str, user: str | None, kept: ApiKey | None) -> dict[str, Any]:
    return {"user": user, "role": role, "expires_at": None if kept is None else kept.expires_at}
