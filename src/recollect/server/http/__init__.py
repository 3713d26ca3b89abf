"""The REST routes, a module for each kind of thing."""

from fastapi import APIRouter

from recollect.server.http import keys


def routers() -> list[APIRouter]:
    """All of them."""
    return [keys.router]
