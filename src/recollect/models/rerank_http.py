"""A reranker behind an address: the usual POST {base_url}/rerank."""

import copy
import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

from recollect.addresses import Patience, checked
from recollect.errors import ModelError, SettingsError
from recollect.models._post import Endpoint
from recollect.models._vectors import well_formed
from recollect.ports.language_model import Tokens
from recollect.ports.spending import Spend, nobody, reported


class HttpReranker:
    """The `Reranker` port over POST {base_url}/rerank, as Cohere, Jina, vLLM, llama.cpp and others have it.
    Safe in any thread. A call takes at most `timeout` seconds, attempts included: somebody waits for what
    it orders."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        base = checked("reranker", base_url, api_key)
        if importlib.util.find_spec("httpx") is None:
            raise SettingsError("A reranker behind an address needs httpx: pip install 'recollect[remote]'.")
        patience = Patience(timeout=timeout, attempts=attempts, sleep=sleep)
        self._endpoint = Endpoint(f"{base}/rerank", "A reranker", ModelError, api_key, patience)
        self._within = timeout
        self._model = model
        self._api_key = api_key
        self._spend: Spend = nobody

    def __repr__(self) -> str:
        key = "None" if self._api_key is None else "'***'"
        return f"HttpReranker({self._endpoint.where!r}, {self._model!r}, api_key={key})"

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        body = {
            "model": self._model,
            "query": well_formed(query) or " ",
            # Servers refuse an empty document; a space they take.
            "documents": [well_formed(text) or " " for text in texts],
            "top_n": len(texts),
        }
        answer = self._endpoint.post(body, self._within)
        self._spend("memory_rerank", self._model, Tokens(reported(answer) or 0))
        return parse(answer, len(texts))

    def telling(self, spend: Spend) -> Self:
        """The same, over the same connections, that tells `spend` of each request that was answered."""
        told = copy.copy(self)
        told._spend = spend
        return told

    def choosing(self, model: str) -> Self:
        """The same, over the same connections, that asks for this model."""
        chosen = copy.copy(self)
        chosen._model = model
        return chosen

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._endpoint.close()


def parse(answer: object, count: int) -> list[float]:
    """The scores of an answer in the order of the texts, checked."""
    try:
        results = cast(Any, answer)["results"]
        scores = {item["index"]: float(item["relevance_score"]) for item in results}
        complete = len(results) == count and scores.keys() == set(range(count))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"The reranker's answer is malformed ({type(error).__name__}).") from None
    if not complete:
        raise ModelError(f"The reranker did not answer with one score for each of {count} texts.")
    if not all(map(math.isfinite, scores.values())):
        raise ModelError("The reranker gave a score that is not a finite number.")
    return [scores[index] for index in range(count)]
