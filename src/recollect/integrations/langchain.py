"""LangChain on Recollect: the messages of a conversation, and a retriever over all that is remembered.

    history = RecollectChatMessageHistory(memory.scope("derek", conversation="march-15"))
    retriever = RecollectRetriever(memory=memory.scope("derek"))

A message is a turn: its text is searched and mined like anything said, the rest of it (tool calls, ids,
blocks) is kept beside it, so that it comes back as it was.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever
from pydantic import AfterValidator, Field

from recollect import (
    Hit,
    Invalid,
    Message,
    RecollectError,
    RemoteScopedMemory,
    ScopedMemory,
    Turn,
)
from recollect.integrations._asking import check_scope

MESSAGE = "langchain"
"""In the metadata of a turn: what its message is besides its text."""
INLINE = 32 * 1024
"""The most characters, as JSON, of what is kept there. More of it is in notes in front of the turn."""
PIECE = 100_000
"""The most characters of one note, and of the text of a message that is searched."""
QUERY = 10_000
"""The most characters of a query that are looked at."""

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_MADE: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}

log = logging.getLogger("recollect.integrations")


class RecollectChatMessageHistory(BaseChatMessageHistory):
    """The messages of the scope's conversation. Clearing it erases them and what was learnt from them."""

    def __init__(self, memory: ScopedMemory | RemoteScopedMemory) -> None:
        super().__init__()
        check_scope(memory)
        if memory.scope.conversation is None:
            raise Invalid("A history is of one conversation: use memory.scope(user=…, conversation=…).")
        self._memory = memory
        self._conversation = memory.scope.conversation

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] - as documented
        return list(_read(self._memory.conversation(self._conversation)))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store them in order; they are on disk when this returns."""
        self._memory.record_many([part for message in messages for part in _written(message)])

    def clear(self) -> None:
        self._memory.forget(conversation=self._conversation)


class RecollectRetriever(BaseRetriever):
    """What bears on a query, as documents: `id`, and in the metadata the score and where it comes from. A
    memory that cannot be reached gives none."""

    memory: Annotated[Any, AfterValidator(check_scope)]
    """The scope that is asked: `memory.scope("derek")`."""
    top_k: int | None = None
    how: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Further arguments of `recall`, such as `kinds` or `threshold`."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        scope = cast("ScopedMemory | RemoteScopedMemory", self.memory)
        how: dict[str, Any] = {"top_k": self.top_k, **self.how}
        try:
            found = scope.recall(query[-QUERY:], **how)
        except Invalid:
            raise  # whoever set this up has to know
        except RecollectError as error:
            log.warning("Memory was not asked: %s", type(error).__name__)
            return []
        return [document(hit) for hit in found.hits]


def document(hit: Hit) -> Document:
    """A hit as LangChain has it; times are text, so that it can be JSON."""
    known: dict[str, Any] = {
        "score": hit.score,
        "kind": hit.kind,
        "at": hit.at.isoformat(),
        "sources": list(hit.sources),
        "channel": hit.channel,
        "confidence": hit.confidence,
        "agent": hit.agent,
        "conversation": hit.conversation,
        "role": hit.role,
        "citation": hit.citation,
        "valid_from": hit.valid_from and hit.valid_from.isoformat(),
        "valid_to": hit.valid_to and hit.valid_to.isoformat(),
    }
    given = {name: value for name, value in known.items() if value is not None}
    return Document(id=hit.id, page_content=hit.content, metadata=given)


def _written(message: BaseMessage) -> Iterator[Message]:
    """A message as a turn, after notes of what has no room beside it."""
    text = message.text
    data = message.model_dump(mode="json")
    if message.content == text and len(text) <= PIECE:
        del data["content"]  # it is the turn's
    packed, notes = json.dumps(data, ensure_ascii=False), 0
    if len(packed) > INLINE:
        pieces = [packed[start : start + PIECE] for start in range(0, len(packed), PIECE)]
        yield from (Message(role="note", content=piece, metadata={MESSAGE: {}}) for piece in pieces)
        data, notes = {}, len(pieces)
    kept = {"type": message.type, "data": data, "notes": notes}
    yield Message(role=_role(message), content=text[:PIECE], metadata={MESSAGE: kept})


def _role(message: BaseMessage) -> str:
    if isinstance(message, ChatMessage):
        return message.role if message.role in ("user", "assistant", "system", "tool") else "user"
    return ROLES.get(message.type.removesuffix("MessageChunk").lower(), "user")


def _read(turns: Sequence[Turn]) -> Iterator[BaseMessage]:
    """The messages behind turns. What was recorded in another way is a message of its text."""
    notes: list[str] = []
    for turn in turns:
        kept = _kept(turn)
        if turn.role == "note":
            if kept is not None:
                notes.append(turn.content)
            continue
        if kept is None:
            yield _MADE.get(turn.role, HumanMessage)(content=turn.content, id=turn.id)
            continue
        data = dict(kept["data"])
        if kept["notes"]:
            data = json.loads("".join(notes[-kept["notes"] :]))
        yield from messages_from_dict([{"type": kept["type"], "data": {"content": turn.content, **data}}])
        notes.clear()


def _kept(turn: Turn) -> Mapping[str, Any] | None:
    found: object = turn.metadata.get(MESSAGE)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else None
