"""The verbs of one user's memory behind a server: each a request, with the signature of its original."""

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from recollect.client.account import RemoteAccount
from recollect.client.connection import Connection, as_json
from recollect.client.leaving import RemoteLeaving
from recollect.client.likeness import Given, like
from recollect.client.person import RemotePerson
from recollect.client.streams import batches, said
from recollect.client.working import RemoteWorkingMemory
from recollect.errors import Invalid
from recollect.limits import check_many, check_progress, check_whole
from recollect.model.goals import GoalState
from recollect.model.mined import Contradiction, Mined
from recollect.model.places import Drawer, Place
from recollect.model.recollection import Event, Neighbourhood, Recollection
from recollect.model.records import (
    Conversation,
    Entity,
    Episode,
    Goal,
    MemoryRecord,
    Procedure,
    Record,
    Summary,
    ToolInvocation,
    Turn,
)
from recollect.model.scope import GLOBAL, Scope
from recollect.model.tools import ToolStats
from recollect.record.memories import as_items
from recollect.scoped import ScopedMemory
from recollect.tend.erase import Forgotten

R = TypeVar("R")

PAGE = 50
"""How many are listed unless somebody says; a server gives at most `LONGEST_PAGE` at once."""
LONGEST_PAGE = 1000
HISTORY = 1000
"""The most messages of a history that recall looks at, and that a server takes."""
SOMEBODY = "somebody"
"""Stands for a user that the server knows by the key."""

EVERYWHERE = {"everywhere": True}
"""Of lists that the scope does not narrow: what they tell, and nobody's audit, is the same from anywhere."""


