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
    review,
    semantic_router,
    session,
    transfer,
    turns,
    working,
)
from recollect.server.http.parts import Parts
from recollect.server.http.writing import UnderWay


def routers() -> list[APIRouter]:
    """Every route; those that are called all the time come first, and longer paths before those they begin
    with."""
    modules = (turns, working, conversations, person, memories, review, goals, knowledge, lists)
    others = (agent, transfer, admin, session, keys, kagent, semantic_router)
    return [module.router for module in (*modules, *others)]


def install(app: FastAPI) -> None:
    """Serve them."""
    app.state.under_way = UnderWay()
    for router in routers():
        app.router.routes.extend(router.routes)  # not included: that would make each of them anew
    app.include_router(agent.living)
    app.add_middleware(Parts)
