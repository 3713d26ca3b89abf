"""A proxy that does nothing but pass on, of the same parts as the gateway: what those alone cost."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from recollect.bench.serving.child import ready, told

PASSED = ("content-type", "authorization", "accept")


def bare(upstream: str) -> Any:
    """The application."""
    import httpx
    from starlette.applications import Starlette
    from starlette.background import BackgroundTask
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncGenerator[None]:
        async with httpx.AsyncClient(timeout=60.0) as client:
            app.state.client = client
            yield

    async def forward(request: Request) -> StreamingResponse:
        client: httpx.AsyncClient = request.app.state.client
        headers = {name: value for name, value in request.headers.items() if name in PASSED}
        url = f"{upstream}/{request.path_params['path']}"
        asked = client.build_request(request.method, url, content=await request.body(), headers=headers)
        answer = await client.send(asked, stream=True)
        kept = {"content-type": answer.headers["content-type"]}
        closing = BackgroundTask(answer.aclose)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, kept, background=closing)

    return Starlette(routes=[Route("/v1/{path:path}", forward, methods=["GET", "POST"])], lifespan=life)


def main() -> None:
    import uvicorn

    given = told()
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        ready(f"http://127.0.0.1:{bound.getsockname()[1]}/v1")
        uvicorn.Server(uvicorn.Config(bare(given["upstream"]), log_config=None, ws="none")).run([bound])


if __name__ == "__main__":
    main()
