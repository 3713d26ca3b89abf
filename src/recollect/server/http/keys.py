"""Keys, for admins."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from recollect.model.scope import NAME_LIMIT
from recollect.ports.keys import ApiKey, KeyRole
from recollect.server.answers import answer
from recollect.server.http.asked import ours
from recollect.server.http.shapes import Body, gives, like
from recollect.server.identity.entry import operator
from recollect.server.identity.issuing import issue
from recollect.server.serving import serving

router = ours("keys", "/keys", Depends(operator))

PAGE = 1000
Text = Annotated[str, Field(max_length=NAME_LIMIT)]


class NewKey(Body):
    model_config = like({"role": "user", "user": "ana", "name": "laptop"}, {"role": "service"})

    role: KeyRole
    user: Text | None = Field(None, description="Whose memory it opens, for role user.")
    name: Text = ""
    expires_at: datetime | None = Field(None, description="With a time zone; left out: never.")


class KeyShown(BaseModel):
    id: str
    name: str
    role: KeyRole
    user: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = Field(None, description="To the minute.")


class KeyMade(KeyShown):
    key: str = Field(description="The key itself. It is shown this once.")


class Keys(BaseModel):
    keys: list[KeyShown]
    next: str | None = None


def shown(key: ApiKey) -> dict[str, Any]:
    """What may be seen of a key: not even its digest."""
    times = ("created_at", "expires_at", "revoked_at", "used_at")
    named = {"id": key.id, "name": key.name, "role": key.role.value, "user": key.owner}
    given = {**named, **{name: getattr(key, name) for name in times}}
    return {name: value for name, value in given.items() if value is not None}


@router.get("", operation_id="keys", summary="All keys", **gives(Keys, "A page of keys"))
async def list_keys(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
    after: Annotated[str | None, Query(max_length=NAME_LIMIT)] = None,
) -> Response:
    """Every key, newest first, revoked and expired ones among them."""
    store = serving(request).memory.store
    found = await serving(request).run(lambda: store.keys(limit, after))
    more = {"next": found[-1].id} if len(found) == limit else {}
    return answer({"keys": [shown(key) for key in found], **more})


@router.post("", operation_id="create_key", summary="Make a key", **gives(KeyMade, "The key", 201))
async def create_key(request: Request, new: NewKey) -> Response:
    """Make a key of a user, of a service that acts for users (X-Recollect-User), or of an admin, who can
    read nobody's memory. The first key ends the time when none was needed."""
    memory = serving(request).memory
    make = partial(issue, memory.store, memory.clock, new.role, owner=new.user, name=new.name)
    made = await serving(request).run(lambda: make(expires_at=new.expires_at))
    return answer({**shown(made.kept), "key": made.key}, 201)


@router.delete(
    "/{id}", operation_id="revoke_key", summary="Revoke a key", **gives(KeyShown, "The revoked key")
)
async def revoke_key(request: Request, id: str) -> Response:
    """Have a key open nothing any more: within seconds, on every server."""
    memory = serving(request).memory
    return answer(shown(await serving(request).run(lambda: memory.store.revoke_key(id, memory.clock.now()))))
