"""What the pipelines work with: one scope of one user's memory, and the ports around it."""

import functools
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError, NotFound, Overtaken
from recollect.measuring import Measures
from recollect.model.changes import Change, Log, Remove
from recollect.model.records import AuditEntry, Entity, Json, UserSettings
from recollect.model.retention import EVERYWHERE, Retention, layered
from recollect.model.scope import GLOBAL, Scope
from recollect.model.space import LARGEST, Space
from recollect.policies import Kept, Policies
from recollect.ports.cache import Cache
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.ports.graph_index import GraphIndex
from recollect.ports.language_model import LanguageModel
from recollect.ports.reranker import Reranker
from recollect.ports.search_index import SearchIndex
from recollect.ports.spending import Spend, nobody
from recollect.ports.store import Applied, UserStore, UserView
from recollect.ports.working import WorkingStore
from recollect.resting import Resting
from recollect.settings import Settings
from recollect.text.names import folded, name_key
from recollect.wishes import Differences, Wishes, followed

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("recollect")

REREADS = 10
"""How often a change is planned again because others changed what it had read."""

FIRST_PAUSE = 0.005
"""The longest, in seconds, before it is planned again the first time; twice as long each time after."""


@dataclass(slots=True)
class Searched:
    """Whether the memory is searched by our embedder's vectors. Another process may switch at any time,
    so `ours` is what was found when it was last asked."""

    ask: Callable[[], Space | None]
    ours: bool = True

    def problem(self, space: Space, ask: Callable[[], Space | None] | None = None) -> str | None:
        """Ask, the store or whoever is given: None when vectors of this space are searched, else what to do
        about it."""
        active = (ask or self.ask)()
        self.ours = active is None or active.compares_with(space)
        if self.ours or active is None:
            return None
        return (
            f"Recall goes by words only: the memory is now searched by model {active.model}, not "
            f"{space.model}. Restart with RECOLLECT_EMBEDDER={active.embedder}, or run "
            f"`recollect rebuild vectors --model {space.model}`."
        )


