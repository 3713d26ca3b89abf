"""Memories that were imported: how each is known again.

The metadata of each tells its source and the id it has there. They cite notes in one conversation a source
(`import:mem0`), so that forgetting that conversation undoes the import, and so that of two imports at once
the slower sees that the other has written and looks again.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.errors import Conflict, Invalid, NotFound
from recollect.importing.items import IMPORTED, TOO_LONG, UNFIT, Known, Left, as_object
from recollect.importing.report import Tally
from recollect.limits import check_metadata
from recollect.model.changes import Expect
from recollect.model.records import MEMORY_TYPES, Conversation, Json, Tombstone
from recollect.model.scope import GLOBAL, check_name
from recollect.record.memories import tombstone_digest
from recollect.record.turns import digest
from recollect.scoped import ScopedMemory, workspace_of
from recollect.workspace import Workspace

LOOKS = 10
"""How often it is looked again at what is there, should others be writing."""

BACKWARDS = "it ends before it begins"
EXPIRED = "it has expired"
FORGOTTEN = "it was forgotten here"
TWICE = "another with its id came before"
ANOTHERS = "it is another user's: say whose are wanted with --of"
NOT_ASKED_FOR = "it is another user's than was asked for"
OWNERS = 10
"""How many of the users in a file are named."""


@dataclass(slots=True)
class Kept:
    """What is kept of one memory of the source: the id of the latest here, and all that it ever said."""

    id: str = ""
    said: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class Plan:
    """What is to be done for some memories."""

    new: list[Known] = field(default_factory=list[Known])
    changed: list[Known] = field(default_factory=list[Known])
    done: set[str] = field(default_factory=set[str])
    """The keys of those that nothing is left to do for."""


class Shelf:
    """The memories of one source."""

    def __init__(
        self, memory: ScopedMemory, source: str, tally: Tally, dry_run: bool = False, of: str | None = None
    ) -> None:
        self._memory = memory
        self._work: Workspace = workspace_of(memory)
        self._source = source
        self._name = check_name("conversation", f"import:{source}")
        self._tally = tally
        self._dry_run = dry_run
        self._of = of
        self._asked_for = of
        self._owners: set[str] = set()
        self._loaded = False
        self._conversation: Conversation | None = None
        self._kept: dict[str, Kept] = {}
        self._tombstones: set[str] = set()
        self._taken: set[str] = set()
        self._tried: set[str] = set()

    def keep(self, items: Sequence[Known]) -> None:
        """Remember those that are new, correct those that have changed."""
        waiting = [item for item in items if self._is_wanted(item)]
        for look in range(LOOKS):
            if not waiting:
                return
            if not self._loaded:
                self._load()
            plan = self._planned(waiting)
            try:
                self._saved(plan.new, plan.done)
                self._corrected(plan.changed, plan.done)
            except Conflict:
                self._loaded = False
                if look == LOOKS - 1:
                    raise
            waiting = [item for item in waiting if item.key not in plan.done]

    def _load(self) -> None:
        """Read what is kept. The conversation first: whoever writes afterwards moves it on."""
        store = self._work.store
        self._conversation = self._found()
        self._tombstones = {one.digest for one in store.find(Tombstone)}
        self._kept = {}
        kinds = MEMORY_TYPES if self._conversation is not None else ()
        for record in (
            record
            for channel in dict.fromkeys(
                (GLOBAL, self._work.scope.channel)
            )  # what is read here, our own last
            for kind in kinds
            for record in store.find(kind, {"channel": channel})
        ):
            told = as_object(record.metadata.get(IMPORTED))
            if told.get("from") == self._source and isinstance(told.get("id"), str):
                kept = self._kept.setdefault(told["id"], Kept())
                kept.said.add(digest(record.content))
                kept.id = record.id if record.superseded_by is None else kept.id
        self._loaded = True

    def _found(self) -> Conversation | None:
        return next(iter(self._work.store.get(Conversation, [self._name])), None)

    def missing(self) -> str:
        """Whose memories were asked for and are not there, and whose are; nothing, if they are."""
        if self._asked_for is None or not self._owners or self._asked_for in self._owners:
            return ""
        names = sorted(self._owners)
        more = f" and {len(names) - OWNERS} more" if len(names) > OWNERS else ""
        return f"of {self._asked_for!r}: there are memories of {', '.join(names[:OWNERS])}{more}"

    def _is_wanted(self, item: Known) -> bool:
        """Whether it is the one user's and can be stored; if not, it is told why."""
        self._of = item.owner if self._of is None else self._of
        self._owners |= {item.owner} if item.owner is not None else set()
        reason = self._unwanted(item, self._work.clock.now())
        self._taken.add(item.key)
        if reason is not None:
            self._tally.left(Left(item.where, reason))
        return reason is None

    def _unwanted(self, item: Known, now: datetime) -> str | None:
        if item.owner not in (None, self._of):
            return ANOTHERS if self._asked_for is None else NOT_ASKED_FOR
        if item.key in self._taken:
            return TWICE
        if item.until is not None and item.until < (item.at or now):
            return BACKWARDS
        if item.expires is not None and item.expires <= now:
            return EXPIRED
        return TOO_LONG if len(item.content) > self._work.settings.content_limit else None

    def _planned(self, items: Sequence[Known]) -> Plan:
        plan = Plan()
        for item in items:
            kept, says = self._kept.get(item.key), digest(item.content)
            if kept is not None and (says in kept.said or not kept.id):
                self._tally.unchanged += 1
                plan.done.add(item.key)
            elif self._tombstones and self._digest(item) in self._tombstones:
                self._tally.left(Left(item.where, FORGOTTEN))
                plan.done.add(item.key)
            else:
                (plan.new if kept is None else plan.changed).append(item)
        return plan

    def _digest(self, item: Known) -> str:
        return tombstone_digest(self._work.store.secret(), item.content)

    def _saved(self, items: list[Known], done: set[str]) -> None:
        """Remember them together; where one cannot be, the others all the same."""
        if not items:
            return
        ids = [""] * len(items)
        try:
            if not self._dry_run:
                given = [self._item(item) for item in items]
                ids = [record.id for record in self._inside(guarded=True).remember_many(given)]
        except Invalid:
            if len(items) == 1:
                self._tally.left(Left(items[0].where, UNFIT))
                done.add(items[0].key)
                return
            half = len(items) // 2
            self._saved(items[:half], done)
            self._saved(items[half:], done)
            return
        for id, item in zip(ids, items, strict=True):
            self._kept[item.key] = Kept(id, {digest(item.content)})
            done.add(item.key)
        self._tally.imported["fact"] += len(items)
        self._moved(len(items))

    def _corrected(self, items: Sequence[Known], done: set[str]) -> None:
        for item in items:
            kept, now = self._kept[item.key], self._work.clock.now()
            try:
                if not self._dry_run:
                    since = now if item.since is None else min(item.since, now)
                    kept.id = self._inside().correct(kept.id, item.content, since=since).id
            except (Invalid, NotFound):  # somebody corrected or forgot it a moment ago, or it does not fit
                if item.key not in self._tried:
                    self._tried.add(item.key)
                    raise Conflict from None
                self._tally.left(Left(item.where, UNFIT))
                done.add(item.key)
                continue
            kept.said.add(digest(item.content))
            done.add(item.key)
            self._tally.corrected += 1
            self._moved(1)

    def _inside(self, guarded: bool = False) -> ScopedMemory:
        """The memory, seen from the conversation that holds the notes; `guarded`, if nobody wrote there since
        it was read."""
        guards = (Expect("conversation", self._name, self._conversation),) if guarded else ()
        work = replace(
            self._work,
            scope=replace(self._work.scope, conversation=self._name),
            guards=(*self._work.guards, *guards),
        )
        inside = copy(self._memory)
        inside._work = work  # pyright: ignore[reportPrivateUsage]
        return inside

    def _moved(self, notes: int) -> None:
        """Read the conversation again after so many notes; `Conflict` when others have written there too."""
        if self._dry_run:
            return
        end = notes + (self._conversation.next_index if self._conversation else 0)
        self._conversation = self._found()
        if self._conversation is None or self._conversation.next_index != end:
            raise Conflict("Others import the same at this moment: run it again when they are done.")

    def _item(self, item: Known) -> dict[str, Any]:
        """As `remember_many` takes it."""
        return {
            "content": item.content,
            "about": [name for name in item.about if _is_name(name)],
            "valid_from": item.at,
            "valid_to": item.until,
            "expires_at": item.expires,
            "confidence": item.confidence,
            "metadata": self._told(item),
        }

    def _told(self, item: Known) -> Json:
        """Its metadata; only where it is from, if all is too much."""
        try:
            check_metadata(item.metadata, self._work.settings)
        except Invalid:
            return {IMPORTED: {"from": self._source, "id": item.key}}
        return item.metadata


def _is_name(text: str) -> bool:
    try:
        return bool(check_name("about", text))
    except Invalid:
        return False
