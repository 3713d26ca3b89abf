"""Where working memory is kept: expiring by nature, never a record of anything."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from recollect.model.working import Desk, WorkingItem, WorkingState


class WorkingStore(Protocol):
    """Items in order, values by key and a goal, for each conversation. Safe in any thread.

    Everything of a conversation expires together, its time to live after it was last read or written. No
    method fails because a server is down: reads give nothing, writes are dropped, and `state` names the
    problem.
    """

    def append(self, desk: Desk, item: WorkingItem) -> None:
        """Put an item at the end."""
        ...

    def items(self, desk: Desk) -> list[WorkingItem]:
        """The items, in order."""
        ...

    def replace(self, desk: Desk, expected: Sequence[WorkingItem], items: Sequence[WorkingItem]) -> bool:
        """Put `items` in place of those expected, if these are still the first there are. What others
        appended meanwhile stays behind them. False, and nothing changed, when they are not."""
        ...

    def put(self, desk: Desk, key: str, value: Any, most: int) -> bool:
        """Keep a value under a key; None takes it out. False when there are `most` other keys already."""
        ...

    def value(self, desk: Desk, key: str) -> Any:
        """The value of a key; None when there is none."""
        ...

    def values(self, desk: Desk) -> Mapping[str, Any]:
        """Every value, by its key."""
        ...

    def set_goal(self, desk: Desk, goal: str | None) -> None: ...

    def goal(self, desk: Desk) -> str | None: ...

    def erase(self, user: str, *, channel: str | None = None, conversation: str | None = None) -> None:
        """Leave nothing of a user, or of one channel, one conversation, or the conversation in that channel.
        What cannot be erased because a server is down is erased before anything of it can be read here."""
        ...

    def state(self) -> WorkingState: ...

    def close(self) -> None: ...
