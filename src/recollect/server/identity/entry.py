"""The way in: every request has a caller before anything else looks at it."""

from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Annotated

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import RecollectError
from recollect.server.identity.caller import Caller
from recollect.server.identity.gate import Gate
from recollect.server.identity.said import peer
from recollect.server.identity.sessions import SESSION
from recollect.server.limiting import Rate, check_rate
from recollect.server.page import PAGE, PARTS
from recollect.server.problems import Refused, is_gateway
from recollect.server.refusing import refuse
from recollect.server.web import routes as web

PROBES = frozenset(("/healthz", "/readyz"))
"""What those who look after the machine ask all the time."""
OPEN = PARTS | {"/", PAGE, web.PAGE, "/openapi.json"}
"""What tells nothing of anybody."""
WHOAMI = "/api/v1/whoami"
OPERATORS = ("admin", "local")
"""Who may see to the server's own affairs."""


class Entry:
    """Puts the caller into the request's state, or refuses it. Those who are nobody are counted by where
    they come from."""

    def __init__(self, app: ASGIApp, gate: Gate, rate: Rate) -> None:
        self._app = app
        self._gate = gate
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there are none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        try:
            if scope["path"] in OPEN or scope["path"].startswith(web.BELOW):
                check_rate(await self._rate.take(_place(peer(scope))))
            elif scope["path"] == SESSION:
                check_rate(await self._rate.take(_place(peer(scope))))
                scope.setdefault("state", {})["visitor"] = await self._visitor(scope)
            else:
                scope.setdefault("state", {})["caller"] = await self._caller(scope)
        except (Refused, RecollectError) as error:
            await refuse(error, scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _visitor(self, scope: Scope) -> Caller | None:
        """Who asks about sessions: nobody, maybe, who wants to sign in."""
        try:
            return await self._gate.caller(scope)
        except Refused as error:
            if error.status != HTTPStatus.UNAUTHORIZED:
                raise
            return None

    async def _caller(self, scope: Scope) -> Caller:
        try:
            caller = await self._gate.caller(scope)
        except Refused:
            check_rate(await self._rate.take(_place(peer(scope))))
            raise
        gateway = is_gateway(scope["path"])
        if caller.role == "admin" and gateway:
            raise Refused(403, "An admin key is nobody's agent: use a user's key, or a service's.")
        if caller.role == "service" and caller.user is None and not gateway and scope["path"] != WHOAMI:
            raise Refused(400, "A service key acts for a user: send the header X-Recollect-User.")
        return caller


async def operator(request: Request) -> Caller:
    """The caller, when it may see to the server's own affairs: an admin, or the one user of this machine."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None or caller.role not in OPERATORS:
        raise Refused(403, "This needs an admin key: `recollect keys create --admin` makes one.")
    return caller


Operator = Annotated[Caller, Depends(operator)]


def _place(address: str) -> str:
    """What stands for an address: of the newer kind, anybody has as many as they like of one network."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and not found.ipv4_mapped:
        return f"network {int(found) >> 64:x}"
    return address
