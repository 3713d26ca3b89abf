"""The verbs: everything that can be done with one user's memory."""

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from recollect.auditing import Reads
from recollect.errors import Invalid, NotFound
from recollect.limits import check_flag, check_given, check_text, check_time, check_whole, shown
from recollect.measuring import IMPAIRED, MEMORIES, RECALL, RECORD, SKIPPED, TURNS
from recollect.model.recollection import Recollection
from recollect.model.records import (
    BY_KIND,
    RECORD_TYPES,
    AuditEntry,
    Conversation,
    MemoryRecord,
    Record,
    Summary,
    Tombstone,
    ToolInvocation,
    Turn,
)
from recollect.model.scope import Scope
from recollect.record import ledger, memories, turns
from recollect.record.spending import Spending, spending
from recollect.record.turns import Message
from recollect.scoped.audit import AuditVerbs
from recollect.scoped.knowledge import KnowledgeVerbs
from recollect.scoped.learning import LearningVerbs
from recollect.scoped.leaving import LeavingVerbs
from recollect.scoped.person import PersonVerbs
from recollect.scoped.working import WorkingMemory
from recollect.tend import erase
from recollect.tend.quota import making_room
from recollect.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.recall.question import Question

    Vector = NDArray[np.float32] | Sequence[float]

KINDS = tuple(kind for kind in BY_KIND if kind != "tombstone")
"""What can be read back."""


