"""Keys: all of them for operators, and for users their own."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.model.scope import NAME_LIMIT
from recollect.ports.keys import OWN_KEYS, ApiKey, KeyRole, KeyStore
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import Body, gives, like
from recollect.server.identity.caller import Caller
from recollect.server.identity.entry import OPERATORS
from recollect.server.identity.issuing import Issued, issue
from recollect.server.problems import Refused
from recollect.server.scope import Called
from recollect.server.serving import serving

router = ours("keys")

PAGE = 1000
Text = Annotated[str, Field(max_length=NAME_LIMIT)]


class NewKey(Body):
    model_config = like({"role": "user", "user": "ana", "name": "laptop"}, {"role": "service"})

    role: KeyRole = KeyRole.USER
    user: Text | None = Field(
        None, description="Whose memory it opens, for role user; a user's is their own."
    )
    name: Text = ""
    expires_at: datetime | None = Field(
        None, description="With a time zone; left out: never, or with the key of the user who makes it."
    )


class KeyShown(BaseModel):
    id: str
    name: str
    role: KeyRole
    user: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = Field(None, description="To the minute.")
    current: bool = Field(False, description="Whether it is the one that this request came with.")


class KeyMade(KeyShown):
    key: str = Field(description="The key itself. It is shown this once.")


class Keys(BaseModel):
    keys: list[KeyShown]
    next: str | None = None


class SessionShown(BaseModel):
    id: str
    key: str = Field(description="The id of the key that was signed in with.")
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    current: bool = False


class Sessions(BaseModel):
    sessions: list[SessionShown]


async def keeper(called: Called) -> Caller:
    """The caller, when it has keys to see to: all of them, or its own."""
    if called.role == "service":
        raise Refused(403, "A service makes no keys: this needs the user's own, or an admin's.")
    return called


Keeper = Annotated[Caller, Depends(keeper)]


def whose(caller: Caller) -> str | None:
    """Whose keys the caller may see and change; None for everybody's."""
    return None if caller.role in OPERATORS else caller.user


def shown(key: ApiKey, caller: Caller) -> dict[str, Any]:
    """What may be seen of a key: not even its digest."""
    times = ("created_at", "expires_at", "revoked_at", "used_at")
    named = {"id": key.id, "name": key.name, "role": key.role.value, "user": key.owner}
    given = {**named, **{name: getattr(key, name) for name in times}}
    return {**{n: value for n, value in given.items() if value is not None}, "current": key.id == caller.key}


@router.get("/keys", operation_id="keys", summary="Keys", **gives(Keys, "A page of keys"))
async def list_keys(
    request: Request,
    caller: Keeper,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
    after: Annotated[str | None, Query(max_length=NAME_LIMIT)] = None,
) -> Response:
    """Every key, or of a user their own, newest first, revoked and expired ones among them."""
    store = serving(request).memory.store
    found = await serving(request).run(lambda: store.keys(limit, after, whose(caller)))
    more = {"next": found[-1].id} if len(found) == limit else {}
    return answer({"keys": [shown(key, caller) for key in found], **more})


@router.post("/keys", operation_id="create_key", summary="Make a key", **gives(KeyMade, "The key", 201))
async def create_key(request: Request, caller: Keeper, new: NewKey) -> Response:
    """Make a key of a user, of a service that acts for users (X-Recollect-User), or of an admin, who can
    read nobody's memory. The first key ends the time when none was needed. Users make keys of their own, none
    of which is good for longer than the one they came with."""
    memory = serving(request).memory

    def work() -> Issued:
        _check_held(memory.store, caller, memory.clock.now())
        owner, until = (
            (new.user, new.expires_at) if whose(caller) is None else _own(memory.store, caller, new)
        )
        return issue(memory.store, memory.clock, new.role, owner=owner, name=new.name, expires_at=until)

    made = await serving(request).run(work)
    serving(request).gate.lock()
    return answer({**shown(made.kept, caller), "key": made.key}, 201)


def _check_held(store: KeyStore, caller: Caller, now: datetime) -> None:
    """What was revoked a moment ago is trusted for some seconds: it leaves no key behind that goes on."""
    held = store.key(caller.session or caller.key)
    if held is not None and not held.is_valid(now):
        raise Refused(401, "This key opens nothing: it is unknown, revoked or expired.")


def _own(store: KeyStore, caller: Caller, new: NewKey) -> tuple[str | None, datetime | None]:
    """Whose key a user makes, and until when it is good: whoever gave them theirs an end meant it."""
    if new.role is not KeyRole.USER or new.user not in (None, caller.user):
        raise Refused(403, "You can make keys of your own: of role user, and yours. An admin makes others.")
    held = store.key(caller.key)
    if held is None:
        raise Refused(403, "A token makes no keys: sign in with a key of yours, or ask an admin for one.")
    if len(store.keys(OWN_KEYS, owner=caller.user)) >= OWN_KEYS:
        raise Refused(403, f"You have {OWN_KEYS:,} keys, old ones among them: an admin makes further ones.")
    if held.expires_at is not None and new.expires_at is not None and new.expires_at > held.expires_at:
        ends = held.expires_at.isoformat(timespec="minutes")
        raise Invalid(f"The key that you came with ends at {ends}: a new one cannot be good for longer.")
    return caller.user, new.expires_at or held.expires_at


@router.delete(
    "/keys/{id}", operation_id="revoke_key", summary="Revoke a key", **gives(KeyShown, "The revoked key")
)
async def revoke_key(request: Request, caller: Keeper, id: str) -> Response:
    """Have a key open nothing any more, nor who signed in with it: within seconds, on every server. The id of
    a session ends that one."""
    memory = serving(request).memory
    revoke = partial(memory.store.revoke_key, id, memory.clock.now(), whose(caller))
    return answer(shown(await serving(request).run(revoke), caller))


@router.get("/sessions", operation_id="sessions", summary="Sessions", **gives(Sessions, "Those open now"))
async def list_sessions(request: Request, caller: Keeper) -> Response:
    """Where the caller is signed in to the page, newest first; of an operator, where admins are."""
    memory = serving(request).memory
    found = await serving(request).run(partial(memory.store.sessions, whose(caller), memory.clock.now()))
    times = ("created_at", "expires_at", "used_at")
    told = [
        {"id": one.id, "key": one.parent, "current": one.id == caller.session}
        | {name: at for name in times if (at := getattr(one, name)) is not None}
        for one in found
    ]
    return answer({"sessions": told})
