"""REST: one module for each kind of thing, each with its routes."""

from fastapi import APIRouter, Depends, FastAPI

from recollect.server.http import (
    admin,
    conversations,
    goals,
    kagent,
    keys,
    knowledge,
    lists,
    memories,
    person,
    semantic_router,
    transfer,
    turns,
    working,
)
from recollect.server.http.asked import known_query
from recollect.server.http.parts import Parts
from recollect.server.http.writing import UnderWay

PREFIX = "/api/v1"


def routers() -> list[APIRouter]:
    """Every route; those that are called all the time come first, and longer paths before those they begin
    with."""
    modules = (turns, working, conversations, person, memories, goals, knowledge, lists)
    return [module.router for module in (*modules, transfer, admin, keys, kagent, semantic_router)]


def install(app: FastAPI) -> None:
    """Serve them."""
    app.state.under_way = UnderWay()
    for router in routers():
        ours = router.prefix.startswith(PREFIX)  # others are called as their clients like
        app.include_router(router, dependencies=[Depends(known_query)] if ours else None)
    app.add_middleware(Parts)
