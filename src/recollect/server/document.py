"""The OpenAPI document with how callers say who they are: its page asks for that, and tools send it."""

from typing import Any

from fastapi import FastAPI

from recollect.server.identity.entry import OPEN, PROBES
from recollect.server.identity.said import API_KEY

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A key (`rk_…`), or a token (JWT)."},
    "key": {"type": "apiKey", "in": "header", "name": API_KEY, "description": "A key (`rk_…`)."},
}


def install(app: FastAPI) -> None:
    """Have the app's document say it."""
    without = app.openapi

    def whole() -> dict[str, Any]:
        document = without()  # which is made once
        document["components"]["securitySchemes"] = SCHEMES
        document["security"] = [{name: []} for name in SCHEMES]
        for path in (OPEN | PROBES) & document["paths"].keys():
            for operation in document["paths"][path].values():
                operation["security"] = []
        return document

    app.openapi = whole
