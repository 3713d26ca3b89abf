"""The way to a server: requests that are sent again when that may help, and answers as values or errors."""

import json
import logging
import os
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from recollect.addresses import Deadline, Passing, Patience, checked, insist, shown
from recollect.client.refusals import error_of, lost, silent, unreadable
from recollect.errors import Invalid, RecollectError, SettingsError, StoreUnavailable
from recollect.limits import shown as shown_value
from recollect.wire import from_wire, to_wire

if TYPE_CHECKING:
    import httpx

PREFIX = "/api/v1"
ENDINGS = (PREFIX, "/v1")
"""What an address is given with that was copied from a request, or from an agent that uses the gateway."""
TOO_MANY = 429
PASSING_STATUS = frozenset({TOO_MANY, 503})
"""Of a server that is busy or starting. Proxies in front of it have more words for that:"""
PROXY_STATUS = frozenset({502, 504})
UNDER_WAY = 409
"""With a Retry-After: the same write has arrived before and is not done yet."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked, so that it can be asked again."""

    method: str
    url: str
    params: Mapping[str, Any]
    headers: Mapping[str, str]
    content: "bytes | Iterable[bytes] | None" = None
    again: bool = True
    """Whether it may be sent once more when it may have arrived."""

    @property
    def streams(self) -> bool:
        """Whether its content is gone once it was sent."""
        return self.content is not None and not isinstance(self.content, bytes)


class _Failed(Passing):
    """A failure that may be over soon, and what it is if it is not."""

    def __init__(self, error: RecollectError, retry_after: str | None = None) -> None:
        super().__init__(str(error), retry_after)
        self.error = error


