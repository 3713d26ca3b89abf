"""LlamaIndex on Recollect: a memory block that keeps what leaves the chat history, and brings back what bears
on the question, from this session and from all before it.

    block = RecollectMemoryBlock(memory=memory.scope("derek"))
    chat = llama_index.core.memory.Memory.from_defaults(session_id="march-15", memory_blocks=[block])
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar, cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import AfterValidator, Field

from recollect import Invalid, Message, RecollectError, Recollection, RemoteScopedMemory, ScopedMemory
from recollect.integrations._asking import check_scope

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that an agent waits for its memory before it goes on without."""
QUERY = 10_000
"""The most characters of a message that memory is asked by: its end, where the question usually is."""
PIECE = 100_000
"""The most characters of one turn; what is longer becomes several."""
HISTORY = 20
"""By how many of the messages before it a question is understood."""
FRAME = 2
"""How many lines of the block come before its memories; one comes after them."""
TOKEN = 4
"""About how many characters a token has."""

ROLES = {
    MessageRole.USER: "user",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
"""The others are the model's."""

log = logging.getLogger("recollect.integrations")


class RecollectMemoryBlock(BaseMemoryBlock[str]):
    """Everything that a user's memory knows, in a block. Messages are recorded in the conversation of the
    scope or, without one, of the session. An agent goes on without a memory that cannot be reached."""

    name: str = "long_term_memory"
    description: str | None = "What is known from earlier conversations."
    priority: int = 1
    memory: Annotated[Any, AfterValidator(check_scope)]
    """The scope that is asked: `memory.scope("derek")`."""
    top_k: int | None = None
    how: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Further arguments of `recall`, such as `kinds` or `context_tokens`."""
    patience: float = PATIENCE

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        given = messages or []
        asked = next((place for place in reversed(range(len(given))) if given[place].role == "user"), None)
        if asked is None:
            return ""
        query = (given[asked].content or "")[-QUERY:]
        before = [
            {"role": _role(m), "content": m.content or ""} for m in given[max(0, asked - HISTORY) : asked]
        ]
        how: dict[str, Any] = {"top_k": self.top_k, "history": before, **self.how}
        found = await self._tried(lambda scope: scope.recall(query, **how))
        return found.context if isinstance(found, Recollection) else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Record what leaves the chat history, word for word, unless the user has memory switched off."""
        if turns := list(_turns(messages)):
            await self._tried(lambda scope: _recorded(scope, turns, _session(scope, messages)))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The block without its last memories, which matter least; nothing when none would be left."""
        lines = content.splitlines()
        opening, memories, closing = lines[:FRAME], lines[FRAME:-1], lines[-1:]
        left = len(content) - TOKEN * tokens_to_truncate - len("\n".join((*opening, *closing)))
        kept: list[str] = []
        for line in memories:
            left -= len(line) + 1
            if left < 0:
                break
            kept.append(line)
        return "\n".join((*opening, *kept, *closing)) if kept else None

    async def _tried(self, ask: "Callable[[ScopedMemory | RemoteScopedMemory], T]") -> T | None:
        """What the memory answers, or nothing."""
        scope = cast("ScopedMemory | RemoteScopedMemory", self.memory)
        try:
            return await asyncio.wait_for(asyncio.to_thread(ask, scope), self.patience)
        except Invalid:
            raise  # whoever set this up has to know
        except (RecollectError, TimeoutError) as error:
            log.warning("Memory was not asked: %s", type(error).__name__)
            return None


def _recorded(
    scope: ScopedMemory | RemoteScopedMemory, turns: Sequence[Message], session: str | None
) -> None:
    if scope.is_on():
        scope.record_many(turns, conversation=session)


def _turns(messages: Sequence[ChatMessage]) -> Iterator[Message]:
    for message in messages:
        text = message.content or ""  # calls of tools have none
        for start in range(0, len(text) if text.strip() else 0, PIECE):
            yield Message(role=_role(message), content=text[start : start + PIECE])


def _role(message: ChatMessage) -> str:
    return ROLES.get(message.role, "assistant")


def _session(scope: ScopedMemory | RemoteScopedMemory, messages: Sequence[ChatMessage]) -> str | None:
    """Where they are recorded: what LlamaIndex calls a session is a conversation."""
    named = (message.additional_kwargs.get("session_id") for message in messages)
    return scope.scope.conversation or next((name for name in named if name), None)
