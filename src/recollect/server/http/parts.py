"""Names in paths: whatever a conversation is called, its name is one part of the path."""

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Path
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.limits import TEXT_LIMIT
from recollect.model.scope import NAME_LIMIT

Id = Annotated[str, Path(max_length=TEXT_LIMIT, description="An id, percent-encoded.")]
Named = Annotated[str, Path(max_length=NAME_LIMIT, description="A name, percent-encoded: `a/b` is `a%2Fb`.")]

PREFIXES = ("/api/v1/", "/v1/memory/")


class PartConvertor(StringConvertor):
    """One part of a path, as `Parts` leaves it: a slash in it is still written %2F."""

    def convert(self, value: str) -> str:
        return unquote(value)


register_url_convertor("part", PartConvertor())


class Parts:
    """Keeps what is escaped in a path apart from its slashes, for our routes: servers decode the whole path,
    after which `a%2Fb` could be two parts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PREFIXES):
            scope = {**scope, "path": _kept(scope.get("raw_path"), scope["path"])}
        await self._app(scope, receive, send)


def _kept(raw: bytes | None, path: str) -> str:
    if not raw or b"%" not in raw:
        return path.replace("%", "%25")
    parts = raw.split(b"?", 1)[0].decode("ascii", "replace").split("/")
    return "/".join(quote(unquote(part), safe=_SAFE) for part in parts)


_SAFE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "%/")
