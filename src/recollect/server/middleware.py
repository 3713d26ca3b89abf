"""What every request goes through before a route sees it, from the outside in."""

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from recollect.ports.buckets import Buckets
from recollect.server.headers import Headers, origins
from recollect.server.identity.entry import Entry
from recollect.server.identity.gate import Gate
from recollect.server.limiting import Limiting, Rate
from recollect.server.receiving import Receiving
from recollect.settings import Settings

_MAY_READ = (
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "X-Recollect-Conversation",
    "X-Recollect-Injected",
    "X-Recollect-Problem",
    "X-Request-Id",
)
_PREFLIGHT_SECONDS = 600


def install(app: FastAPI, gate: Gate, settings: Settings, buckets: Buckets | None) -> None:
    """Have the app's requests checked: headers, origins, who is calling, how often, how large."""
    rate = Rate(settings.rate_limit, buckets)
    app.add_middleware(Receiving, settings=settings)  # what is added first is innermost
    app.add_middleware(Limiting, settings=settings, rate=rate)
    app.add_middleware(Entry, gate=gate, rate=rate)
    if pages := origins(settings):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=pages,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("*",),  # each SDK has some of its own
            expose_headers=_MAY_READ,
            max_age=_PREFLIGHT_SECONDS,
        )
    app.add_middleware(Headers)
