"""What is asked over the network: how often, how an address is shown, what is told when it does not answer.

No message repeats a text, a key, or what a server says in free words, since servers quote both.
"""

import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from recollect.errors import RecollectError, SettingsError

T = TypeVar("T")

PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_HINTS = {
    401: " Check the API key.",
    403: " Check the API key and what it is allowed.",
    404: " Check the base URL and the model's name.",
}


class Passing(Exception):
    """A failure that may be over soon."""

    def __init__(self, reason: str, retry_after: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = _seconds(retry_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds to wait for one answer, and how often to ask for it."""

    timeout: float
    attempts: int
    sleep: Callable[[float], None] = time.sleep


class Deadline:
    """When a call has to be over, all attempts together; None: when the attempts are used up."""

    def __init__(self, within: float | None) -> None:
        self._at = None if within is None else time.monotonic() + within

    def left(self) -> float:
        return math.inf if self._at is None else self._at - time.monotonic()


def insist(
    call: Callable[[], T],
    patience: Patience,
    deadline: Deadline,
    failure: Callable[[int, Passing], RecollectError],
) -> T:
    """What the call returns, after as many attempts as it takes and is allowed; then its `failure`."""
    attempt = 1
    while True:
        try:
            return call()
        except Passing as passing:
            last = passing
        wait = min(_back_off(attempt) if last.retry_after is None else last.retry_after, _LONGEST_WAIT)
        if attempt >= patience.attempts or wait >= deadline.left():
            raise failure(attempt, last)
        patience.sleep(wait)
        attempt += 1


def failing(where: str, error: type[RecollectError]) -> Callable[[int, Passing], RecollectError]:
    """The failure of an address that is not ours."""

    def failure(attempt: int, last: Passing) -> RecollectError:
        times = f"{attempt} times, at last" if attempt > 1 else "once,"
        return error(f"{where} failed {times} with {last.reason}.")

    return failure


def refusal(where: str, status: int, body: object) -> str:
    """What to say about an answer that asking again would not change."""
    return f"{where} answered with status {status}{_code(body)}.{_HINTS.get(status, '')}"


def checked(what: str, base_url: str, api_key: str | None) -> str:
    """The base URL without a slash at its end; `SettingsError` when it or the key cannot be one."""
    if not base_url.startswith(("http://", "https://")) or not base_url.isprintable():
        raise SettingsError(f"The {what}'s base URL must begin with http:// or https:// and be one line.")
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise SettingsError(f"The {what}'s API key has characters that no key has.")
    return base_url.rstrip("/")


def shown(url: str) -> str:
    """The address as it may be shown: people put passwords and keys into addresses."""
    return re.sub(r"(?<=//)[^/?#]*@|[?#].*", "", url)


def _code(body: Any) -> str:
    """The server's word for the error, when it is a plain code: its sentences may quote the input."""
    try:
        error = body["error"]
        code = error.get("code") or error.get("type")
    except (LookupError, TypeError, AttributeError):
        return ""
    return f" ({code})" if isinstance(code, str) and re.fullmatch(r"[a-z_]{1,40}", code) else ""


def _back_off(attempt: int) -> float:
    # Jitter, so that many clients that failed together do not come back together.
    return _FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header, which holds seconds or a date, as seconds from now."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
