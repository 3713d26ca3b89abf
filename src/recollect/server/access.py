"""Around every request: its id, its line in the log, its measures, its span."""

import asyncio
import logging
import re
import secrets
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect import tracing
from recollect.server import problems
from recollect.server.logs import FIELDS
from recollect.server.web.routes import BELOW

log = logging.getLogger("recollect.access")

REQUEST_ID = b"x-request-id"
_CONVERTOR = re.compile(r":\w+(?=})")
_GIVEN = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NOWHERE = "(none)"
"""The route of what led nowhere: a path that a stranger made up is neither a label nor a line of the log."""
REFUSED = "(refused)"
"""The route of what was refused before anybody looked where it leads: without a key, too often, too large."""
QUIET = frozenset({"/healthz", "/readyz", "/metrics", f"{BELOW}{{path}}"})
"""Asked for all the time by machines, or by the page for all that it is made of: logged only when it goes
wrong, or for whoever debugs."""
KEY_CHARACTERS = 80
ENDING = "The server ends, and this took too long: try again."
UNSURE = (
    "The server ends, and this took too long. It may have been done all the same: look before you send it "
    "again, or send it with an Idempotency-Key."
)


class Access:
    """The outermost middleware. Whatever goes wrong inside is answered here, so that it is told apart."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send)
        measures = scope["app"].state.serving.measures
        measures.in_flight += 1
        try:
            with tracing_of(scope) as span:
                try:
                    await self._app(scope, receive, exchange.send)
                except asyncio.CancelledError:  # by a server that has to end
                    if exchange.status:
                        raise
                    await exchange.failed(_cut_off(scope), receive)
                except Exception as error:  # noqa: BLE001 - answered, unless the answer has begun
                    await exchange.failed(error, receive)
                exchange.trace(span)
        finally:
            measures.in_flight -= 1
            seconds = perf_counter() - exchange.begun
            measures.request(exchange.method, exchange.route, exchange.status, seconds)
            exchange.tell(seconds)


def _cut_off(scope: Scope) -> problems.Refused:
    """The answer to a request that was given up; its thread may yet finish what it does."""
    keyed = any(name == b"idempotency-key" for name, _ in scope["headers"])
    if keyed or scope["method"] in ("GET", "HEAD"):
        return problems.Refused(503, ENDING, {"Retry-After": "1"})
    return problems.Refused(503, UNSURE)


class Routed:
    """The innermost middleware: notes which route a request took where the outermost finds it, whatever those
    between them make of the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._called: dict[Any, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            scope["state"]["route"] = self._template(scope)

    def _template(self, scope: Scope) -> str:
        if (route := getattr(scope.get("route"), "path", None)) is not None:
            return _plain(route)
        if (called := scope.get("endpoint")) is None:
            return NOWHERE
        if called not in self._called:  # routes that are none of FastAPI's own are known by what they call
            paths = (route.path for route in scope["app"].routes if getattr(route, "endpoint", 0) is called)
            self._called[called] = _plain(next(paths, NOWHERE))
        return self._called[called]


@cache
def _plain(path: str) -> str:
    """The template of a path without how its parts are read."""
    return _CONVERTOR.sub("", path)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.begun = perf_counter()
        self.status = 0
        self.id = request_id(scope)
        scope.setdefault("state", {})["request_id"] = self.id

    @property
    def method(self) -> str:
        return self._scope["method"] if self._scope["method"] in METHODS else "OTHER"

    @property
    def route(self) -> str:
        """The template of the path that led to its handler, never the path itself."""
        return self._scope["state"].get("route") or (REFUSED if self.status >= 400 else NOWHERE)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = [*message.get("headers", ())]
            if not any(name.lower() == REQUEST_ID for name, _ in given):  # behind the gateway, the upstream's
                given.append((REQUEST_ID, self.id.encode()))
            message["headers"] = given
        await self._send(message)

    async def failed(self, error: Exception, receive: Receive) -> None:
        response = problems.of(error, self._scope["path"])
        if self.status:  # half an answer is out: whoever reads it must not take it for a whole one
            raise error
        await response(self._scope, receive, self.send)

    def tell(self, seconds: float) -> None:
        quiet = self.route in QUIET and 0 < self.status < 400
        caller = self._scope["state"].get("caller")
        given = {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(seconds * 1000, 1),
            "key": caller.key[:KEY_CHARACTERS] if caller is not None else "-",
            "request": self.id,
        }
        log.log(logging.DEBUG if quiet else logging.INFO, "request", extra={FIELDS: given})

    def trace(self, span: Any) -> None:
        if span is not None:
            span.update_name(f"{self.method} {self.route}")
            span.set_attribute("http.route", self.route)
            span.set_attribute("http.response.status_code", self.status)


def request_id(scope: Scope) -> str:
    """The id that came with the request, if it is one, or a new one."""
    for name, value in scope["headers"]:
        if name == REQUEST_ID and _GIVEN.fullmatch(value):
            return value.decode()
    return secrets.token_hex(16)


def tracing_of(scope: Scope) -> AbstractContextManager[Any]:
    """The span of a request, inside of the caller's own, where OpenTelemetry is at work."""
    if not tracing.at_work():
        return nullcontext()
    from opentelemetry import propagate, trace

    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return trace.get_tracer(tracing.NAME).start_as_current_span(
        scope["method"] if scope["method"] in METHODS else "OTHER",
        context=propagate.extract(headers),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": scope["method"] if scope["method"] in METHODS else "OTHER"},
        record_exception=False,
        set_status_on_exception=False,
    )
