"""Refusing a request before anything of ours has seen it."""

from starlette.types import Receive, Scope, Send

from recollect.server import problems

READ_AHEAD = 64 * 1024
"""So much of a body may have arrived by itself; the rest of a larger one is not waited for."""


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of that name, which is in lower case."""
    return next((value for key, value in scope["headers"] if key == name), None)


def announced(scope: Scope) -> int | None:
    """How many bytes the body is said to have; None when that is not said."""
    length = header(scope, b"content-length")
    if length is None:
        return None if header(scope, b"transfer-encoding") else 0
    return int(length) if length.isdigit() else None


async def refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the problem; a body that goes on ends with the connection."""
    response = problems.of(error, scope["path"])
    length = announced(scope)
    if length is None or length > READ_AHEAD:
        response.headers["connection"] = "close"
    await response(scope, receive, send)
