"""The OpenAPI document with how callers say who they are: its page asks for that, and tools send it."""

import copy
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from recollect.model.scope import NAME_LIMIT
from recollect.server.gateway.described import PATHS
from recollect.server.http import routers
from recollect.server.identity.entry import OPEN, PROBES
from recollect.server.identity.said import API_KEY
from recollect.server.identity.sessions import SESSION
from recollect.server.scope import SEEN_FROM, is_scoped

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A key (`rk_…`), or a token (JWT)."},
    "key": {"type": "apiKey", "in": "header", "name": API_KEY, "description": "A key (`rk_…`)."},
}

ABOUT = """Long-term memory for AI agents: what was said is recorded word for word, and recalled when it
bears on what is asked.

- `/api/v1`: everything that memory can do. `channel`, `agent` and `conversation` in the query say from where
  it is seen; the user is whoever the key or token belongs to.
- `/v1`: OpenAI's API, with memory: have an agent's `base_url` end in `/v1`.
- [`/memory`](memory): the page where people see what is remembered of them, and change it.
- `/api/memories` and `/v1/memory`: what kagent and Semantic Router call.

Errors are problems (RFC 9457) that say what to do; below `/v1`, OpenAI's."""
SEEN = {
    name: {
        "name": name,
        "in": "query",
        "required": False,
        "description": what,
        "schema": {"type": "string", "minLength": 1, "maxLength": NAME_LIMIT},
    }
    for name, what in SEEN_FROM.items()
}
USER = {
    "name": "X-Recollect-User",
    "in": "header",
    "required": False,
    "description": "Whom a service's key acts for. Any other key is its own user's.",
    "schema": {"type": "string"},
}


def install(app: FastAPI) -> None:
    """Have the app's document say it."""
    without = app.openapi

    def whole() -> dict[str, Any]:
        document = without()  # which is made once
        if "securitySchemes" in document["components"]:
            return document
        document["info"]["description"] = ABOUT
        document["paths"].update(copy.deepcopy(PATHS))
        document["components"]["parameters"] = {**SEEN, "user": USER}
        document["components"]["securitySchemes"] = SCHEMES
        document["security"] = [{name: []} for name in SCHEMES]
        scoped = {*_scoped()}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if path in OPEN | PROBES | {SESSION}:
                    operation["security"] = []
                    continue
                names = (*(SEEN if operation.get("operationId") in scoped else ()), "user")
                known = operation.setdefault("parameters", [])
                known += [{"$ref": f"#/components/parameters/{name}"} for name in names]
        return document

    app.openapi = whole


def _scoped() -> Iterator[str]:
    """The operations that are told where their memory is seen from."""
    for router in routers():
        for route in router.routes:
            if isinstance(route, APIRoute) and is_scoped(route.dependant):
                yield route.operation_id or route.unique_id
