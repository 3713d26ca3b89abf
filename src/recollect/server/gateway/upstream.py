"""The way to the upstream and back: whose headers go where. Bodies are not touched here."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request

from recollect.server.gateway.hearing import READABLE
from recollect.server.gateway.refusals import Turned
from recollect.server.identity.caller import Caller
from recollect.server.serving import Serving

if TYPE_CHECKING:
    import httpx

HOP_BY_HOP = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    )
)
"""Headers about a connection, not about what it carries."""
KEYS = frozenset(("authorization", "api-key", "x-api-key"))
NOT_UPSTREAM = HOP_BY_HOP | KEYS | {"host", "content-length", "cookie", "expect", "accept-encoding"}
NOT_BACK = HOP_BY_HOP | {"set-cookie", "date", "server"}
"""Cookies are between us and the upstream, and of one user of many; the others are our own server's."""
OWN = "x-recollect-"


def url(serving: Serving, path: str, query: bytes = b"") -> str:
    """A path below /v1 at the upstream; never one beside it."""
    parts = path.split("/")
    if any(part in (".", "..") for part in parts) or "\\" in path or not path.isprintable():
        raise Turned(404, "There is no such path.", "not_found")
    whole = f"{serving.settings.upstream.rstrip('/')}/{quote(path, safe='/:@!$&()*+,;=~')}"
    return f"{whole}?{query.decode('latin-1')}" if query else whole


def headers_up(request: Request, caller: Caller, serving: Serving, read: bool) -> list[tuple[str, str]]:
    """The client's headers, with the key of the upstream. With keys of our own the client's key is one of
    them, and never leaves. What is `read` here has to come in an encoding that can be."""
    named = _named(request.headers)
    given = [
        (name, value)
        for name, value in request.headers.items()
        if name not in NOT_UPSTREAM and name not in named and not name.startswith(OWN)
    ]
    accepted = request.headers.get("accept-encoding", "identity")
    if read:
        known = [one for one in READABLE if one in accepted]
        accepted = ", ".join(known) or "identity"
    given.append(("accept-encoding", accepted))
    if key := serving.settings.upstream_key:
        given.append(("authorization", f"Bearer {key}"))
    elif caller.role == "local":
        given += [(name, value) for name, value in request.headers.items() if name in KEYS]
    return given


def headers_back(
    response: "httpx.Response", own: Mapping[str, str], without: Iterable[str] = ()
) -> list[tuple[bytes, bytes]]:
    """The upstream's headers, and ours."""
    named = _named(response.headers) | {*without}
    back = [
        (name.lower(), value)
        for name, value in response.headers.raw
        if (lower := name.decode("latin-1").lower()) not in NOT_BACK
        and lower not in named
        and not lower.startswith(OWN)
    ]
    return [*back, *((name.lower().encode(), value.encode("latin-1")) for name, value in own.items())]


def _named(headers: Mapping[str, str]) -> set[str]:
    """Headers that `Connection` says are about the connection."""
    return {name.strip().lower() for name in headers.get("connection", "").split(",")}


def printable(text: str, most: int) -> str:
    """What can be in a header."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)[:most]


def encoded(name: str) -> str:
    """A name with any characters, as a header can have it."""
    return quote(name, safe=" /:@!$&'()*+;=~#?[]|<>{}^`\"")


def listed(ids: Iterable[str]) -> str:
    return ",".join(quote(id, safe=":/@") for id in ids)
