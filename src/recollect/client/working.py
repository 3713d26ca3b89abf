"""The verbs of working memory behind a server."""

import builtins
from typing import Any, Protocol

from recollect.client.likeness import Given, like
from recollect.errors import Invalid, NotFound
from recollect.model.working import WorkingItem
from recollect.scoped.working import WorkingMemory


class Call(Protocol):
    """Asks the server, as a scope does."""

    def __call__(
        self,
        method: str,
        *path: str,
        returns: Any = None,
        inside: str | None = None,
        params: Given | None = None,
        body: Any = None,
        again: bool = True,
    ) -> Any: ...


class RemoteWorkingMemory:
    """The working memory of one conversation behind a server: what `WorkingMemory` is in this process."""

    def __init__(self, call: Call, conversation: str | None) -> None:
        if conversation is None:
            raise Invalid("Working memory is a conversation's: open the scope with conversation=….")
        self._call = call
        self._here = ("conversations", conversation, "working")

    @like(WorkingMemory.add)
    def add(self, given: Given) -> WorkingItem:
        return self._call("POST", *self._here, "items", returns=WorkingItem, body=given, again=False)

    @like(WorkingMemory.items)
    def items(self, given: Given) -> builtins.list[WorkingItem]:
        return self._call("GET", *self._here, returns=list[WorkingItem], inside="items")

    @like(WorkingMemory.tokens)
    def tokens(self, given: Given) -> int:
        return self._call("GET", *self._here, returns=int, inside="tokens")

    @like(WorkingMemory.set)
    def set(self, given: Given) -> None:
        self._call("PUT", *self._here, "values", given["key"], body={"value": given["value"]})

    @like(WorkingMemory.get)
    def get(self, given: Given) -> Any:
        try:
            return self._call("GET", *self._here, "values", given["key"], returns=Any, inside="value")
        except NotFound:
            return given.get("default")

    @like(WorkingMemory.values)
    def values(self, given: Given) -> dict[str, Any]:
        return self._call("GET", *self._here, returns=dict[str, Any], inside="values")

    @property
    def goal(self) -> str | None:
        """What the agent is after right now."""
        return self._call("GET", *self._here, returns=str | None, inside="goal")

    @goal.setter
    def goal(self, goal: str | None) -> None:
        self.set_goal(goal)

    @like(WorkingMemory.set_goal)
    def set_goal(self, given: Given) -> None:
        self._call("PUT", *self._here, "goal", body=given)

    @like(WorkingMemory.compress)
    def compress(self, given: Given) -> bool:
        return self._call("POST", *self._here, "compress", returns=bool, inside="compressed", body=given)

    @like(WorkingMemory.context)
    def context(self, given: Given) -> str:
        return self._call("GET", *self._here, "context", returns=str, inside="context", params=given)

    @like(WorkingMemory.end_invocation)
    def end_invocation(self, given: Given) -> None:
        self._call("POST", *self._here, "end_invocation")

    @like(WorkingMemory.clear)
    def clear(self, given: Given) -> None:
        self._call("DELETE", *self._here)