class RemoteScopedMemory(RemoteLeaving, RemotePerson, RemoteAccount):
    """One user's memory behind a server, seen from a channel, an agent and a conversation: verb for verb what
    `ScopedMemory` is in this process."""

    def __init__(
        self,
        connection: Connection,
        user: str | None = None,
        channel: str = GLOBAL,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> None:
        self._connection = connection
        self._user = user
        self._scope = Scope(SOMEBODY if user is None else user, channel, agent, conversation)
        if user is not None and user != user.strip():
            raise Invalid("A user's name that begins or ends with a space cannot be sent to a server.")

    @property
    def scope(self) -> Scope:
        if self._user is None:
            self._user = self._call("GET", "whoami", returns=str | None, inside="user")
            if self._user is None:
                raise Invalid("This key opens everybody's memory: say whose, with client.scope(user=…).")
            here = self._scope
            self._scope = Scope(self._user, here.channel, here.agent, here.conversation)
        return self._scope

    @property
    def working(self) -> RemoteWorkingMemory:
        """What an agent has in its head during the scope's conversation."""
        return RemoteWorkingMemory(self._call, self._scope.conversation)

    def _at(self, agent: str | None, conversation: str | None) -> "RemoteScopedMemory":
        here = self._scope
        return RemoteScopedMemory(self._connection, self._user, here.channel, agent, conversation)

    def _call(
        self,
        method: str,
        *path: str,
        returns: Any = None,
        inside: str | None = None,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        reads: bool = False,
        again: bool = True,
    ) -> Any:
        asked = {**self._params, **(params or {})}
        return self._connection.call(
            method,
            path,
            returns,
            inside=inside,
            params=asked,
            body=body,
            headers=self._headers,
            reads=reads,
            again=again,
        )

    def _paged(
        self, path: str, kind: type[R], params: Given, *, inside: str | None = None, by: str = "id"
    ) -> builtins.list[R]:
        """As many as are wanted, however few the server gives at a time."""
        found: list[R] = []
        left = check_whole("limit", params.get("limit", PAGE))
        while left > 0:
            page = {**params, "limit": min(left, LONGEST_PAGE)}
            got = self._call("GET", path, returns=list[kind], inside=inside or path, params=page)
            found += got
            left -= len(got)
            if len(got) < page["limit"]:
                break
            params = {**params, "after": getattr(got[-1], by)}
        return found

    @property
    def _params(self) -> Given:
        here = self._scope
        channel = None if here.channel == GLOBAL else here.channel
        return {"channel": channel, "agent": here.agent, "conversation": here.conversation}

    @property
    def _headers(self) -> dict[str, str]:
        return {} if self._user is None else {"X-Recollect-User": self._user}

    # What was said

    @like(ScopedMemory.record)
    def record(self, given: Given) -> Turn:
        body = {"messages": [said({n: v for n, v in given.items() if v is not None})]}
        return self._call("POST", "turns", returns=list[Turn], inside="turns", body=body)[0]

    @like(ScopedMemory.record_many)
    def record_many(self, given: Given) -> builtins.list[Turn]:
        messages, progress = given["messages"], given.get("progress")
        check_many("The turns", messages)
        check_progress(progress)
        conversation: str | None = given.get("conversation")
        turns: list[Turn] = []
        for batch in batches(messages):
            body = {"messages": batch, "conversation": conversation}
            stored = self._call("POST", "turns", returns=list[Turn], inside="turns", body=body)
            if conversation is None:  # the new one of those that name none
                named = zip(batch, stored, strict=True)
                conversation = next((t.conversation for m, t in named if not m.get("conversation")), None)
            turns += stored
            if progress:
                progress(len(turns))
        return turns

    @like(ScopedMemory.record_tool)
    def record_tool(self, given: Given) -> ToolInvocation:
        return self._call("POST", "tool_invocations", returns=ToolInvocation, body=given)

    @like(ScopedMemory.record_summary)
    def record_summary(self, given: Given) -> Summary:
        if (conversation := self._scope.conversation) is None:
            raise Invalid("A summary belongs to a conversation: use memory.scope(user=…, conversation=…).")
        return self._call("POST", "conversations", conversation, "summaries", returns=Summary, body=given)

    # What is known

    @like(ScopedMemory.remember)
    def remember(self, given: Given) -> MemoryRecord:
        fields = given.pop("fields", {})
        return self.remember_many([{**given, **fields}])[0]

    @like(ScopedMemory.remember_many)
    def remember_many(self, given: Given) -> builtins.list[MemoryRecord]:
        body = {"items": as_items(given["items"])}
        if not body["items"]:
            return []
        return self._call("POST", "memories", returns=list[MemoryRecord], inside="memories", body=body)

    @like(ScopedMemory.correct)
    def correct(self, given: Given) -> MemoryRecord:
        return self._call("PUT", "records", given.pop("id"), returns=MemoryRecord, body=given)

    @like(ScopedMemory.pin)
    def pin(self, given: Given) -> MemoryRecord:
        body = {"pinned": given.get("pinned", True)}
        return self._call("PATCH", "records", given["id"], returns=MemoryRecord, body=body)

    @like(ScopedMemory.promote)
    def promote(self, given: Given) -> MemoryRecord:
        body = {"promoted": given.get("promoted", True)}
        return self._call("PATCH", "records", given["id"], returns=MemoryRecord, body=body)

    @like(ScopedMemory.contradictions)
    def contradictions(self, given: Given) -> builtins.list[Contradiction]:
        return self._paged("contradictions", Contradiction, given)

    @like(ScopedMemory.settle)
    def settle(self, given: Given) -> None:
        self._call("POST", "contradictions", given["id"], body={"keep": given["keep"]})

    @like(ScopedMemory.mine)
    def mine(self, given: Given) -> builtins.list[Mined]:
        progress = given.pop("progress", None)
        check_progress(progress)
        mined = self._call("POST", "mine", returns=list[Mined], inside="mined", body=given)
        if progress:
            progress(sum(one.turns for one in mined))
        return mined

    @like(ScopedMemory.unmine)
    def unmine(self, given: Given) -> Forgotten:
        return self._call("DELETE", "conversations", given["conversation"], "mined", returns=Forgotten)

    @like(ScopedMemory.merge)
    def merge(self, given: Given) -> Entity:
        return self._call("POST", "entities", "merge", returns=Entity, body=given)

    @like(ScopedMemory.split)
    def split(self, given: Given) -> Entity:
        return self._call("POST", "entities", "split", returns=Entity, body=given)

    # Asking

    @like(ScopedMemory.recall)
    def recall(self, given: Given) -> Recollection:
        if isinstance(history := given.get("history"), list | tuple):
            given["history"] = cast("Sequence[Any]", history)[-HISTORY:]
        return self._call("POST", "recall", returns=Recollection, body=given, reads=True)

    @like(ScopedMemory.get)
    def get(self, given: Given) -> Record:
        return self._call("GET", "records", given["id"], returns=Record)

    @like(ScopedMemory.list)
    def list(self, given: Given) -> builtins.list[Record]:
        where = as_json(given.pop("where", {})).decode()
        return self._paged("records", Record, {"kind": "fact", **given, "where": where, **EVERYWHERE})

    @like(ScopedMemory.conversation)
    def conversation(self, given: Given) -> builtins.list[Turn]:
        if given["id"] == "":  # no address names it
            return []
        return self._call("GET", "conversations", given["id"], "turns", returns=list[Turn], inside="turns")

    @like(ScopedMemory.conversations)
    def conversations(self, given: Given) -> builtins.list[Conversation]:
        return self._paged("conversations", Conversation, {**given, **EVERYWHERE})

    @like(ScopedMemory.summaries)
    def summaries(self, given: Given) -> builtins.list[Summary]:
        if given["conversation"] == "":
            return []
        path = ("conversations", given["conversation"], "summaries")
        return self._call("GET", *path, returns=list[Summary], inside="summaries")

    @like(ScopedMemory.timeline)
    def timeline(self, given: Given) -> builtins.list[Event]:
        return self._call("GET", "timeline", returns=list[Event], inside="events", params=given)

    @like(ScopedMemory.neighbours)
    def neighbours(self, given: Given) -> Neighbourhood:
        return self._call("GET", "graph", returns=Neighbourhood, params=given)

    @like(ScopedMemory.palace)
    def palace(self, given: Given) -> builtins.list[Place]:
        return self._paged("palace", Place, given, inside="places", by="number")

    @like(ScopedMemory.drawer)
    def drawer(self, given: Given) -> Drawer:
        return self._call("GET", "palace", "drawer", returns=Drawer, params=given)

    # The user as a person

    @like(ScopedMemory.add_goal)
    def add_goal(self, given: Given) -> Goal:
        return self._call("POST", "goals", returns=Goal, body=given)

    @like(ScopedMemory.goals)
    def goals(self, given: Given) -> builtins.list[Goal]:
        status = given.get("status", "active")
        params = {"status": "all" if status is None else status}
        return self._call("GET", "goals", returns=list[Goal], inside="goals", params=params)

    @like(ScopedMemory.goal)
    def goal(self, given: Given) -> GoalState:
        return self._call("GET", "goals", given["id"], returns=GoalState)

    @like(ScopedMemory.update_goal)
    def update_goal(self, given: Given) -> Goal:
        return self._call("PATCH", "goals", given["id"], returns=Goal, body=given.get("changes", {}))

    @like(ScopedMemory.complete_goal)
    def complete_goal(self, given: Given) -> Goal:
        return self._call("POST", "goals", given.pop("id"), "complete", returns=Goal, body=given)

    @like(ScopedMemory.end)
    def end(self, given: Given) -> Conversation:
        id = given.pop("conversation", None)
        if (id := self._scope.conversation if id is None else id) is None:
            raise Invalid("Say which conversation has ended: end(conversation=…).")
        return self._call("POST", "conversations", id, "end", returns=Conversation, body=given)

    @like(ScopedMemory.procedures)
    def procedures(self, given: Given) -> builtins.list[Procedure]:
        kinds = list[Procedure]
        return self._call("GET", "procedures", "search", returns=kinds, inside="procedures", params=given)

    @like(ScopedMemory.episodes)
    def episodes(self, given: Given) -> builtins.list[Episode]:
        return self._call("GET", "episodes", "search", returns=list[Episode], inside="episodes", params=given)

    @like(ScopedMemory.tools)
    def tools(self, given: Given) -> builtins.list[ToolStats]:
        return self._call("GET", "tools", returns=list[ToolStats], inside="tools", params=given)
