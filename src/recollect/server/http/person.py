"""The user as a person: profile, settings, retention, how much there is, what was done with it."""

from datetime import date
from typing import Annotated, Any

from fastapi import Query
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from recollect import AuditEntry, Forgotten, Invalid, Profile, Retention, Spending, UserSettings
from recollect.limits import TEXT_LIMIT
from recollect.model.scope import NAME_LIMIT
from recollect.record.growth import MOST, POINTS, Grown
from recollect.record.offered import Offered
from recollect.record.sizes import Filled
from recollect.server.answers import answer, page
from recollect.server.http.asked import ours
from recollect.server.http.parts import Id, Named
from recollect.server.http.shapes import (
    PAGE,
    After,
    Body,
    DryRun,
    Limit,
    Since,
    Texts,
    gives,
    like,
    listed,
    made,
)
from recollect.server.http.writing import FORGETS, Writes, forgotten
from recollect.server.scope import Called, Scoped, own
from recollect.server.serving import serving

router = ours("the user")

Word = Annotated[str | None, Query(max_length=TEXT_LIMIT)]


class ChangedProfile(Body):
    """Merged into the profile; a preference or style set to null is taken out."""

    preferences: dict[str, Any] | None = None
    expertise: Texts | None = None
    style: dict[str, Any] | None = None

    model_config = like({"preferences": {"tea": "green"}, "expertise": ["Python"]})


class Values(Body):
    """Values by name; null takes one out."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [{"top_k": 8}]})

    def given(self) -> dict[str, Any]:
        return self.model_extra or {}


@router.get("/whoami", operation_id="whoami", summary="Who am I", **gives(made(user=str | None, role=str)))
async def whoami(caller: Called) -> Response:
    """Whose memory the key or token opens, and as what. Of an admin, and of a service that names no user,
    nobody's."""
    return answer({"user": caller.user, "role": caller.role})


@router.get("/profile", operation_id="profile", summary="Read the profile", **gives(Profile))
async def profile(request: Request, memory: Scoped) -> Response:
    """What is known of the user as a person."""
    return answer(await serving(request).run(memory.profile))


@router.patch("/profile", operation_id="update_profile", summary="Change the profile", **gives(Profile))
async def update_profile(body: ChangedProfile, write: Writes) -> Response:
    """Merge into the profile."""
    given = body.given()
    return await write.do(lambda memory: memory.update_profile(**given))


@router.get("/settings", operation_id="settings", summary="Read settings", **gives(UserSettings))
async def settings(request: Request, memory: Scoped) -> Response:
    """What the user has set for their own memory."""
    return answer(await serving(request).run(memory.settings))


@router.get(
    "/settings/offered",
    operation_id="offered",
    summary="What can be set",
    **gives(made(settings=dict[str, Offered])),
)
async def offered(request: Request, memory: Scoped) -> Response:
    """What users can set for their own memory, by name: what holds, what does where nothing is set, and what
    there is to choose from."""
    return answer({"settings": await serving(request).run(memory.offered)})


@router.patch("/settings", operation_id="update_settings", summary="Change settings", **gives(UserSettings))
async def update_settings(body: Values, write: Writes) -> Response:
    """Merge into the user's settings; a value of null is taken out."""
    given = _keywords(body)
    return await write.do(lambda memory: memory.update_settings(**given))


@router.get("/retention", operation_id="retention", summary="Read the policy", **gives(Retention))
async def retention(request: Request, memory: Scoped) -> Response:
    """The retention policy in force in the channel."""
    return answer(await serving(request).run(memory.retention))


@router.get(
    "/retention/origins",
    operation_id="retention_origins",
    summary="Who has set the policy",
    **gives(dict[str, str], "By value"),
)
async def origins(request: Request, memory: Scoped) -> Response:
    """Who has set each value of the policy: `default`, `deployment`, `user` or `channel`."""
    return answer(await serving(request).run(memory.retention_origins))


@router.patch("/retention", operation_id="set_retention", summary="Change the policy", **gives(Retention))
async def set_retention(request: Request, body: Values, write: Writes) -> Response:
    """Have the channel, or without one all of the user's, differ from the deployment's policy; null takes a
    difference back."""
    given = _keywords(body)
    channel = request.query_params.get("channel")
    return await write.do(lambda memory: memory.set_retention(channel, **given))


