"""What an agent has in its head: kept for a conversation, and only for a while."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class ItemType(StrEnum):
    TURN = "turn"
    THOUGHT = "thought"
    ACTION = "action"
    OBSERVATION = "observation"
    """What came of an action: the result of a tool."""
    DECISION = "decision"
    SUMMARY = "summary"
    """What older items were compressed into."""


class Desk(NamedTuple):
    """Whose working memory, and of which conversation."""

    user: str
    channel: str
    conversation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingItem:
    """One thing in an agent's head."""

    id: str
    type: ItemType
    content: str
    at: datetime
    tokens: int
    agent: str | None = None
    """Whose it is: ending an invocation clears what the same agent was thinking."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


class WorkingState(NamedTuple):
    """How a working store is doing, for whoever watches it."""

    where: str
    """`in process`, or the server without its password."""
    used_bytes: int | None = None
    most_bytes: int | None = None
    """None: there is no limit, or it is not known."""
    conversations: int | None = None
    evicted: int | None = None
    """What had to go before its time because memory was short."""
    policy: str | None = None
    """What goes first then."""
    problem: str | None = None
