"""The application: middleware and routes around one open memory."""

from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from fastapi import FastAPI

from recollect import Memory, __version__
from recollect.server import http, middleware, problems
from recollect.server.identity.gate import Gate
from recollect.server.serving import Serving


def create_app(memory: Memory) -> FastAPI:
    """The server for this memory, which whoever opened it closes."""
    gate = Gate(memory.store, memory.settings, memory.clock)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        import httpx

        settings = memory.settings
        with ThreadPoolExecutor(settings.server_threads, "recollect-request") as threads:
            timeout = httpx.Timeout(settings.upstream_timeout, connect=10.0)
            async with httpx.AsyncClient(timeout=timeout) as upstream:
                app.state.serving = Serving(memory, gate, upstream, threads)
                yield

    app = FastAPI(title="Recollect", version=__version__, lifespan=life, redoc_url=None)
    problems.install(app)
    middleware.install(app, gate, memory.settings)
    for router in http.routers():
        app.include_router(router)
    return app
