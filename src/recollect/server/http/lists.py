"""Records of a kind, a page at a time."""

import json
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect import (
    Closet,
    Conversation,
    Entity,
    Episode,
    Fact,
    Invalid,
    Procedure,
    Record,
    Reflection,
    Relation,
    Summary,
    ToolInvocation,
    Turn,
)
from recollect.limits import TEXT_LIMIT
from recollect.model.records import BY_KIND
from recollect.model.records import Response as StoredResponse
from recollect.model.shapes import field_from_json, shapes
from recollect.scoped import KINDS
from recollect.server.answers import page
from recollect.server.http.shapes import PAGE, REFUSED, After, Limit, gives, listed
from recollect.server.scope import Scoped
from recollect.server.serving import serving

router = APIRouter(prefix="/api/v1", tags=["lists"], responses=REFUSED)

LISTED: dict[str, type[Record]] = {
    "turns": Turn,
    "facts": Fact,
    "procedures": Procedure,
    "episodes": Episode,
    "reflections": Reflection,
    "entities": Entity,
    "relations": Relation,
    "closets": Closet,
    "tool_invocations": ToolInvocation,
    "summaries": Summary,
    "responses": StoredResponse,
}

Where = Annotated[
    str | None,
    Query(
        max_length=TEXT_LIMIT,
        description="Only those with these values: a JSON object of fields; a list is any of its values.",
        examples=['{"channel": "work", "superseded_by": null}'],
    ),
]


def condition(kind: type[Record], where: str | None) -> dict[str, Any]:
    """What records are to have, as `list` takes it."""
    if where is None:
        return {}
    try:
        given: object = json.loads(where)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise Invalid('where must be a JSON object, such as {"channel": "work"}.')
    known = {field.name: field for field in shapes(kind)}
    wanted: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", given).items():
        if name not in known or known[name].shape in ("json", "tuple"):
            names = ", ".join(name for name, field in known.items() if field.shape not in ("json", "tuple"))
            raise Invalid(f"A {kind.kind} is not listed by {name[:100]!r}; it is by {names}.")
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        try:
            read = [_value(field_from_json(known[name], _plain(one))) for one in values]
        except (TypeError, ValueError, OverflowError):
            raise Invalid(f"where: a {kind.kind} cannot have that as its {name}.") from None
        wanted[name] = read if isinstance(value, list) else read[0]
    return wanted


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError


def _value(value: Any) -> Any:
    """Numbers that no column holds equal nothing, and are not asked for."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) < 2**53:
        raise ValueError
    return value


def _listing(plural: str, kind: type[Record]) -> None:
    async def list_records(
        request: Request,
        memory: Scoped,
        limit: Limit = PAGE,
        after: After = None,
        oldest_first: bool = False,
        where: Where = None,
    ) -> Response:
        wanted = condition(kind, where)
        found = await serving(request).run(
            lambda: memory.list(kind.kind, limit=limit, after=after, oldest_first=oldest_first, **wanted)
        )
        return page(plural, found, limit)

    router.add_api_route(
        f"/{plural}",
        list_records,
        methods=["GET"],
        operation_id=f"list_{plural}",
        summary=f"List {plural.replace('_', ' ')}",
        description="Newest first, a page at a time: `next` of one page is `after` for the one behind it.",
        **gives(listed(plural, kind), "A page"),
    )


for plural, kind in LISTED.items():
    _listing(plural, kind)


@router.get(
    "/records", operation_id="list", summary="List records", **gives(listed("records", Record), "A page")
)
async def records(
    request: Request,
    memory: Scoped,
    kind: Annotated[str, Query(json_schema_extra={"enum": list(KINDS)})] = "fact",
    limit: Limit = PAGE,
    after: After = None,
    oldest_first: bool = False,
    where: Where = None,
) -> Response:
    """Records of any kind, newest first, a page at a time."""
    wanted = condition(BY_KIND.get(kind, Record), where)
    found = await serving(request).run(
        lambda: memory.list(kind, limit=limit, after=after, oldest_first=oldest_first, **wanted)
    )
    return page("records", found, limit)


@router.get(
    "/conversations",
    operation_id="list_conversations",
    summary="List conversations",
    **gives(listed("conversations", Conversation), "A page"),
)
async def conversations(
    request: Request, memory: Scoped, limit: Limit = PAGE, after: After = None
) -> Response:
    """Conversations, by name, a page at a time."""
    found = await serving(request).run(lambda: memory.conversations(limit=limit, after=after))
    return page("conversations", found, limit)
