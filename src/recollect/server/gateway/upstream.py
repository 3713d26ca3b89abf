"""The way to the upstream and back: whose headers go where. Bodies are not touched here."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

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
OF_THE_SITE = frozenset(
    ("strict-transport-security", "alt-svc", "clear-site-data", "content-security-policy")
)
"""What a browser would take for said of this server's whole address."""
NOT_BACK = HOP_BY_HOP | OF_THE_SITE | {"set-cookie", "date", "server"}
"""Cookies are between us and the upstream, and of one user of many; the others are our own server's."""
OWN = "x-recollect-"
NOT_BACK_BELOW = (OWN, "access-control-")
"""Which pages may call is said by RECOLLECT_CORS."""


def url(serving: Serving, path: str, query: bytes = b"") -> str:
    """A path below /v1 at the upstream, given as in an address; never one beside it. A slash that is encoded
    is part of a name, and stays that."""
    parts = [unquote(part) for part in path.split("/")]
    whole = "/".join(parts)
    if any(part in (".", "..") for part in whole.split("/")) or "\\" in whole or not whole.isprintable():
        raise Turned(404, "There is no such path.", "not_found")
    below = "/".join(quote(part, safe=":@!$&()*+,;=~") for part in parts)
    address = f"{serving.settings.upstream.rstrip('/')}/{below}"
    return f"{address}?{query.decode('latin-1')}" if query else address


def as_sent(request: Request, path: str) -> str:
    """The path below /v1 as it is in the request's address."""
    *_, rest = request.scope["raw_path"].decode("latin-1").split("/", 2)
    return rest if unquote(rest) == path else quote(path)


def headers_up(request: Request, caller: Caller, serving: Serving, read: bool) -> list[tuple[bytes, bytes]]:
    """The client's headers, with the key of the upstream. With keys of our own the client's key is one of
    them, and never leaves. What is `read` here has to come in an encoding that can be."""
    named = _named(request.headers)
    client = [(name.decode("latin-1").lower(), name, value) for name, value in request.headers.raw]
    given = [
        (name, value)
        for lower, name, value in client
        if lower not in NOT_UPSTREAM and lower not in named and not lower.startswith(OWN)
    ]
    accepted = ", ".join(request.headers.getlist("accept-encoding")) or "identity"
    given.append((b"accept-encoding", (_readable(accepted) if read else accepted).encode("latin-1")))
    if key := serving.settings.upstream_key:
        given.append((b"authorization", f"Bearer {key}".encode()))
    elif caller.role == "local":
        given += [(name, value) for lower, name, value in client if lower in KEYS]
    return given


def _readable(accepted: str) -> str:
    """Of the encodings that the client accepts, or says it does not, those that can be read here."""
    known = [one.strip() for one in accepted.split(",") if one.partition(";")[0].strip().lower() in READABLE]
    return ", ".join(known) or "identity"


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
        and not lower.startswith(NOT_BACK_BELOW)
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
