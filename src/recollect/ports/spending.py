"""Who is told what models use, and the ports that tell it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, Self, cast

from recollect.errors import ModelError
from recollect.model.space import Space
from recollect.ports.acting import ActingModel, Message, Offered, Said, ToolsUnknown
from recollect.ports.choosing import Choosing
from recollect.ports.embedder import Embedder, Vectors
from recollect.ports.language_model import ChatMessage, LanguageModel, Reply, Schema, Source, Tokens
from recollect.ports.reranker import Reranker
from recollect.text.chunk import estimate_tokens

Spend = Callable[[Source | Literal["memory_embed"], str, Tokens], None]
"""Is told of one call: what it was for, the model's name, what it used."""


def nobody(source: str, model: str, tokens: Tokens) -> None:
    """Is told, and does nothing."""


class Telling(Protocol):
    """An embedder or reranker that knows what its calls use: each request, by the server's own count. Of one
    that does not tell, calls are counted, and an embedder's tokens estimated."""

    def telling(self, spend: Spend) -> Self:
        """The same, over the same connections, that tells `spend` of each call that was answered."""
        ...


def reported(answer: object) -> int | None:
    """The prompt tokens that a server's answer reports; None where it does not."""
    try:
        usage = cast(Any, answer)["usage"]
        found = usage.get("prompt_tokens") or usage.get("total_tokens")
    except (LookupError, TypeError, AttributeError):
        return None
    return found if type(found) is int and found >= 0 else None


class MeteredModel:
    """The `LanguageModel` port, with its calls counted: also those of which no use can be made."""

    def __init__(self, inner: LanguageModel, spend: Spend) -> None:
        self._inner = inner
        self._spend = spend

    @property
    def name(self) -> str:
        return self._inner.name

    def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        source: Source,
        max_tokens: int,
        schema: Schema | None = None,
        within: float | None = None,
    ) -> Reply:
        try:
            reply = self._inner.ask(
                messages, source=source, max_tokens=max_tokens, schema=schema, within=within
            )
        except ModelError as error:
            if error.tokens is not None:
                self._spend(source, self.name, Tokens(*error.tokens))
            raise
        self._spend(source, self.name, reply.tokens)
        return reply

    def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Offered] = (),
        *,
        source: Source,
        max_tokens: int,
        within: float | None = None,
    ) -> Iterator[str | Said]:
        """As the `ActingModel` port, of a model that is one."""
        if not hasattr(self._inner, "act"):
            raise ToolsUnknown(f"{self.name} takes no tools.")
        inner = cast(ActingModel, self._inner)
        try:
            for told in inner.act(messages, tools, source=source, max_tokens=max_tokens, within=within):
                if isinstance(told, Said):
                    self._spend(source, self.name, told.tokens)
                yield told
        except ModelError as error:
            if error.tokens is not None:
                self._spend(source, self.name, Tokens(*error.tokens))
            raise

    def choosing(self, model: str) -> "MeteredModel":
        """The same with another model, where there is a choice."""
        return MeteredModel(cast(Choosing[LanguageModel], self._inner).choosing(model), self._spend)

    def close(self) -> None:
        self._inner.close()


class _MeteredEmbedder:
    """The `Embedder` port over one that tells nothing: a call each, and as many tokens as we think."""

    def __init__(self, inner: Embedder, spend: Spend) -> None:
        self._inner = inner
        self._spend = spend

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = self._inner.embed_passages(texts)
        self._spend("memory_embed", self.space.model, Tokens(sum(map(estimate_tokens, texts))))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        vector = self._inner.embed_query(text)
        self._spend("memory_embed", self.space.model, Tokens(estimate_tokens(text)))
        return vector


class _MeteredReranker:
    """The `Reranker` port over one that tells nothing: a call each, by the name of its class."""

    def __init__(self, inner: Reranker, spend: Spend) -> None:
        self._inner = inner
        self._spend = spend

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        relevance = self._inner.rerank(query, texts)
        self._spend("memory_rerank", type(self._inner).__name__, Tokens())
        return relevance

    def choosing(self, model: str) -> "_MeteredReranker":
        return _MeteredReranker(cast(Choosing[Reranker], self._inner).choosing(model), self._spend)

    def close(self) -> None:
        self._inner.close()


def metered_model(model: LanguageModel, spend: Spend) -> LanguageModel:
    """The model, with what it uses told to `spend`."""
    return MeteredModel(model, spend)


def metered_embedder(embedder: Embedder, spend: Spend) -> Embedder:
    return _told(embedder, spend) or _MeteredEmbedder(embedder, spend)


def metered_reranker(reranker: Reranker, spend: Spend) -> Reranker:
    return _told(reranker, spend) or _MeteredReranker(reranker, spend)


def _told(port: Embedder | Reranker, spend: Spend) -> Any:
    """The port itself, telling, if it is `Telling`. Every scope asks: `isinstance` would take longer."""
    return cast(Telling, port).telling(spend) if hasattr(port, "telling") else None
