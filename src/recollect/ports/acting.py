"""A model that acts: it is shown tools, and answers with text, with calls of them, or with both."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, cast

from recollect.errors import ModelError
from recollect.ports.language_model import ChatMessage, Schema, Source, Tokens


class Offered(NamedTuple):
    """A tool as a model is shown it."""

    name: str
    description: str
    parameters: Schema


class Call(NamedTuple):
    """A call that a model asks for; the arguments are as it wrote them, be they JSON or not."""

    id: str
    tool: str
    arguments: str


UNREAD = "unread"
"""What arguments that are no JSON object are shown under, to people and to the model that wrote them."""
_SHOWN = 500


def read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments of a call; where they are not what they must be, the text of them and what is wrong."""
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        return unread(text), f"it is not JSON: {error}."
    except (ValueError, RecursionError):
        return unread(text), "it is not JSON."
    if not isinstance(value, dict):
        return unread(text), "it must be an object."
    return cast("dict[str, Any]", value), ""


def unread(text: str) -> dict[str, Any]:
    return {UNREAD: text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"}


class Said(NamedTuple):
    """All that a model said in one turn; nothing at all is an answer too."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens = Tokens()
    thought: str = ""
    """What it thought aloud before, where the server tells that apart."""
    cut: bool = False
    """Whether the token limit ended it."""


class Result(NamedTuple):
    """What came of a call."""

    id: str
    tool: str
    output: str


Message = ChatMessage | Said | Result


class ToolsUnknown(ModelError):
    """The model's server takes no tools: they have to be told of in words."""


class ActingModel(Protocol):
    """Messages and tools in, text and calls out. Safe in any thread; raises `ModelError` and nothing else."""

    @property
    def name(self) -> str:
        """The model's name, as it is asked for."""
        ...

    def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Offered] = (),
        *,
        source: Source,
        max_tokens: int,
        within: float | None = None,
    ) -> Iterator[str | Said]:
        """Pieces of the text as they come, and at the end all that was said. Where the server takes no tools,
        `ToolsUnknown`. Closing the iterator ends the request. `within` is how many seconds all of it may
        take."""
        ...