def _keywords(body: Values) -> dict[str, Any]:
    """Names that are given to a verb beside its own."""
    given = body.given()
    if odd := given.keys() & {"self", "channel"}:
        raise Invalid(f"There is no value {min(odd)!r} to set.")
    return given


@router.get(
    "/channels", operation_id="channels", summary="List channels", **gives(made(channels=dict[str, Filled]))
)
async def channels(request: Request, memory: Scoped) -> Response:
    """How much there is in each channel, and how much there may be; under the empty name, in all."""
    return answer({"channels": await serving(request).run(memory.sizes)})


@router.delete(
    "/channels/{name:part}", operation_id="forget_channel", summary="Forget a channel", **gives(Forgotten)
)
async def forget_channel(name: Named, write: Writes, dry_run: DryRun = False) -> Response:
    """Erase a channel, with all that was derived from it alone."""
    return await write.do(lambda memory: memory.forget(channel=name, dry_run=dry_run), forgotten, FORGETS)


@router.delete(
    "/agents/{name:part}", operation_id="forget_agent", summary="Forget an agent's", **gives(Forgotten)
)
async def forget_agent(name: Named, write: Writes, dry_run: DryRun = False) -> Response:
    """Erase what an agent was told, with all that was derived from it alone."""
    return await write.do(lambda memory: memory.forget(agent=name, dry_run=dry_run), forgotten, FORGETS)


@router.delete(
    "/everything", operation_id="forget_everything", summary="Forget everything", **gives(Forgotten)
)
async def forget_everything(
    caller: Called,
    write: Writes,
    confirm: Annotated[str, Query(max_length=NAME_LIMIT, description="The user, whose it all is.")],
    dry_run: DryRun = False,
) -> Response:
    """Erase everything there is of the user. There is no way back."""
    if confirm != own(caller):
        raise Invalid("Nothing was erased: say whose memory is to go with confirm=<user>, as /whoami tells.")
    return await write.do(lambda memory: memory.forget(everything=True, dry_run=dry_run))


@router.get(
    "/stats",
    operation_id="stats",
    summary="How much there is",
    **gives(made(counts=dict[str, int], sizes=dict[str, Filled])),
)
async def stats(request: Request, memory: Scoped) -> Response:
    """How many records of each kind there are, and how much of each channel is used."""
    return answer(await serving(request).run(lambda: {"counts": memory.counts(), "sizes": memory.sizes()}))


@router.get("/growth", operation_id="growth", summary="How it grew", **gives(made(growth=list[Grown])))
async def growth(
    request: Request, memory: Scoped, points: Annotated[int, Query(ge=2, le=MOST)] = POINTS
) -> Response:
    """How many records of each kind there were over time, of those that are still stored, oldest first."""
    return answer({"growth": await serving(request).run(lambda: memory.growth(points))})


@router.get(
    "/audit", operation_id="audit", summary="What was done", **gives(listed("audit", AuditEntry), "A page")
)
async def audit(
    request: Request,
    memory: Scoped,
    operation: Word = None,
    kind: Word = None,
    since: Since = None,
    until: Since = None,
    limit: Limit = PAGE,
    after: After = None,
) -> Response:
    """What was done with the memory, or in one conversation, newest first."""
    conversation = memory.scope.conversation
    found = await serving(request).run(
        lambda: memory.audit(
            operation,
            kind=kind,
            since=since,
            until=until,
            conversation=conversation,
            limit=limit,
            after=after,
        )
    )
    return page("audit", found, limit)


@router.get(
    "/records/{id:part}/readers",
    operation_id="readers",
    summary="Who read a record",
    **gives(made(readers=list[AuditEntry])),
)
async def readers(request: Request, id: Id, memory: Scoped, limit: Limit = PAGE) -> Response:
    """The reads that a record was among, newest first, as far as the audit tells."""
    return answer({"readers": await serving(request).run(lambda: memory.readers(id, limit=limit))})


@router.get("/usage", operation_id="spending", summary="What it costs", **gives(made(usage=list[Spending])))
async def usage(
    request: Request, memory: Scoped, since: Annotated[date | None, Query(examples=["2026-01-01"])] = None
) -> Response:
    """What models were asked for this user, by day (UTC), source and model, with its cost."""
    return answer({"usage": await serving(request).run(lambda: memory.spending(since))})
