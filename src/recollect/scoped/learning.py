"""The verbs about what was done: ending a conversation, what worked before, how the tools do."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from recollect.limits import check_text
from recollect.model.recollection import Recollection
from recollect.model.records import Conversation, Episode, MemoryRecord, Procedure, ToolInvocation
from recollect.model.tools import ToolStats, tool_stats
from recollect.record.ending import end
from recollect.workspace import Workspace

M = TypeVar("M", bound=MemoryRecord)

TOP_K = 3
"""How many procedures and episodes are found unless somebody says."""


class LearningVerbs:
    _work: Workspace
    recall: Callable[..., Recollection]

    def end(
        self, conversation: str | None = None, outcome: str | None = None, *, success: bool | None = None
    ) -> Conversation:
        """Say that a conversation, or the scope's, has ended, with what came of it and whether that is what
        was wanted. The background concludes it then, without waiting until nobody speaks; a later turn
        opens it again."""
        return end(self._work, conversation, outcome, success)

    def procedures(self, task: str, top_k: int = TOP_K) -> builtins.list[Procedure]:
        """How tasks like this are done: what went well before comes first."""
        return self._found(Procedure, task, top_k)

    def episodes(self, task: str, top_k: int = TOP_K) -> builtins.list[Episode]:
        """Tasks like this that were worked on, and how they ended: what went well comes first."""
        return self._found(Episode, task, top_k)

    def tools(self, tool: str | None = None) -> builtins.list[ToolStats]:
        """How often each tool was called, or this one, how that went and how long it took."""
        where = {} if check_text("tool", tool) is None else {"tool": tool}
        return tool_stats(self._work.store.find(ToolInvocation, where))

    def _found(self, kind: type[M], task: str, top_k: int) -> builtins.list[M]:
        asked: dict[str, Any] = {"kinds": [kind.kind], "top_k": top_k, "techniques": {"gate": False}}
        hits: Sequence[Any] = self.recall(task, **asked).hits
        return self._work.store.get(kind, [hit.id for hit in hits])
