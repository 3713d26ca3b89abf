"""An embedding model behind an OpenAI-compatible address.

No message or representation here repeats a text or a key, nor what a server says in free words, since
servers quote both.
"""

import math
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError, SettingsError
from recollect.model.space import Space
from recollect.models._vectors import mean, unit, well_formed
from recollect.ports.embedder import Vectors

if TYPE_CHECKING:
    import httpx

_PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_HINTS = {
    401: " Check the API key.",
    403: " Check the API key and what it is allowed.",
    404: " Check the base URL and the model's name.",
}


class HttpEmbedder:
    """The `Embedder` port over POST {base_url}/embeddings. Safe in any thread.

    Without `dimensions` they are learnt from the first answer; asking for `space` before that makes a
    call. `shorten` sends them along, for models that give vectors of a chosen size. `max_chars` is the
    longest piece sent; a longer text is embedded piece by piece and averaged. Its default is under the
    usual window of 8,191 tokens in any script; a server with a smaller window needs a smaller one.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        shorten: bool = False,
        unrelated: float = 0.0,
        query_prefix: str = "",
        passage_prefix: str = "",
        timeout: float = 30.0,
        attempts: int = 5,
        batch_size: int = 64,
        max_chars: int = 6000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise SettingsError("The embedder's base URL must begin with http:// or https://.")
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise SettingsError("The embedder's API key has characters that no key has.")
        if shorten and dimensions is None:
            raise SettingsError("To shorten vectors, give their dimensions.")
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._extra: dict[str, object] = {"dimensions": dimensions} if shorten else {}
        self._model = model
        self._api_key = api_key
        self._dimensions = dimensions
        self._unrelated = unrelated
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._timeout = timeout
        self._attempts = max(1, attempts)
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        key = "None" if self._api_key is None else "'***'"
        return f"HttpEmbedder({self._url!r}, {self._model!r}, api_key={key})"

    @property
    def space(self) -> Space:
        if self._dimensions is None:
            self.embed_query("dimensions")
        return Space(self._model, cast(int, self._dimensions), self._unrelated)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, self._passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        return self._embed([text], self._query_prefix)[0]

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return np.empty((0, self.space.dimensions), np.float32)
        pieces = [split(well_formed(text), self._max_chars) for text in texts]
        # Servers refuse an empty input; a space they take.
        flat = [(prefix + piece) or " " for of_text in pieces for piece in of_text]
        batches = [flat[i : i + self._batch_size] for i in range(0, len(flat), self._batch_size)]
        rows = np.concatenate([self._batch(batch) for batch in batches])
        ends = np.cumsum([len(of_text) for of_text in pieces])[:-1]
        return np.stack(
            [
                mean(own, [len(piece) for piece in of_text])
                for own, of_text in zip(np.split(rows, ends), pieces, strict=True)
            ]
        )

    def _batch(self, batch: list[str]) -> Vectors:
        answer = self._post({"model": self._model, "input": batch, **self._extra})
        rows = parse(answer, len(batch))
        with self._lock:
            if self._dimensions is None:
                self._dimensions = rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise EmbedderError(
                f"{self._url} answered with {rows.shape[1]} dimensions; {self._model} has {self._dimensions}."
            )
        return unit(rows)

    def _post(self, body: dict[str, object]) -> object:
        """The parsed answer, after as many attempts as it takes and is allowed."""
        client = self._open()
        attempt = 1
        while True:
            try:
                return _ask(client, self._url, body)
            except _Passing as passing:
                if attempt == self._attempts:
                    raise EmbedderError(
                        f"{self._url} failed {attempt} times, at last with {passing.reason}."
                    ) from None
                wait = passing.retry_after
            self._sleep(min(_back_off(attempt) if wait is None else wait, _LONGEST_WAIT))
            attempt += 1

    def _open(self) -> "httpx.Client":
        with self._lock:
            if self._client is None:
                headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
                try:
                    import httpx  # here: it is an extra, and importing recollect must stay fast
                except ImportError:
                    raise EmbedderError(
                        "An embedding model behind an address needs httpx. "
                        "Run `pip install 'recollect[remote]'`."
                    ) from None
                self._client = httpx.Client(timeout=self._timeout, headers=headers)
            return self._client


class _Passing(Exception):
    """A failure that may be over soon."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


def _ask(client: "httpx.Client", url: str, body: dict[str, object]) -> object:
    """The parsed answer to one request."""
    import httpx

    try:
        response = client.post(url, json=body)
    except httpx.RequestError as error:
        raise _Passing(type(error).__name__) from error
    except (httpx.InvalidURL, ValueError) as error:
        raise EmbedderError(f"{url} cannot be asked ({type(error).__name__}).") from None
    status = response.status_code
    if status in _PASSING_STATUS:
        raise _Passing(f"status {status}", _seconds(response.headers.get("Retry-After")))
    if status != 200:
        raise EmbedderError(f"{url} answered with status {status}{_code(response)}.{_HINTS.get(status, '')}")
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise EmbedderError(f"{url} answered with something that is not JSON.") from None


def _code(response: "httpx.Response") -> str:
    """The server's word for the error, when it is a plain code: its sentences may quote the input."""
    try:
        error = response.json()["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
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


def parse(answer: object, count: int) -> NDArray[np.float64]:
    """The vectors of an answer in the order of the inputs, checked."""
    try:
        items = cast(Any, answer)["data"]
        # Some servers leave `index` out and answer in order.
        rows = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
        complete = len(items) == count and rows.keys() == set(range(count))
        vectors = np.asarray([rows[i] for i in range(count)], np.float64) if complete else None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise EmbedderError(f"The embedding server's answer is malformed ({type(error).__name__}).") from None
    if vectors is None:
        raise EmbedderError(f"The embedding server did not answer with one vector for each of {count} texts.")
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise EmbedderError("The embedding server's vectors are not lists of numbers.")
    return vectors


def split(text: str, limit: int) -> list[str]:
    """The text in pieces of at most `limit` characters that together are all of it.

    Cut after white space where the last fifth of a piece has some, else between any two characters.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > limit:
        end = start + limit
        tail = text[end - limit // 5 : end]
        spaces = [match.end() for match in re.finditer(r"\s", tail)]
        cut = end - len(tail) + spaces[-1] if spaces else end
        pieces.append(text[start:cut])
        start = cut
    return [*pieces, text[start:]]
