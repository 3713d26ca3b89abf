"""The words that fields of records are limited to."""

from enum import StrEnum


class Role(StrEnum):
    """Who speaks in a turn. A `note` is an explicit save: nobody said it, somebody wrote it down."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    NOTE = "note"


class Tense(StrEnum):
    """Whether a memory speaks of what is, was or will be."""

    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


class GoalStatus(StrEnum):
    ACTIVE = "active"
    COMPLETED = "completed"
    ABANDONED = "abandoned"
    BLOCKED = "blocked"
