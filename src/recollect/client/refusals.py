"""What a server's refusals mean: the errors that a memory in this process raises, each with what to do."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

from recollect import errors
from recollect.errors import RecollectError, SettingsError, StoreUnavailable

BY_STATUS: dict[int, type[RecollectError]] = {
    400: errors.Invalid,
    401: errors.Unauthorized,
    403: errors.Unauthorized,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    415: errors.Invalid,
    422: errors.Invalid,
    431: errors.TooLarge,
    429: errors.StoreUnavailable,
    502: errors.StoreUnavailable,
    503: errors.StoreUnavailable,
    504: errors.StoreUnavailable,
    507: errors.QuotaExceeded,
}
"""Where the server does not say which error it is."""

IN_PYTHON = {
    "send the header X-Recollect-User": "open the scope with user=…, as in client.scope(user=…)",
    "X-Recollect-User is for service keys": "user=… is for service keys",
}
"""What servers tell those who write requests, and what it is to those who call verbs."""


def error_of(where: str, route: str, status: int, told: Any, location: str | None = None) -> RecollectError:
    """The error that a refusal stands for."""
    if location and 300 <= status < 400:
        return SettingsError(
            f"{where} sends one elsewhere: give the client the address that it has moved to."
        )
    problem = cast("Mapping[str, Any]", told if isinstance(told, Mapping) else {})
    detail = problem.get("detail")
    if not isinstance(detail, str):
        return _strange(where, status)
    for told_there, told_here in IN_PYTHON.items():
        detail = detail.replace(told_there, told_here)
    kind = getattr(errors, str(problem.get("error")), None)
    if isinstance(kind, type) and issubclass(kind, RecollectError):
        return kind(detail)
    if detail in (HTTPStatus(404).phrase, HTTPStatus(405).phrase):  # of the route, not what was asked for
        return SettingsError(f"{where} knows no {route}: {_other_release()}")
    return BY_STATUS.get(status, RecollectError)(detail)


def _strange(where: str, status: int) -> RecollectError:
    if status in (429, 502, 503, 504):
        return StoreUnavailable(f"{where} answered with status {status}: the server is busy, or starting.")
    if status in (401, 403):
        return errors.Unauthorized(f"{where} answered with status {status}: check the key, and any proxy's.")
    return SettingsError(
        f"{where} answered with status {status}, and not as Recollect does: check the address."
    )


def unreadable(where: str) -> RecollectError:
    """For an answer that is none."""
    return SettingsError(f"{where} answered with something else than was asked for: {_other_release()}")


def _other_release() -> str:
    from recollect import __version__

    return f"check the address, and that the server is of this client's release, {__version__}."


def silent(where: str, error: Exception) -> RecollectError:
    """For a server that cannot be reached."""
    return StoreUnavailable(
        f"No server answers at {where} ({type(error).__name__}). Start it with `recollect serve`, or check "
        "the address."
    )


def lost(error: Exception) -> str:
    """For a connection that ended too early; nothing of what the error says, which may be content."""
    return f"the connection was lost ({type(error).__name__}). Try again."
