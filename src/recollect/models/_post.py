"""JSON to an address and back, by httpx."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.addresses import PASSING_STATUS, Deadline, Passing, Patience, failing, insist, refusal, shown
from recollect.errors import RecollectError

if TYPE_CHECKING:
    import httpx


class Endpoint:
    """An address that takes JSON and answers with JSON. Safe in any thread; `what` is behind it, and every
    failure is an `error`."""

    def __init__(
        self, url: str, what: str, error: type[RecollectError], api_key: str | None, patience: Patience
    ) -> None:
        self.where = shown(url)
        self._url = url
        self._what = what
        self._error = error
        self._api_key = api_key
        self._patience = patience
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, body: Mapping[str, object], within: float | None = None) -> object:
        """The parsed answer, after as many attempts as it takes and is allowed, `within` so many seconds."""
        client, deadline = self._open(), Deadline(within)

        def ask() -> object:
            return self._ask(client, body, max(0.001, min(self._patience.timeout, deadline.left())))

        return insist(ask, self._patience, deadline, failing(self.where, self._error))

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> "httpx.Client":
        with self._lock:
            if self._client is None:
                headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
                try:
                    import httpx  # here: it is an extra, and importing recollect must stay fast
                except ImportError:
                    raise self._error(
                        f"{self._what} behind an address needs httpx. Run `pip install 'recollect[remote]'`."
                    ) from None
                self._client = httpx.Client(headers=headers)
            return self._client

    def _ask(self, client: "httpx.Client", body: Mapping[str, object], timeout: float) -> object:
        """The parsed answer to one request."""
        import httpx

        try:
            response = client.post(self._url, json=body, timeout=timeout)
        except httpx.RequestError as error:
            raise Passing(type(error).__name__) from None
        except (httpx.InvalidURL, ValueError) as error:
            raise self._error(f"{self.where} cannot be asked ({type(error).__name__}).") from None
        status = response.status_code
        if status in PASSING_STATUS:
            raise Passing(f"status {status}", response.headers.get("Retry-After"))
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if status != 200:
            raise self._error(refusal(self.where, status, answer))
        if answer is None:
            raise self._error(f"{self.where} answered with something that is not JSON.")
        return answer