@dataclass(frozen=True, slots=True)
class Workspace:
    """One scope, its user's store, and the ports, which count what they use as that user's."""

    scope: Scope
    store: UserStore
    embedder: Embedder | None
    clock: Clock
    new_ids: Callable[[int], list[str]]
    settings: Settings
    searched: Searched
    model: LanguageModel | None = None
    reranker: Reranker | None = None
    resting: Resting = field(default_factory=Resting)
    flush: Callable[[], None] = lambda: None
    """Writes down what was counted so far."""
    policies: Policies = field(default_factory=Policies)
    working: WorkingStore | None = None
    guards: tuple[Change, ...] = ()
    """What every change made here goes by."""
    index: SearchIndex | None = None
    graph: GraphIndex | None = None
    measures: Measures = field(default_factory=lambda: Measures(SystemClock()))
    spend: Spend = nobody
    """Is told what models of others use for this user."""
    cache: Cache | None = None
    kept: Kept | None = None
    """What the user has set, where that is not to be asked for again."""

    @property
    def space(self) -> Space | None:
        return self.embedder.space if self.embedder else None

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that are read here: an isolated one reads only itself."""
        if self.scope.channel != GLOBAL and self.retention().isolated:
            return (self.scope.channel,)
        return self.scope.channels

    def reaches(self, channel: str) -> bool:
        """Whether an entity or a goal of a channel may be meant here: nothing leads into an isolated one, or
        out."""
        read = self.channels
        return channel in read or (GLOBAL in read and not self.retention(channel).isolated)

    def retention(self, channel: str | None = None) -> Retention:
        """The policy in a channel, or in that of the scope: the deployment's, but for what the user has set,
        but for what was set for the channel. `EVERYWHERE` asks for the user's, whatever channels differ."""
        place = self.scope.channel if channel is None else channel
        kept = self._kept()
        if place not in kept.made:
            differ = kept.wishes.retention
            every, own = (tuple(differ.get(name, {}).items()) for name in (EVERYWHERE, place))
            kept.made[place] = layered(self.settings.retention, every, own)
        return kept.made[place]

    def wishes(self) -> Wishes:
        """What the user has set, as it was a moment ago."""
        return self._kept().wishes

    def reading(self, step: Callable[["Workspace", UserView], T], *, latest: bool = True) -> T:
        """What a step gives that reads one state of the store. What the user has set is looked up before: a
        step that asked the store itself would wait for a second connection while it has its first."""
        knowing = replace(self, kept=self._kept())
        return self.store.reading(lambda view: step(knowing, view), latest=latest)

    def _kept(self) -> Kept:
        if self.kept is not None:
            return self.kept
        return self.policies.of(self.scope.user, self.clock.now(), self._stored_wishes)

    def _stored_wishes(self) -> Wishes:
        return next(
            (followed(found.values) for found in self.store.get(UserSettings, ["settings"])), Wishes()
        )

    def differences(self) -> Differences:
        """Where the user's retention policies differ from the deployment's, as it is stored."""
        return self._stored_wishes().retention

    @property
    def rerank_models(self) -> tuple[str, ...]:
        """The models that a user may choose to have hits reranked by, the deployment's own first."""
        if self.reranker is None:
            return ()
        by_model = self.settings.reranker == "model" and self.model
        own = by_model.name if by_model else self.settings.reranker_model
        more = (name.strip() for name in self.settings.reranker_models.split(","))
        return tuple(dict.fromkeys(name for name in (own, *more) if name))

    def new_id(self) -> str:
        return self.new_ids(1)[0]

    def apply(self, *changes: Change) -> Applied:
        applied = self.store.apply((*self.guards, *changes), self.space)
        if any(isinstance(change, Remove) for change in changes):
            self.uncache()
        return applied

    def uncache(self) -> None:
        """Leave no copy of what was erased; it would not be given to anybody, but it would be there."""
        if self.cache is not None:
            self.cache.erase(self.scope.user)

    def log(
        self,
        operation: str,
        subject: str,
        *,
        count: int = 1,
        kind: str | None = None,
        conversation: str | None = None,
        details: Json | None = None,
        turns: bool = False,
        always: bool = False,
    ) -> tuple[Log, ...]:
        """What the audit is to hold of a change, as its level says; goes into the same transaction. With
        `turns` it counts those that are new; what erases something leaves its receipt `always`."""
        if self.settings.audit == "off" and not always:
            return ()
        entry = AuditEntry(
            id=self.new_id(),
            operation=operation,
            subject=subject,
            at=self.clock.now(),
            count=count,
            channel=self.scope.channel,
            agent=self.scope.agent,
            conversation=conversation or self.scope.conversation,
            memory_kind=kind,
            details=details or {},
        )
        return (Log(entry, turns),)

    def entity(self, name: str) -> Entity:
        """The entity of this id, or that is called so; `NotFound` when nobody is."""
        for found in self.store.get(Entity, [name]):
            if self.reaches(found.channel):
                return found
        keyed = self.store.linking("keys", [name_key(self.store.secret(), name)])
        called = [*self.store.find(Entity, {"name": name}), *self.store.get(Entity, list(keyed))]
        if not called:  # one without keys
            known = self.store.find(Entity)
            called = [e for e in known if folded(name) in map(folded, (e.name, *e.aliases))]
        called = [entity for entity in called if self.reaches(entity.channel)]
        for entity in sorted(called, key=self._nearness(name)):
            return entity
        raise NotFound(f"Nothing is known of {name!r}.")

    def _nearness(self, name: str) -> Callable[[Entity], tuple[bool, bool, bool, str]]:
        """Those of the channels that are read here come first, then those of just this name."""
        read = self.channels
        return lambda e: (
            e.channel not in read,
            e.name != name,
            folded(e.name) != folded(name),
            e.id,
        )

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """A vector for each text; None where it has to wait because the embedder is off or failing."""
        if self.embedder is None or not texts or not self.settings.embed_on_write:
            return [None] * len(texts)
        if not self.searched.ours and self.searched.problem(self.embedder.space):
            return [None] * len(texts)
        try:
            shape = (len(texts), self.embedder.space.dimensions)
            return list(usable(self.embedder.embed_passages(texts), shape))
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, nothing said is lost
            reason = str(error) or type(error).__name__
            log.warning("Stored without vectors, to be filled in by tend: %s", reason)
            return [None] * len(texts)


def usable(given: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """What an embedder gave, if it can be stored; `EmbedderError` if not."""
    vectors = np.asarray(given, np.float32)
    if vectors.shape != shape:
        raise EmbedderError(f"The embedder gave vectors of shape {vectors.shape}; {shape} was expected.")
    if not np.abs(vectors).max(initial=0) <= LARGEST:  # also false for what is not a number
        raise EmbedderError("The embedder gave values that are not finite numbers, or too large.")
    return vectors


def rereading(change: Callable[P, T]) -> Callable[P, T]:
    """Plan a change again when what it had read (`Expect`) was changed in the meantime."""

    @functools.wraps(change)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for reread in range(REREADS):
            try:
                return change(*args, **kwargs)
            except Overtaken:
                # Each a random while, or many at once keep beating the same one.
                time.sleep(random.uniform(0, FIRST_PAUSE * 2**reread))
        return change(*args, **kwargs)

    return call
