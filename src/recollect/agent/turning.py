"""One turn of a model: by tool calling where its server knows that, else in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.agent.react import FINAL, described, in_words, said_in_words
from recollect.ports.acting import Message, Offered, Said, ToolsUnknown
from recollect.ports.language_model import ChatMessage, Source
from recollect.text.chunk import estimate_tokens

SOURCE: Source = "agent"


@dataclass(slots=True)
class Speaking:
    """How a model is spoken to during one invocation; `in_words` once it turns out to know no tools."""

    model: Any
    protocol: str
    """What tells of tools in words, with a place for them."""
    in_words: bool
    fixed: bool
    """Whether it is to be tool calling, whatever comes of it."""
    max_tokens: int
    turns: int = 0

    def turn(
        self, messages: Sequence[Message], tools: Sequence[Offered], within: float
    ) -> Iterator[str | Said]:
        """Pieces of text as they come, and what was said."""
        self.turns += 1
        if not self.in_words and hasattr(self.model, "act"):
            begun = False
            try:
                for told in self._act(messages, tools, within):
                    begun = True
                    yield told
            except ToolsUnknown:
                if begun or self.fixed:
                    raise
            else:
                return
        self.in_words = True
        yield from self._worded(messages, tools, within)

    def _act(
        self, messages: Sequence[Message], tools: Sequence[Offered], within: float
    ) -> Iterator[str | Said]:
        return self.model.act(messages, tools, source=SOURCE, max_tokens=self.max_tokens, within=within)

    def _worded(
        self, messages: Sequence[Message], tools: Sequence[Offered], within: float
    ) -> Iterator[str | Said]:
        """A turn in words; only what is said as the answer is passed on as it comes."""
        told = in_words(messages)
        if tools:
            told[0] = ChatMessage(
                "system", f"{told[0].content}\n\n{self.protocol.format(tools=described(tools))}"
            )
        text, passed = "", 0
        for piece in self._plain(told, within):
            if isinstance(piece, Said):
                yield said_in_words(piece, tools, self.turns)
                continue
            text += piece
            if found := FINAL.search(text):
                answer = text[found.end() :]
                if new := answer[passed:]:
                    passed = len(answer)
                    yield new

    def _plain(self, messages: Sequence[ChatMessage], within: float) -> Iterator[str | Said]:
        if hasattr(self.model, "act"):
            begun = False
            try:
                for told in self._act(messages, (), within):
                    begun = True
                    yield told
                return
            except ToolsUnknown:  # a model that only answers
                if begun:
                    raise
        reply = self.model.ask(messages, source=SOURCE, max_tokens=self.max_tokens, within=within)
        yield reply.text
        yield Said(reply.text, tokens=reply.tokens, cut=reply.cut)


def cost(said: Said, messages: Sequence[Message]) -> int:
    """The tokens of a turn, by the server's count or, where it tells none, by ours."""
    if sum(said.tokens):
        return sum(said.tokens)
    return estimate_tokens(said.text) + sum(estimate_tokens(str(message)) for message in messages)
