"""What operators and their machines ask: does it live, is it ready, how is it doing, where is what."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from recollect import Memory, RecollectError, __version__
from recollect.server.answers import answer
from recollect.server.identity.entry import Operator
from recollect.server.problems import told
from recollect.server.serving import serving
from recollect.server.web.routes import PAGE

log = logging.getLogger("recollect.server")

PATIENCE = 2.0
"""Seconds the database has to answer before the process calls itself not ready."""
SAMPLE = "ready"
"""What the embedder is tried with."""
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
PLACES = {
    "memory": PAGE,
    "mcp": "/mcp",
    "docs": "/docs",
    "openapi": "/openapi.json",
    "api": "/api/v1",
    "gateway": "/v1",
    "health": "/healthz",
    "ready": "/readyz",
    "metrics": "/metrics",
}

router = APIRouter(tags=["operations"])


class Readiness:
    """Whether requests can be served, and what is missing if not. However many ask, one of them asks the
    database, in a thread of its own: a database that hangs must not take those of requests."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._thread = ThreadPoolExecutor(1, "recollect-ready")
        self._asked: asyncio.Future[str | None] | None = None
        self._embedding: threading.Thread | None = None
        self.embedder = "none" if memory.embedder is None else "loading"
        """`none`, `loading`, `ready`, or `degraded`: recall then goes by words."""
        self.try_embedder()

    async def told(self) -> dict[str, Any]:
        """Whether requests should come here, as an answer; `problems` says why they should go elsewhere."""
        problems = [problem for problem in (await self._store(),) if problem]
        embedder = self.embedder  # as it is now: another thread may be done with it in a moment
        if embedder == "loading":
            problems.append("The embedding model is being loaded.")
        elif embedder == "degraded":
            self.try_embedder()
        state = {"status": "unready" if problems else "ready", "embedder": embedder}
        return {**state, "problems": problems} if problems else state

    async def _store(self) -> str | None:
        if self._asked is None or self._asked.done():
            loop = asyncio.get_running_loop()
            self._asked = loop.run_in_executor(self._thread, self._ask)
        done, _ = await asyncio.wait({self._asked}, timeout=PATIENCE)
        return done.pop().result() if done else "The database does not answer."

    def _ask(self) -> str | None:
        try:
            if not self._memory.store.is_current():
                return "The database has another schema than this release: run `recollect db migrate`."
        except RecollectError as error:
            return told(error)
        return None

    def try_embedder(self) -> None:
        """Load the model before somebody waits for it; a moment later the state says how that went."""
        if self._memory.embedder is None or (self._embedding and self._embedding.is_alive()):
            return
        self._embedding = threading.Thread(target=self._embed, name="recollect-embedder", daemon=True)
        self._embedding.start()

    def _embed(self) -> None:
        assert self._memory.embedder is not None
        try:
            self._memory.embedder.embed_query(SAMPLE)
            self.embedder = "ready"
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, recall goes by words
            if self.embedder != "degraded":
                reason = str(error) if isinstance(error, RecollectError) else type(error).__name__
                log.warning("Recall goes by words, the embedder failed: %s", reason)
            self.embedder = "degraded"

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


@router.get("/healthz", summary="Whether the process lives")
async def healthz() -> Response:
    return answer({"status": "ok"})


@router.get("/readyz", summary="Whether it can serve", responses={503: {"description": "Not now, and why."}})
async def readyz(request: Request) -> Response:
    state = await serving(request).readiness.told()
    return answer(state, 503, {"Retry-After": "1"}) if "problems" in state else answer(state)


@router.get("/metrics", summary="Figures for Prometheus")
async def metrics(request: Request, _: Operator) -> Response:
    here = serving(request)
    try:
        stored, up = await here.run(here.memory.metrics), 1
    except RecollectError:  # how the server itself is doing is wanted most of all then
        stored, up = "", 0
    return Response(stored + here.measures.exposition(up), media_type=EXPOSITION)


@router.get("/", summary="Where things are")
async def index(request: Request) -> Response:
    """A person who comes with a browser is led to the memory page, a program is told where things are."""
    if "text/html" in request.headers.get("accept", ""):
        there = PAGE.removeprefix("/")  # there may be a path before it
        return Response(status_code=307, headers={"Location": there, "Vary": "Accept"})
    return answer({"name": "Recollect", "version": __version__, **PLACES}, headers={"Vary": "Accept"})
