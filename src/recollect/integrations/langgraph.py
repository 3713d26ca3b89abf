"""LangGraph's long-term store on Recollect: exact items under a namespace and a key, found by meaning too.

    store = RecollectStore(memory, "derek")
    graph = builder.compile(store=store)

An item is a fact in a slot of its own. What belongs to a namespace is labelled with it, as the agent that
wrote it and as the conversation in which it was noted: so one namespace is read without the others.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from recollect import (
    Client,
    Conflict,
    Hit,
    Memory,
    NotFound,
    RecollectError,
    RemoteScopedMemory,
    ScopedMemory,
)
from recollect.integrations.langgraph_items import (
    ITEM,
    Kept,
    Namespace,
    Place,
    is_match,
    item_of,
    label_of,
    passes,
    same,
    slot_of,
    written,
)

PAGE = 500
AT_ONCE = 50
"""So many values of a field are asked for at a time: a request has to hold them."""
APART = 16
"""Up to so many namespaces are searched one by one, more of them all together."""
DEEP = 1000
"""Among how many of the best those are looked for that a filter lets through."""
QUERY = 10_000
"""The most characters of a query that are looked at."""
FRESH = 0.9
"""Reading an item renews its time to live once less than this share of it is left."""
PLAIN: dict[str, bool] = dict.fromkeys(
    ("gate", "times", "anchor", "entities", "diversity", "updates", "rerank"), False
)
"""Techniques of recall that are for questions of people."""

Scored = tuple[float | None, Kept]

log = logging.getLogger("recollect.integrations")


class RecollectStore(BaseStore):
    """The items of one user. `index` may name the `fields` that are searched; vectors are the memory's."""

    supports_ttl = True

    def __init__(
        self,
        memory: Memory | Client,
        user: str | None = None,
        *,
        channel: str = "langgraph",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        given = cast("Mapping[str, Any]", index or {})
        if given.get("embed") is not None:
            raise ValueError("The memory embeds by its own embedder: give only `fields` in the index.")
        self.ttl_config = ttl
        self._memory = memory
        self._user = user
        self._channel = channel
        self._fields: Sequence[str] = given.get("fields") or ["$"]
        self._now = now

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before the batch; of several puts of one item the last counts."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        places = {(op.namespace, op.key) for op in given if isinstance(op, GetOp)}
        found = {kept.place: kept for kept in self._at(places)}
        puts: dict[Place, PutOp] = {}
        results: list[Result] = []
        for op in given:
            match op:
                case GetOp():
                    results.append(self._got(found.get((op.namespace, op.key)), op))
                case SearchOp():
                    results.append(cast("Result", self._search(op)))
                case ListNamespacesOp():
                    results.append(self._list_namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        self._put(puts)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    # Reading

    def _scope(self, label: str | None = None) -> ScopedMemory | RemoteScopedMemory:
        return self._memory.scope(self._user, self._channel, label)

    def _at(self, places: Iterable[Place]) -> Iterator[Kept]:
        """The items in these places."""
        return self._each("slot", map(slot_of, places))

    def _each(self, field: str, values: Iterable[str]) -> Iterator[Kept]:
        """The items with one of these values in a field, so many at a time as fit into a request."""
        wanted = sorted(values)
        for start in range(0, len(wanted), AT_ONCE):
            yield from self._kept(**{field: wanted[start : start + AT_ONCE]})

    def _kept(self, **where: Any) -> Iterator[Kept]:
        """Items that have not run out, in the order in which they were put."""
        now, scope, after = self._now(), self._scope(), None
        where |= {"channel": self._channel, "superseded_by": None}
        while page := scope.list("fact", limit=PAGE, after=after, oldest_first=True, **where):
            for fact in page:
                if (kept := item_of(fact)) is not None and not kept.is_over(now):
                    yield kept
            if len(page) < PAGE:
                return
            after = page[-1].id

    def _got(self, kept: Kept | None, op: GetOp) -> Item | None:
        if kept is None:
            return None
        if op.refresh_ttl:
            self._renew(kept)
        return Item(**kept.fields())

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = op.namespace_prefix
        labels = sorted(label_of(self._channel, namespace) for namespace in self._namespaces(prefix))
        if not labels:
            return []
        # One condition on many namespaces is long; then all items are looked at.
        where: dict[str, Any] = {"agent": labels} if len(labels) <= AT_ONCE else {}
        items = (
            kept
            for kept in self._kept(**where)
            if kept.namespace[: len(prefix)] == prefix and passes(kept.value, op.filter)
        )
        if op.query:
            page = self._nearest(op, labels, items)[op.offset : op.offset + op.limit]
        else:
            page = [(None, kept) for kept in islice(items, op.offset, op.offset + op.limit)]
        for _, kept in page if op.refresh_ttl else ():
            self._renew(kept)
        return [SearchItem(**kept.fields(), score=score) for score, kept in page]

    def _nearest(self, op: SearchOp, labels: Sequence[str], items: Iterable[Kept]) -> list[Scored]:
        """What answers the query best comes first. If that is not enough of what was asked for, the others
        follow, at the end those that have no score."""
        hits = self._recalled(op, labels)
        prefix = op.namespace_prefix
        best: list[Scored] = [
            (hits[kept.fact.id].score, kept)
            for kept in self._each("id", hits)
            if kept.indexed and kept.namespace[: len(prefix)] == prefix and passes(kept.value, op.filter)
        ]
        if len(best) < op.offset + op.limit:  # recall tells what says the same once, and not what is unlike
            scores = {same(hit.content): hit.score for hit in hits.values()}
            best = [(scores.get(same(kept.fact.content)) if kept.indexed else None, kept) for kept in items]
        return sorted(best, key=lambda pair: (pair[0] is None, -(pair[0] or 0.0)))

    def _recalled(self, op: SearchOp, labels: Sequence[str]) -> dict[str, Hit]:
        """The facts in these namespaces that answer the query; none where the memory cannot be searched."""
        apart: Sequence[str | None] = labels if len(labels) <= APART else [None]
        top_k = DEEP if op.filter or apart == [None] else op.offset + op.limit
        hits: dict[str, Hit] = {}
        for label in apart:
            found = self._scope().recall(
                (op.query or "")[:QUERY],
                kinds=["fact"],
                agent=label,
                top_k=max(top_k, 1),
                threshold=-1.0,
                context_tokens=0,
                techniques=PLAIN,
            )
            hits |= {hit.id: hit for hit in found.hits}
        return hits

    def _namespaces(self, prefix: Namespace = ()) -> Iterator[Namespace]:
        """The namespaces below a prefix that something was put into."""
        scope, begins = self._scope(), f"{self._channel}:"
        after: str | None = None
        while page := scope.list("conversation", limit=PAGE, after=after, channel=self._channel):
            for conversation in page:
                namespace = self._namespace(conversation.id) if conversation.id.startswith(begins) else None
                if namespace is not None and namespace[: len(prefix)] == prefix:
                    yield namespace
            if len(page) < PAGE:
                return
            after = page[-1].id

    def _namespace(self, label: str) -> Namespace | None:
        """What a label stands for. Where it cannot be read, an item tells."""
        name = label.removeprefix(f"{self._channel}:")
        if not name.startswith("."):
            return tuple(name.split("."))
        return next((kept.namespace for kept in self._kept(agent=label)), None)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        scope = self._scope()
        found = {
            namespace if op.max_depth is None else namespace[: op.max_depth]
            for namespace in self._namespaces()
            if all(is_match(condition, namespace) for condition in conditions)
            and scope.list("turn", limit=1, conversation=label_of(self._channel, namespace))
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    # Writing

    def _put(self, puts: Mapping[Place, PutOp]) -> None:
        if not puts:
            return
        before = {kept.place: kept for kept in self._at(puts)}
        now = self._now()
        writes: dict[str, list[dict[str, Any]]] = {}
        for place, op in puts.items():
            if op.value is not None:
                created = before[place].created_at if place in before else now
                label = label_of(self._channel, op.namespace)
                fields = written(op, self._fields, created, now)
                writes.setdefault(label, []).append({**fields, "conversation": label})
        for label, items in writes.items():
            for start in range(0, len(items), PAGE):
                self._scope(label).remember_many(items[start : start + PAGE])
        self._erase([place for place, op in puts.items() if op.value is None])

    def _erase(self, places: Sequence[Place]) -> None:
        """Every version that there is, the oldest first: what a newer one replaced must not come back."""
        scope, slots = self._scope(), sorted(map(slot_of, places))
        for start in range(0, len(slots), AT_ONCE):
            where: dict[str, Any] = {"channel": self._channel, "slot": slots[start : start + AT_ONCE]}
            while page := scope.list("fact", limit=PAGE, oldest_first=True, **where):
                for fact in page:
                    with suppress(NotFound):  # somebody else erased it
                        scope.forget(fact.id)

    def _renew(self, kept: Kept) -> None:
        """Have the time to live begin anew, unless it just did, or another value was put meanwhile."""
        now, minutes = self._now(), kept.noted.get("ttl")
        if minutes is None or kept.fact.expires_at is None:
            return
        if kept.fact.expires_at - now >= timedelta(minutes=minutes) * FRESH:
            return
        label = label_of(self._channel, kept.namespace)
        try:
            self._scope(label).remember(
                kept.fact.content,
                slot=slot_of(kept.place),
                replaces=kept.fact.id,
                expires_at=now + timedelta(minutes=minutes),
                conversation=label,
                metadata={ITEM: kept.noted},
            )
        except Conflict:
            return
        except RecollectError as error:  # it was read all the same
            log.warning("The time to live of an item was not renewed: %s", type(error).__name__)
