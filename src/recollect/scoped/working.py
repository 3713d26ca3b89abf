"""The verbs of working memory: what an agent has in its head during one conversation."""

import builtins
from datetime import datetime
from typing import Any

from recollect.model.working import WorkingItem
from recollect.record import working
from recollect.workspace import Workspace


class WorkingMemory:
    """The working memory of one conversation. It expires when it has not been used for
    RECOLLECT_WORKING_TTL_SECONDS; what is to last is recorded or remembered."""

    def __init__(self, work: Workspace) -> None:
        working.desk_of(work)  # without a conversation it is told now
        self._work = work

    def add(
        self,
        type: str,
        content: str,
        *,
        at: datetime | None = None,
        tokens: int | None = None,
        context_window: int | None = None,
        **metadata: Any,
    ) -> WorkingItem:
        """Keep a `turn`, `thought`, `action`, `observation` or `decision`. Of the metadata, `role` of a turn
        and `tool` of an action or observation are told with it, and `decision=True` makes it survive as one.
        Too much of it, and the older items are compressed, as `compress` does."""
        return working.add(
            self._work, type, content, metadata, at=at, tokens=tokens, context_window=context_window
        )

    def items(self) -> builtins.list[WorkingItem]:
        """What is held, in order."""
        return working.items(self._work)

    def tokens(self) -> int:
        """About how many tokens the items have."""
        return sum(item.tokens for item in working.items(self._work))

    def set(self, key: str, value: Any) -> None:
        """Keep a value, anything that can be JSON; None takes it out."""
        working.put(self._work, key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key."""
        return working.value(self._work, key, default)

    def values(self) -> dict[str, Any]:
        """Every value, by its key."""
        return working.values(self._work)

    @property
    def goal(self) -> str | None:
        """What the agent is after right now."""
        return working.goal(self._work)

    @goal.setter
    def goal(self, goal: str | None) -> None:
        self.set_goal(goal)

    def set_goal(self, goal: str | None) -> None:
        """Say what the agent is after right now; None: nothing any more."""
        working.set_goal(self._work, goal)

    def compress(self, context_window: int | None = None) -> bool:
        """Compress the older items into a summary if all together have more than RECOLLECT_WORKING_TOKENS, or
        half of the context window. The newest RECOLLECT_WORKING_KEEP stay as they are; decisions and the
        results of tools stay in the summary. Whether anything was compressed."""
        return working.compress(self._work, context_window)

    def context(self, tokens: int | None = None, context_window: int | None = None) -> str:
        """The goal and the items as a block to give to a model, the newest that fit into so many tokens."""
        return working.context(self._work, tokens, context_window)

    def end_invocation(self) -> None:
        """Clear what the scope's agent thought, did and observed; turns, values and the goal stay."""
        working.end_invocation(self._work)

    def clear(self) -> None:
        """Leave nothing in the conversation's working memory."""
        working.clear(self._work)
