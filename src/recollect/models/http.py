"""An embedding model behind an OpenAI-compatible address."""

import copy
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from recollect.addresses import Patience, checked
from recollect.errors import EmbedderError, SettingsError
from recollect.model.space import Space
from recollect.models._post import Endpoint
from recollect.models._vectors import mean, unit, well_formed
from recollect.ports.embedder import Vectors
from recollect.ports.language_model import Tokens
from recollect.ports.spending import Spend, nobody, reported
from recollect.text.chunk import estimate_tokens

QUESTION_SECONDS = 5.0
"""How long a question's vector may take, attempts included: somebody waits, and words find something too."""


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
        base = checked("embedder", base_url, api_key)
        if shorten and dimensions is None:
            raise SettingsError("To shorten vectors, give their dimensions.")
        patience = Patience(timeout=timeout, attempts=attempts, sleep=sleep)
        self._endpoint = Endpoint(
            f"{base}/embeddings", "An embedding model", EmbedderError, api_key, patience
        )
        self._extra: dict[str, object] = {"dimensions": dimensions} if shorten else {}
        self._model = model
        self._api_key = api_key
        self._dimensions = dimensions
        self._unrelated = unrelated
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._lock = threading.Lock()
        self._spend: Spend = nobody

    def __repr__(self) -> str:
        key = "None" if self._api_key is None else "'***'"
        return f"HttpEmbedder({self._endpoint.where!r}, {self._model!r}, api_key={key})"

    @property
    def space(self) -> Space:
        if self._dimensions is None:
            self.embed_query("dimensions")
        return Space(self._model, cast(int, self._dimensions), self._unrelated)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, self._passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        return self._embed([text], self._query_prefix, QUESTION_SECONDS)[0]

    def telling(self, spend: Spend) -> Self:
        """The same, over the same connections, that tells `spend` of each request that was answered."""
        told = copy.copy(self)
        told._spend = spend
        return told

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._endpoint.close()

    def _embed(self, texts: Sequence[str], prefix: str, within: float | None = None) -> Vectors:
        if not texts:
            return np.empty((0, self.space.dimensions), np.float32)
        pieces = [split(well_formed(text), self._max_chars) for text in texts]
        # Servers refuse an empty input; a space they take.
        flat = [(prefix + piece) or " " for of_text in pieces for piece in of_text]
        batches = [flat[i : i + self._batch_size] for i in range(0, len(flat), self._batch_size)]
        rows = np.concatenate([self._batch(batch, within) for batch in batches])
        ends = np.cumsum([len(of_text) for of_text in pieces])[:-1]
        return np.stack(
            [
                mean(own, [len(piece) for piece in of_text])
                for own, of_text in zip(np.split(rows, ends), pieces, strict=True)
            ]
        )

    def _batch(self, batch: list[str], within: float | None) -> Vectors:
        answer = self._endpoint.post({"model": self._model, "input": batch, **self._extra}, within)
        used = reported(answer)
        used = sum(map(estimate_tokens, batch)) if used is None else used
        self._spend("memory_embed", self._model, Tokens(used))
        rows = parse(answer, len(batch))
        with self._lock:
            if self._dimensions is None:
                self._dimensions = rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise EmbedderError(
                f"{self._endpoint.where} answered with {rows.shape[1]} dimensions; "
                f"{self._model} has {self._dimensions}."
            )
        return unit(rows)


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
