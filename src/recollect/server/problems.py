"""Errors as answers: one shape (RFC 9457, application/problem+json), each with what to do about it."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect import errors

log = logging.getLogger("recollect.server")

TOLD = 10
"""How many of the mistakes in a request are told."""
NAME_SHOWN = 100

UNSAID = {
    "Not Found": "There is nothing at this address. /docs lists what there is.",
    "Method Not Allowed": "That cannot be done at this address; the header Allow says what can.",
    "There was an error parsing the body": "The body cannot be read: send JSON in UTF-8, and not too deep.",
}
"""What the framework leaves unsaid."""
NOT_SAID = "The body is not said to be JSON: send content-type: application/json."
"""To whoever has `curl -d` send it as a form."""

STATUS: dict[type[Exception], int] = {
    errors.TooLarge: 413,
    errors.Invalid: 422,
    errors.NotFound: 404,
    errors.QuotaExceeded: 507,
    errors.Conflict: 409,
    errors.Repeated: 409,
    errors.StoreError: 503,
    errors.EmbedderError: 503,
    errors.ModelError: 502,
    errors.SettingsError: 500,
    errors.RecollectError: 500,
}
"""The first that an error is one of."""
OPERATORS = (errors.StoreError, errors.EmbedderError, errors.ModelError, errors.SettingsError)
"""Errors whose messages tell where the server's files are, or which machines it works with."""


CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
"""What OpenAI's API calls some errors; others go by the name of their status."""


class Refused(Exception):
    """A request that is not let through: by whom or how often it comes, or how large it is."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})


class Unanswered(Response):
    """No answer: whoever asked is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pass


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """The answer that tells what went wrong."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return Response(_json(body), status, media_type="application/problem+json", headers=dict(headers or {}))


def openai_error(
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    *,
    code: str = "",
    param: str | None = None,
    kind: str = "",
) -> Response:
    """The same in the shape that clients of OpenAI's API understand."""
    error = {
        "message": message,
        "type": kind or ("invalid_request_error" if status < 500 else "server_error"),
        "param": param,
        "code": code or CODES.get(status) or HTTPStatus(status).phrase.lower().replace(" ", "_"),
    }
    return Response(_json({"error": error}), status, dict(headers or {}), "application/json")


def _json(value: Any) -> bytes:
    """As people read it in a terminal; half a character, which UTF-8 has not, is an escape of JSON's."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def is_gateway(path: str) -> bool:
    """Whether a path is of the OpenAI-compatible API, which speaks of errors as that does."""
    return path.startswith("/v1/") and path != "/v1/memory" and not path.startswith("/v1/memory/")


def of(error: Exception, path: str) -> Response:
    """The answer to an error of ours, or of anybody's: what nobody foresaw is told to the log alone."""
    if isinstance(error, Refused):
        return _answered(path, error.status, str(error), error.headers)
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            retry = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
            return _answered(path, status, told(error), retry, error=type(error).__name__)
    log.error("A request failed: %s", type(error).__name__, exc_info=error)
    return _answered(path, 500, "Something went wrong here that should not. The server's log says what.")


def _answered(
    path: str, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    return (
        openai_error(status, detail, headers)
        if is_gateway(path)
        else problem(status, detail, headers, **more)
    )


def told(error: Exception) -> str:
    """What callers are told of an error; the rest of what is the operator's to know is in the log."""
    if not isinstance(error, OPERATORS):
        return str(error)
    log.warning("%s: %s", type(error).__name__, error)
    return f"{type(error).__doc__} The server's log says more."


def _place(where: Sequence[Any]) -> str:
    """Where in a request; of names that somebody made up, the beginning."""
    return ".".join(str(part)[:NAME_SHOWN] for part in where)


def _says_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def install(app: FastAPI) -> None:
    """Have every error of the app answered so."""

    async def own(request: Request, error: Exception) -> Response:
        return of(error, request.scope["path"])

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, ClientDisconnect):  # so the framework tells of a body that broke off
            return Unanswered()
        detail = UNSAID.get(str(error.detail), str(error.detail))
        return _answered(request.scope["path"], error.status_code, detail, error.headers)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = error.errors()
        if any(one["loc"] == ("body",) for one in found) and not _says_json(request):
            return problem(422, NOT_SAID, error=errors.Invalid.__name__)
        said = [f"{_place(one['loc'])}: {one['msg']}" for one in found[:TOLD]]
        more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
        detail = f"The request cannot be taken: {'; '.join(said)}{more}. See /docs for what can."
        return problem(422, detail, error=errors.Invalid.__name__)

    async def gone(request: Request, error: Exception) -> Response:
        return Unanswered()

    app.add_exception_handler(ClientDisconnect, gone)
    for kind in (errors.RecollectError, Refused):
        app.add_exception_handler(kind, own)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, own)
