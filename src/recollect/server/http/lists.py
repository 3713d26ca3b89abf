"""Records of a kind, a page at a time."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Query
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
    ScopedMemory,
    Summary,
    ToolInvocation,
    Turn,
)
from recollect.limits import TEXT_LIMIT, shown
from recollect.model.records import BY_KIND, MEMORY_KINDS
from recollect.model.records import Response as StoredResponse
from recollect.model.shapes import field_from_json, shapes
from recollect.scoped import KINDS
from recollect.server.answers import page
from recollect.server.http.asked import ours
from recollect.server.http.shapes import PAGE, After, Limit, gives, listed
from recollect.server.scope import SEEN_FROM, Scoped
from recollect.server.serving import serving

router = ours("lists")

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

History = Annotated[bool, Query(description="Memories that were corrected too.")]
Everywhere = Annotated[
    bool,
    Query(
        description="Whatever channel, agent and conversation are named, and corrected memories too: what "
        "`where` alone says, as `list` does in Python."
    ),
]


@dataclass(frozen=True, slots=True)
class Listing:
    """Which records of a kind are wanted, and which page of them."""

    memory: ScopedMemory
    given: Mapping[str, str]
    """What the request names of channel, agent and conversation."""
    limit: int
    after: str | None
    oldest_first: bool
    where: str | None
    history: bool
    everywhere: bool

    def found(self, kind: type[Record]) -> list[Record]:
        """The page."""
        wanted = condition(kind, self.where)
        if not self.everywhere:
            wanted = {**self._narrowed(kind), **wanted}
        return self.memory.list(
            kind.kind, limit=self.limit, after=self.after, oldest_first=self.oldest_first, **wanted
        )

    def _narrowed(self, kind: type[Record]) -> dict[str, Any]:
        """As the memory is seen from there: of a channel, with what all channels read."""
        if odd := self.given.keys() - {field.name for field in shapes(kind)}:
            raise Invalid(f"A {kind.kind} has no {min(odd)}: leave it out, or add everywhere=true.")
        narrowed: dict[str, Any] = dict(self.given)
        if "channel" in narrowed:
            alone = self.memory.retention().isolated
            narrowed["channel"] = [self.memory.scope.channel] if alone else [*self.memory.scope.channels]
        if kind.kind in MEMORY_KINDS and not self.history:
            narrowed["superseded_by"] = None
        return narrowed


async def listing(
    request: Request,
    memory: Scoped,
    limit: Limit = PAGE,
    after: After = None,
    oldest_first: bool = False,
    where: Where = None,
    history: History = False,
    everywhere: Everywhere = False,
) -> Listing:
    given = {name: request.query_params[name] for name in SEEN_FROM if name in request.query_params}
    return Listing(memory, given, limit, after, oldest_first, where, history, everywhere)


Wanted = Annotated[Listing, Depends(listing)]


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
    async def list_records(request: Request, wanted: Wanted) -> Response:
        return page(plural, await serving(request).run(lambda: wanted.found(kind)), wanted.limit)

    router.add_api_route(
        f"/{plural}",
        list_records,
        methods=["GET"],
        operation_id=f"list_{plural}",
        summary=f"List {plural.replace('_', ' ')}",
        description="Newest first, a page at a time: `next` of one page is `after` for the one behind it. "
        "`channel`, `agent` and `conversation` narrow it, as far as these have one.",
        **gives(listed(plural, kind), "A page"),
    )


for plural, kind in LISTED.items():
    _listing(plural, kind)


@router.get(
    "/records", operation_id="list", summary="List records", **gives(listed("records", Record), "A page")
)
async def records(
    request: Request,
    wanted: Wanted,
    kind: Annotated[str, Query(json_schema_extra={"enum": list(KINDS)})] = "fact",
) -> Response:
    """Records of any kind, newest first, a page at a time."""
    if kind not in KINDS:
        raise Invalid(f"There is no kind {shown(kind)}; the kinds are {', '.join(KINDS)}.")
    return page("records", await serving(request).run(lambda: wanted.found(BY_KIND[kind])), wanted.limit)


@router.get(
    "/conversations",
    operation_id="list_conversations",
    summary="List conversations",
    **gives(listed("conversations", Conversation), "A page"),
)
async def conversations(
    request: Request,
    memory: Scoped,
    limit: Limit = PAGE,
    after: After = None,
    everywhere: Everywhere = False,
) -> Response:
    """Conversations, by name, a page at a time; `channel` and `agent` narrow it."""
    if everywhere or not any(name in request.query_params for name in SEEN_FROM):
        found = await serving(request).run(lambda: memory.conversations(limit=limit, after=after))
        return page("conversations", found, limit)
    wanted = await listing(request, memory, limit, after, oldest_first=True)
    return page("conversations", await serving(request).run(lambda: wanted.found(Conversation)), limit)
