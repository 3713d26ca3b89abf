"""What a request says of itself in its headers. Each is said once, or the request is refused: who reads the
first of two and who reads the last would see two different callers."""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from recollect.server.problems import Refused

AUTHORIZATION, API_KEY, USER = "authorization", "x-api-key", "x-recollect-user"
HOST, ORIGIN, SITE, PAGE = "host", "origin", "sec-fetch-site", "x-recollect-page"
COOKIE = "cookie"
_ONCE = {name.encode(): name for name in (AUTHORIZATION, API_KEY, USER, HOST, ORIGIN, SITE, PAGE)}
_FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via"}
FORWARDED = "forwarded"
_COOKIE = COOKIE.encode()
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:@/\[\]\s]+))(?::\d*)?")


def said(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers that tell who is calling and from where; `FORWARDED` stands for any that proxies add."""
    found: dict[str, str] = {}
    for raw, value in headers:
        if (name := _ONCE.get(raw)) is not None:
            if name in found:
                raise Refused(400, f"The header {name} was sent twice: send it once.")
            try:
                found[name] = value.decode()
            except UnicodeDecodeError:
                raise Refused(400, f"The header {name} is not UTF-8: encode it so.") from None
        elif raw in _FORWARDED:
            found[FORWARDED] = ""
        elif raw == _COOKIE:  # of which there may be several, as if it were one
            found[COOKIE] = "; ".join(filter(None, (found.get(COOKIE), value.decode("latin-1"))))
    return found


def token(said: dict[str, str]) -> str | None:
    """The key or token that came along, as `Authorization: Bearer …` or as `x-api-key`."""
    scheme, _, given = said.get(AUTHORIZATION, "").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    key = said.get(API_KEY, "").strip()
    if bearer and key and bearer != key:
        raise Refused(400, "authorization and x-api-key hold two different keys: send one of them.")
    return bearer or key or None


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own, whoever resolves it."""
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def host_of(authority: str) -> str:
    """The host of a Host header: without its port; empty when it is none."""
    found = _AUTHORITY.fullmatch(authority)
    return (found[1] or found[2]) if found else ""


def origin_host(origin: str) -> str:
    """The host of a page's origin; empty when it has none."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def peer(scope: Any) -> str:
    """The address a request comes from."""
    client = scope.get("client")
    return client[0] if client else ""
