"""The application: middleware and routes around one open memory."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, nullcontext
from typing import Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from recollect import Memory, __version__
from recollect.server import document, http, middleware, operations, page, problems
from recollect.server.access import Access, Routed
from recollect.server.gateway import routes as gateway
from recollect.server.identity.gate import Gate
from recollect.server.mcp import http as mcp
from recollect.server.measured import HttpMeasures
from recollect.server.operations import Readiness
from recollect.server.serving import Serving, at_once
from recollect.server.sharing import Threads
from recollect.server.web import routes as web
from recollect.wiring import open_buckets

QUIET: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI's own spans and logs tell paths, queries and errors: what somebody said, maybe. Ours do not."""


def ends_soon(app: Any, seconds: float) -> None:
    """Have the app end within so many seconds from now, whatever else takes its part of them."""
    app.state.ends_at = asyncio.get_running_loop().time() + seconds


def ends_at(app: FastAPI, seconds: float) -> float:
    """When the app has to have ended, by the clock of its event loop."""
    return getattr(app.state, "ends_at", asyncio.get_running_loop().time() + seconds)


def create_app(memory: Memory, process: str = "") -> FastAPI:
    """The server for this memory, which whoever opened it closes; `process` tells apart several of it."""
    gate = Gate(memory.store, memory.settings, memory.clock)
    buckets = open_buckets(memory.settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        import httpx

        settings = memory.settings
        timeout = httpx.Timeout(settings.upstream_timeout, connect=10.0)
        with (
            Threads(settings.server_threads, "recollect-request") as threads,
            Threads(settings.connections, "recollect-waiting") as waiting,
            closing(Readiness(memory)) as readiness,
            closing(buckets) if buckets else nullcontext(),
        ):
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=settings.connections)
            async with httpx.AsyncClient(timeout=timeout, limits=limits) as upstream:
                measures = HttpMeasures(process)
                asking = asyncio.Semaphore(at_once(memory))
                serving = Serving(memory, gate, upstream, threads, waiting, readiness, asking, measures)
                app.state.serving = serving
                yield
                await serving.end(ends_at(app, settings.shutdown_seconds))

    app = FastAPI(
        title="Recollect",
        version=__version__,
        lifespan=life,
        docs_url=None,  # it would load scripts from elsewhere; ours is in page.py
        redoc_url=None,
        redirect_slashes=False,  # the address would be made of what the client says, and without TLS
        telemetry=QUIET,
    )
    app.add_middleware(Routed)  # what is added first is innermost
    problems.install(app)
    app.router.routes.extend(gateway.first())
    app.include_router(page.router)
    app.include_router(web.router)
    app.include_router(operations.router)
    http.install(app)
    app.router.routes.append(mcp.route())
    app.include_router(gateway.rest())  # the last one: it takes what is left of /v1
    document.install(app)
    middleware.install(app, gate, memory.settings, buckets)
    app.add_middleware(Access)  # and what is added last outermost
    return app