class Connection:
    """One server. Safe in any thread; it is opened when it is first used, in each process anew."""

    def __init__(self, url: str, key: str | None, patience: Patience) -> None:
        self._base = checked("server", url, key)
        self.where = shown(self._base)
        if ending := next((one for one in ENDINGS if self._base.endswith(one)), None):
            raise SettingsError(f"{self.where}: leave out {ending}, the client adds what it needs.")
        self._key = key
        self._patience = patience
        self._closed = False
        self._forget_client()

    def call(
        self,
        method: str,
        path: Sequence[str],
        returns: Any = None,
        *,
        inside: str | None = None,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        reads: bool = False,
        again: bool = True,
    ) -> Any:
        """What the server answers, as a value of this type: all of the answer, or what is `inside` under a
        name. What does not merely read carries a key, by which a server does it once; where a server keeps
        no keys, it may not be sent `again` once it may have arrived."""
        sent = dict(headers or {})
        if method != "GET" and not reads:
            sent["Idempotency-Key"] = uuid.uuid4().hex
        content = None
        if method in ("POST", "PUT", "PATCH"):
            sent["Content-Type"] = "application/json"
            content = as_json({} if body is None else body)
        request = replace(self._request(method, path, params, sent, content), again=again)
        answer = self._answer(self._ask(request))
        return self._read(answer, returns, inside)

    def lines(
        self, path: Sequence[str], params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Iterator[str]:
        """What the server streams, line by line."""
        import httpx

        response = self._ask(self._request("GET", path, params, headers, None), stream=True)
        rest = b""
        try:
            for part in response.iter_bytes():
                *whole, rest = (rest + part).split(b"\n")  # and not where else Unicode breaks lines
                yield from (line.decode() for line in whole)
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise StoreUnavailable(f"{self.where} broke off in the middle: {lost(error)}") from None
        finally:
            response.close()
        if rest:
            yield rest.decode()

    def send(
        self,
        path: Sequence[str],
        parts: Iterator[bytes],
        returns: Any,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> Any:
        """Stream something to the server; what it answers in the end. Once it flows it is not begun again."""
        sent = {**headers, "Content-Type": "application/x-ndjson"}
        response = self._ask(replace(self._request("POST", path, params, sent, parts), again=False))
        return self._read(self._answer(response), returns, None)

    def close(self) -> None:
        """Close the connections, for good."""
        with self._lock:
            client, self._client, self._closed = self._client, None, True
        if client is not None:
            client.close()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_base", "where", "_key", "_patience", "_closed")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._forget_client()

    def _forget_client(self) -> None:
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._pid = os.getpid()

    def _open(self) -> "httpx.Client":
        if self._pid != os.getpid():  # after a fork the connections are the parent's
            self._forget_client()
        with self._lock:
            if self._closed:
                raise StoreUnavailable("The client was closed: make another one.")
            if self._client is None:
                try:
                    import httpx  # here: it is an extra, and importing recollect must stay fast
                except ImportError:
                    raise SettingsError(
                        "The client needs httpx. Run `pip install 'recollect[client]'`."
                    ) from None
                headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                logging.getLogger("httpx").addFilter(_untold)
                self._client = httpx.Client(headers=headers, timeout=self._patience.timeout)
            return self._client

    def _request(
        self,
        method: str,
        path: Sequence[str],
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        content: "bytes | Iterable[bytes] | None",
    ) -> _Request:
        given = {name: _as_param(value) for name, value in (params or {}).items() if value is not None}
        url = self._base + "/".join((PREFIX, *map(_segment, path)))
        return _Request(method, url, given, headers, content)

    def _ask(self, asked: _Request, stream: bool = False) -> "httpx.Response":
        """The answer to a request that was let through, after as many attempts as it takes."""
        return insist(
            lambda: self._once(asked, stream), self._patience, Deadline(None), lambda _, last: _final(last)
        )

    def _once(self, asked: _Request, stream: bool) -> "httpx.Response":
        client = self._open()
        import httpx

        try:
            headers = [(name.encode(), value.encode()) for name, value in asked.headers.items()]
            request = client.build_request(
                asked.method, asked.url, params=asked.params, headers=headers, content=asked.content
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Invalid(f"{type(error).__name__}: this cannot be sent to {self.where}.") from None
        try:
            response = client.send(request, stream=stream)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise _Failed(silent(self.where, error)) from None
        except httpx.TimeoutException:
            raise StoreUnavailable(
                f"{self.where} did not answer within {self._patience.timeout:g} seconds. What takes longer "
                "needs Client(timeout=…)."
            ) from None
        except httpx.RequestError as error:
            failed = StoreUnavailable(f"{self.where} broke off: {lost(error)}")
            raise (_Failed(failed) if asked.again else failed) from None
        except RuntimeError:  # closed by another thread meanwhile
            raise StoreUnavailable("The client was closed: make another one.") from None
        if response.is_success:
            return response
        try:
            raise self._refusal(asked, response)
        finally:
            response.close()

    def _refusal(self, asked: _Request, response: "httpx.Response") -> Exception:
        response.read()
        try:
            told = response.json()
        except (ValueError, RecursionError):
            told = None
        route = f"{asked.method} {asked.url.removeprefix(self._base)}"
        error = error_of(self.where, route, response.status_code, told, response.headers.get("Location"))
        status = response.status_code
        after = response.headers.get("Retry-After")
        passing = status in PASSING_STATUS or (status in PROXY_STATUS and not isinstance(told, dict))
        if status == UNDER_WAY and after is not None:
            passing = True
        if not asked.again and status != TOO_MANY:  # it may have been done all the same
            passing = False
        return _Failed(error, after) if passing and not asked.streams else error

    def _answer(self, response: "httpx.Response") -> Any:
        if response.status_code == 204:
            return None
        try:
            return response.json()
        except (ValueError, RecursionError):
            raise unreadable(self.where) from None

    def _read(self, answer: Any, returns: Any, inside: str | None) -> Any:
        try:
            return from_wire(returns, answer if inside is None else answer[inside]) if returns else None
        except (Invalid, LookupError, TypeError):
            raise unreadable(self.where) from None


def _untold(record: logging.LogRecord) -> bool:
    """Keeps our requests out of httpx's log, which tells addresses whole: names and questions are in them."""
    return not any(PREFIX in str(arg) for arg in record.args or ())


def as_json(value: Any) -> bytes:
    """What is sent, in ASCII: so that whatever a text holds arrives."""
    try:
        _check_names(value)
        return json.dumps(to_wire(value), allow_nan=False).encode()
    except Invalid:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"What was given cannot be written as JSON: {error}.") from None


def _check_names(value: Any) -> None:
    """`Invalid` for a name that is no text: JSON would make one of it, and something else be stored."""
    if isinstance(value, Mapping):
        names = cast(Mapping[Any, Any], value)
        if odd := [name for name in names if not isinstance(name, str)]:
            raise Invalid(f"Names in what is given must be text, not {shown_value(odd[0])}.")
        value = names.values()
    elif not isinstance(value, (list, tuple)):
        return
    for part in cast(Iterable[Any], value):
        _check_names(part)


def _as_param(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _segment(part: str) -> str:
    """A name as a part of a path, of which slashes and dots are none."""
    if not isinstance(part, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"An id must be text, not {type(part).__name__}.")
    try:
        return quote(part, safe="").replace(".", "%2E")
    except UnicodeEncodeError:
        raise Invalid("An id must not contain lone surrogates.") from None


def _final(last: Passing) -> RecollectError:
    assert isinstance(last, _Failed)
    return last.error
