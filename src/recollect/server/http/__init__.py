"""REST: one module for each kind of thing, each with its routes."""

from fastapi import APIRouter, FastAPI

from recollect.server.http import (
    admin,
    agent,
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
from recollect.server.http.parts import Parts
from recollect.server.http.writing import UnderWay


def routers() -> list[APIRouter]:
    """Every route; those that are called all the time come first, and longer paths before those they begin
    with."""
    modules = (turns, working, conversations, person, memories, goals, knowledge, lists)
    return [module.router for module in (*modules, agent, transfer, admin, keys, kagent, semantic_router)]


def install(app: FastAPI) -> None:
    """Serve them."""
    app.state.under_way = UnderWay()
    for router in routers():
        app.router.routes.extend(router.routes)  # not included: that would make each of them anew
    app.include_router(agent.living)
    app.add_middleware(Parts)
