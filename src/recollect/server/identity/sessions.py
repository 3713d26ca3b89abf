"""Sessions of the memory page: the cookie that stands for one, and which requests may come with it.

A browser sends a cookie whoever has it ask: also a page from elsewhere. So what changes anything needs a
header that only a script of this server's own page can send, and must not come from another page.
"""

from typing import Any
from urllib.parse import urlsplit

from recollect.server.identity import said as headers
from recollect.server.identity.issuing import is_session
from recollect.server.problems import Refused

PATHS = "/api/v1/"
"""Where the cookie is taken. Nobody's page calls the gateway or MCP."""
SESSION = f"{PATHS}session"
_NAME = "recollect_session"
_READS = ("GET", "HEAD")
_OWN_SITE = (None, "same-origin", "none")
_PORTS = {"http": 80, "https": 443}


def name(scope: Any) -> str:
    """What the cookie is called. Over TLS by a name that no other host can set a cookie under."""
    return f"__Host-{_NAME}" if _is_secure(scope) else _NAME


def cookie(scope: Any, token: str, seconds: int) -> str:
    """The header that sets it: for this host alone, unseen by scripts, and never sent from another site. An
    empty one for no seconds takes it away."""
    secure = "; Secure" if _is_secure(scope) else ""
    return f"{name(scope)}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def _is_secure(scope: Any) -> bool:
    return scope.get("scheme") == "https"


def token(scope: Any, said: dict[str, str]) -> str | None:
    """What came in the cookie, where it is looked at at all: without a key or token beside it. Of two, which
    somebody else may have set, none."""
    if headers.AUTHORIZATION in said or headers.API_KEY in said or not scope["path"].startswith(PATHS):
        return None
    pairs = (part.strip().partition("=") for part in said.get(headers.COOKIE, "").split(";"))
    found = [value for called, _, value in pairs if called == name(scope)]
    return found[0] if len(found) == 1 and is_session(found[0]) else None


def check_page(scope: Any, said: dict[str, str]) -> None:
    """`Refused` for what does not come from this server's own page."""
    if said.get(headers.SITE) not in _OWN_SITE:
        why = "This comes from another web page. Open /memory on this server itself."
    elif scope["method"] in _READS:
        return
    elif said.get(headers.PAGE) != "1":
        why = "A session needs the header `X-Recollect-Page: 1` to change anything. Programs send a key."
    elif headers.ORIGIN in said and not is_own(scope, said):
        why = (
            "The Origin is not this server's host. A proxy in front has to pass on the Host that the browser "
            "asked for."
        )
    else:
        return
    raise Refused(403, why)


def is_own(scope: Any, said: dict[str, str]) -> bool:
    """Whether the page's origin is the host that was asked. What came over TLS comes from a page that did;
    the other way round, a proxy may have ended it."""
    try:
        origin = urlsplit(said[headers.ORIGIN])
        default = _PORTS.get(origin.scheme)
        host = urlsplit(f"//{said.get(headers.HOST, '')}")
        asked, own = (origin.hostname, origin.port or default), (host.hostname, host.port or default)
    except ValueError:
        return False
    bare = said[headers.ORIGIN] == f"{origin.scheme}://{origin.netloc}" and "@" not in origin.netloc
    known = origin.scheme == "https" if _is_secure(scope) else origin.scheme in _PORTS
    return bare and known and bool(origin.hostname) and asked == own
