"""/memory: one document, with scripts and styles from here. All it shows it asks the REST API for."""

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from recollect.server.problems import Refused

PAGE = "/memory"
STATIC = f"{PAGE}/static"
BELOW = f"{STATIC}/"
"""Where all that the page loads is."""
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
"""It loads from this server and talks to this server. No script can turn text into markup: what is
remembered is shown as text, whatever it says."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_KEPT = {"cache-control": "no-cache"}
_FOLDER = resources.files("recollect.server.web") / "static"

READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


class File(NamedTuple):
    content: bytes
    type: str
    tag: str
    """By which a browser asks whether it has another one by now."""


@cache
def files() -> dict[str, File]:
    """What the page is made of, by path."""
    return {path: _file(path, file.read_bytes()) for path, file in _found(_FOLDER)}


def _file(path: str, content: bytes) -> File:
    return File(content, _TYPES[PurePosixPath(path).suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _found(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        found += _found(entry, f"{path}/") if entry.is_dir() else [(path, entry)]
    return found


@router.api_route(PAGE, methods=READ)
async def page(request: Request) -> Response:
    return _answer("index.html", request)


@router.api_route(STATIC + "/{path:path}", methods=READ)
async def static(path: str, request: Request) -> Response:
    return _answer(path, request)


def _answer(path: str, request: Request) -> Response:
    if path not in files():
        raise Refused(404, f"There is nothing at this address. {PAGE} is the page.")
    file = files()[path]
    headers = {**_KEPT, "etag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(None, 304, headers)
    return Response(file.content, headers=headers, media_type=file.type)
