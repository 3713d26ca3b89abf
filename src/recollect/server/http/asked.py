"""Queries have the parameters that a route knows: a name that is written wrongly must not be passed over."""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant

from recollect import Invalid
from recollect.server.http.shapes import REFUSED
from recollect.server.problems import NAME_SHOWN, TOLD
from recollect.server.scope import SEEN_FROM

PREFIX = "/api/v1"


def ours(tag: str, below: str = "", *needs: Any) -> APIRouter:
    """A router of our own API; those of others are called as their clients like."""
    needed = [Depends(known_query), *needs]
    return APIRouter(prefix=f"{PREFIX}{below}", tags=[tag], dependencies=needed, responses=REFUSED)


async def known_query(request: Request) -> None:
    """Refuses any others."""
    if not request.scope["query_string"]:
        return
    known = {*SEEN_FROM, *_named(request.scope["route"].dependant)}
    if odd := sorted(request.query_params.keys() - known):
        names = ", ".join(repr(name[:NAME_SHOWN]) for name in odd[:TOLD])
        raise Invalid(f"Unknown in the query: {names}. Known here: {', '.join(sorted(known))}.")


def _named(dependant: Dependant) -> Iterator[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _named(inner)
