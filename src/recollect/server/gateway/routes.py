"""The routes of the gateway, below /v1: those that are asked all the time, and what no other route takes."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect import Memory
from recollect.model.records import Response as Kept
from recollect.server.answers import answer
from recollect.server.gateway import chains
from recollect.server.gateway.afterwards import Afterwards
from recollect.server.gateway.exchanges import CHAT, PREVIOUS, RESPONSES, Asking, Dialect
from recollect.server.gateway.keeping import kept_of
from recollect.server.gateway.passing import Outgoing, Passing
from recollect.server.gateway.reading import Body, parsed
from recollect.server.gateway.refusals import Turned, no_response
from recollect.server.gateway.shared import check_counted
from recollect.server.gateway.translating import Spoken
from recollect.server.gateway.upstream import as_sent, headers_up, url
from recollect.server.scope import caller
from recollect.server.serving import serving

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
COUNTING = "responses/input_tokens"
STATELESS = (
    *("embeddings", "completions", "moderations", "rerank", "tokenize", "detokenize"),
    *("audio/speech", "audio/transcriptions", "audio/translations"),
    *("images/generations", "images/edits", "images/variations", COUNTING),
)
"""Paths that leave nothing at the upstream, as asking for models does. All others are for the one user of a
machine of their own: with a key of the upstream that many share, each would reach what others have there."""


def first() -> list[Route]:
    """Those to look at before all others: looking through a hundred takes longer than passing on."""
    return [
        Route("/v1/chat/completions", partial(_ask, CHAT), methods=["POST"]),
        Route("/v1/responses", partial(_ask, RESPONSES), methods=["POST"]),
    ]


def rest() -> APIRouter:
    """Those to look at after all others."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        app.state.afterwards = Afterwards(app.state.serving.later)
        app.state.spoken = Spoken(app.state.serving.settings.upstream_responses)
        yield

    routes = APIRouter(lifespan=life)
    take = partial(routes.add_api_route, include_in_schema=False)  # `described` tells of them
    take("/v1/responses/{id}", _get_response, methods=["GET"])
    take("/v1/responses/{id}", _delete_response, methods=["DELETE"])
    take("/v1/{path:path}", _pass_on, methods=METHODS)
    return routes


async def _ask(dialect: Dialect, request: Request) -> Response:
    process = serving(request)
    raw = await request.body()
    afterwards: Afterwards = request.app.state.afterwards
    spoken: Spoken = request.app.state.spoken
    asking = Asking(process, afterwards, await caller(request), request, dialect, raw, spoken)
    return Passing(process, asking.prepared)


async def _get_response(request: Request) -> Response:
    try:
        kept = await _kept(request, chains.response_of)
    except Turned as turned:
        return turned.answer()
    if kept is None:
        return await _pass_on(request)
    body = cast(Body, kept.body)
    return answer({**body, PREVIOUS: kept.previous} if kept.previous else body)


async def _delete_response(request: Request) -> Response:
    try:
        removed = await _kept(request, chains.remove)
    except Turned as turned:
        return turned.answer()
    if removed is None:
        return await _pass_on(request)
    return answer({"id": removed.id, "object": "response", "deleted": True})


async def _kept(request: Request, find: Callable[[Memory, str, str], Kept]) -> Kept | None:
    """The response that the path names; None if it may be the upstream's, who has but one user."""
    process, id, who = serving(request), _id(request), await caller(request)
    if (user := who.user) is None:
        raise no_response(id)
    state = request.app.state
    return await kept_of(
        process,
        state.afterwards,
        user,
        id,
        lambda: find(process.memory, user, id),
        upstreams=who.role == "local" and state.spoken.keeps,
    )


def _id(request: Request) -> str:
    return request.path_params["id"]


async def _pass_on(request: Request) -> Response:
    """Anything else, as it is."""
    process, who = serving(request), await caller(request)
    named = request.path_params
    wanted: str = named["path"] if "path" in named else f"responses/{_id(request)}"
    if who.role != "local" and not _is_stateless(request.method, wanted):
        message = f"The gateway does not pass on /v1/{wanted[:100]}: what users keep there is not kept apart."
        return Turned(404, message, "not_found").answer()
    content = await request.body()
    if who.role != "local" and wanted == COUNTING:
        try:
            content = check_counted(parsed(content))
        except Turned as turned:
            return turned.answer()

    async def prepared() -> Outgoing:
        outgoing: Any = process.upstream.build_request(
            request.method,
            url(process, as_sent(request, wanted), request.scope["query_string"]),
            headers=headers_up(request, who, process, read=False),
            content=content or None,
        )
        return Outgoing(outgoing, {})

    return Passing(process, prepared)


def _is_stateless(method: str, path: str) -> bool:
    """A model that somebody has trained can be deleted by its name."""
    if path == "models" or path.startswith("models/"):
        return method in ("GET", "HEAD")
    return path in STATELESS