class ScopedMemory(KnowledgeVerbs, LearningVerbs, PersonVerbs, LeavingVerbs, AuditVerbs):
    """One user's memory, seen from a channel, an agent and a conversation."""

    def __init__(
        self,
        work: Workspace,
        after_recall: Callable[[str, Recollection], None],
        after_forget: Callable[[], None],
        reads: Reads,
    ) -> None:
        self._work = work
        self._after_recall = after_recall
        self._after_forget = after_forget
        self._reads = reads

    @property
    def scope(self) -> Scope:
        return self._work.scope

    @property
    def working(self) -> WorkingMemory:
        """What an agent has in its head during the scope's conversation."""
        return WorkingMemory(self._work)

    def _at(self, agent: str | None, conversation: str | None) -> "ScopedMemory":
        work = replace(self._work, scope=replace(self.scope, agent=agent, conversation=conversation))
        return ScopedMemory(work, self._after_recall, self._after_forget, self._reads)

    # What was said

    def record(
        self,
        role: str,
        content: str,
        *,
        conversation: str | None = None,
        index: int | None = None,
        at: datetime | None = None,
        zone: str | None = None,
        model: str | None = None,
        tokens: int | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        vector: "Vector | None" = None,
    ) -> Turn:
        """Store one turn, word for word; it is on disk when this returns.

        Without `conversation` the scope's is used, or a new one is made (see the turn that is
        returned). With `index` the same text again changes nothing and another text is a `Conflict`.
        """
        message = Message(
            role=role,
            content=content,
            conversation=conversation,
            index=index,
            at=at,
            zone=zone,
            model=model,
            tokens=tokens,
            title=title,
            metadata={} if metadata is None else metadata,
            vector=vector,
        )
        return self._recorded([message])[0]

    def record_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        conversation: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> builtins.list[Turn]:
        """Store many turns, in order; each batch of RECOLLECT_BATCH_LIMIT is one transaction. Those that
        name no conversation go into `conversation`, the scope's, or a new one."""
        return self._recorded(messages, progress, conversation)

    def _recorded(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        progress: Callable[[int], None] | None = None,
        conversation: str | None = None,
    ) -> builtins.list[Turn]:
        with self._work.measures.timed(RECORD):
            stored = turns.record(self._work, messages, progress, conversation)
        self._work.measures.count(TURNS, len(stored))
        return stored

    def record_tool(
        self,
        tool: str,
        input: Any,
        output: Any = None,
        *,
        success: bool | None = None,
        latency_ms: float | None = None,
        error: str | None = None,
        turn: str | None = None,
    ) -> ToolInvocation:
        """Store one call of a tool and what came of it. It went well if there is no `error`, unless `success`
        says otherwise."""
        return ledger.record_tool(
            self._work, tool, input, output, success=success, latency_ms=latency_ms, error=error, turn=turn
        )

    def record_summary(self, query: str, summary: str, result: str) -> Summary:
        """Store what one invocation in the scope's conversation was asked, did and reached."""
        return ledger.record_summary(self._work, query, summary, result)

    # What is known

    def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        about: Sequence[str] = (),
        **fields: Any,
    ) -> MemoryRecord:
        """Save a memory as it is given. `fields` are those of its kind: `valid_from`, `expires_at`,
        `pinned`, `confidence`, `metadata`; for an episode also `goal`, `steps`, `outcome`, `lessons`,
        `success` and `tools`. With a `slot`, a name of your own for what it answers, it takes the place of
        what was remembered there before (`list(slot=…)`), which is erased; `replaces` is the id that has to
        be there."""
        return self.remember_many([{"content": content, "kind": kind, "about": about, **fields}])[0]

    def remember_many(self, items: Sequence[str | Mapping[str, Any]]) -> builtins.list[MemoryRecord]:
        """Save several memories, all or none. Where that is more than the retention policy allows, mined
        ones make room; `QuotaExceeded` when none can."""
        given = memories.as_items(items)
        saved = making_room(
            self._work, lambda: memories.remember(self._work, given, erase.making_way), len(given)
        )
        self._work.measures.count(MEMORIES, len(saved))
        return saved

    def correct(self, id: str, content: str, *, since: datetime | None = None) -> MemoryRecord:
        """Replace a memory from now on, or from `since`. The old one is kept as what held before."""
        return memories.correct(self._work, id, content, since)

    def pin(self, id: str, pinned: bool = True) -> MemoryRecord:
        """Keep a memory whatever the retention policy says; or no longer."""
        return memories.pin(self._work, id, pinned)

    # Asking

    def recall(
        self,
        query: str,
        *,
        top_k: int | None = None,
        kinds: Sequence[str] | None = None,
        threshold: float | None = None,
        agent: str | None = None,
        conversation: str | None = None,
        exclude_conversation: str | None = None,
        roles: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_confidence: float = 0.0,
        context_tokens: int | None = None,
        history: Sequence[str | Mapping[str, Any]] | None = (),
        techniques: Mapping[str, bool] | None = None,
        include: Sequence[str] = (),
        explain: bool = False,
        count: bool = True,
        vector: "Vector | None" = None,
    ) -> Recollection:
        """The memories that bear on a question, best first.

        `threshold` is the least similarity of what is found by meaning alone (0 unrelated, 1 the
        same); what shares words with the query is found anyway. `as_of` asks what was true at a time,
        `known_at` what was known then. `exclude_conversation` leaves out the one that is going on, whose
        turns the model has in front of it; `history` are its messages (texts, or dicts with role and
        content): the question is understood by them, and none is recalled. `techniques` switches some on
        or off. `include` brings along `goals`, `profile` or `related`; `explain` what was left out.
        Without `count` nothing counts as returned: popularity goes by what agents use, not by who looks.
        """
        from recollect.recall.question import Question

        question = Question(
            query=query,
            top_k=top_k,
            kinds=kinds,
            threshold=threshold,
            agent=agent,
            conversation=conversation,
            exclude_conversation=exclude_conversation,
            roles=roles,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            min_confidence=min_confidence,
            context_tokens=context_tokens,
            history=history,
            techniques=techniques,
            include=include,
            explain=explain,
            count=count,
            vector=vector,
        )
        return self._recalled(question)

    def _recalled(self, question: "Question") -> Recollection:
        from recollect.recall import pipeline  # its rules take a while to compile
        from recollect.recall.question import channels_of

        measures = self._work.measures
        with measures.timed(RECALL), self._reading("recall", "memories") as reading:
            found = reading.recalled(pipeline.recall(self._work, question), channels_of(self._work))
        measures.count(SKIPPED, found.skipped is not None)
        measures.count(IMPAIRED, bool(found.problems))
        if question.count:
            self._after_recall(self.scope.user, found)
        return found

    def get(self, id: str) -> Record:
        """The record with this id, of any kind; `NotFound` when this user has none."""
        check_given("id", id)
        with self._reading("get", "record") as reading:
            for kind in RECORD_TYPES:
                if kind.kind in KINDS and (found := self._work.store.get(kind, [id])):
                    reading.found(found)
                    return found[0]
            raise NotFound(f"There is nothing with the id {id!r}.")

    def list(
        self,
        kind: str = "fact",
        *,
        limit: int = 50,
        after: str | None = None,
        oldest_first: bool = False,
        **where: Any,
    ) -> builtins.list[Record]:
        """Records of a kind, newest first, a page at a time: `after` is the last id of the page before.
        `where` narrows it by field: `channel=…`, `conversation=…`, `superseded_by=None`."""
        if not isinstance(kind, str) or kind not in KINDS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Invalid(f"There is no kind {shown(kind)}; the kinds are {', '.join(KINDS)}.")
        check_whole("limit", limit)
        check_text("after", after)
        check_flag("oldest_first", oldest_first)
        with self._reading("list", kind) as reading:
            found = self._work.store.find(
                BY_KIND[kind],
                {name: check_time(name, v) if isinstance(v, datetime) else v for name, v in where.items()},
                order="first_seen" if kind == "entity" else "id",
                descending=not oldest_first,
                after=after,
                limit=limit,
            )
            records = [*found]
            reading.found(records, where=where)
        return records

    def conversation(self, id: str) -> builtins.list[Turn]:
        """The turns of a conversation, in order."""
        check_given("conversation", id)
        with self._reading("conversation", "turn") as reading:
            turns = [*self._work.store.find(Turn, {"conversation": id}, order="index")]
            reading.found(turns, conversation=id)
        return turns

    def summaries(self, conversation: str) -> builtins.list[Summary]:
        """What was done in a conversation, invocation by invocation, in order."""
        check_given("conversation", conversation)
        with self._reading("summaries", "summary") as reading:
            found = [*self._work.store.find(Summary, {"conversation": conversation})]
            reading.found(found, conversation=conversation)
        return found

    def counts(self) -> dict[str, int]:
        """How many records of each kind there are; the audit is not among them."""
        kinds = [kind for kind in RECORD_TYPES if kind not in (AuditEntry, Tombstone)]
        every = {kind.kind: self._work.store.count(kind) for kind in kinds}
        return {kind: count for kind, count in every.items() if count}

    def conversations(self, *, limit: int = 50, after: str | None = None) -> builtins.list[Conversation]:
        """Conversations, by name."""
        check_whole("limit", limit)
        check_text("after", after)
        with self._reading("list", "conversation") as reading:
            found = [*self._work.store.find(Conversation, limit=limit, after=after)]
            reading.found(found)
        return found

    def spending(self, since: date | None = None) -> builtins.list[Spending]:
        """What models were asked for this user, by day (UTC), source and model, with its cost by
        RECOLLECT_PRICES."""
        return spending(self._work, since)


def workspace_of(memory: ScopedMemory) -> Workspace:
    """What the pipelines work with there, for parts of the product that plan changes of their own."""
    return memory._work  # pyright: ignore[reportPrivateUsage]
