"""What writes text when it is asked to: an optional helper, never what memory depends on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

Source = Literal["memory_query", "memory_rerank", "memory_qa", "memory_extract", "memory_compress", "agent"]
"""What a call is for; tokens are counted by it."""

Schema = Mapping[str, Any]
"""A JSON Schema, of the keywords that `ports.structured` knows."""


class ChatMessage(NamedTuple):
    role: Literal["system", "user", "assistant"]
    content: str


class Tokens(NamedTuple):
    """What a call used, by the server's own count."""

    prompt: int = 0
    completion: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)


class Reply(NamedTuple):
    text: str
    tokens: Tokens
    cut: bool = False
    """Whether the token limit ended it."""


class LanguageModel(Protocol):
    """Messages in, text out. Safe in any thread; raises `ModelError` and nothing else."""

    @property
    def name(self) -> str:
        """The model's name, as it is asked for."""
        ...

    def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        source: Source,
        max_tokens: int,
        schema: Schema | None = None,
        within: float | None = None,
    ) -> Reply:
        """The model's answer, of at most `max_tokens`. With a `schema` it is asked for JSON of that shape,
        which not every server enforces: `ports.structured` checks. `within` is how many seconds all of it
        may take, attempts included; without it, as long as the attempts take."""
        ...

    def close(self) -> None:
        """Let go of connections; the next call opens them again."""
        ...


def prompt(system: str, user: str) -> tuple[ChatMessage, ChatMessage]:
    """Instructions, and what they are about."""
    return ChatMessage("system", system), ChatMessage("user", user)


def as_data(value: object) -> str:
    """Anything as JSON on one line that holds no tag: whatever it says, it cannot leave its place in a
    prompt."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
