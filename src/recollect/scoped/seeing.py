"""A memory, be it in this process or behind a server, seen from elsewhere."""

from typing import Any

from recollect.model.scope import Scope


def place_of(memory: Any) -> Scope:
    """From where it is seen; a server is not asked whose it is."""
    return memory._scope if hasattr(memory, "_scope") else memory.scope


def seen_from(memory: Any, agent: str | None, conversation: str | None) -> Any:
    """The same memory, seen by another agent and in another conversation."""
    return memory._at(agent, conversation)
