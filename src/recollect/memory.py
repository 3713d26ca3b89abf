"""Memory: holds the ports, hands out scopes, owns the life cycle."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike
from types import TracebackType
from typing import Any, Self

from recollect import settings as settings_module
from recollect import wiring
from recollect.auditing import Reads
from recollect.errors import Invalid, RecollectError, SettingsError
from recollect.measuring import HITS, Measures, tended
from recollect.metering import Meter
from recollect.metrics import exposition, figures
from recollect.model.recollection import Recollection
from recollect.model.retention import parsed
from recollect.model.scope import GLOBAL, Scope
from recollect.model.working import WorkingState
from recollect.policies import Policies
from recollect.ports.cache import Cache
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.ports.graph_index import GraphIndex
from recollect.ports.language_model import LanguageModel, Source, Tokens
from recollect.ports.projection import Projection
from recollect.ports.reranker import Reranker
from recollect.ports.search_index import SearchIndex
from recollect.ports.spending import Spend, metered_embedder, metered_model, metered_reranker
from recollect.ports.store import Store
from recollect.ports.working import WorkingStore
from recollect.recall.techniques import configured
from recollect.record.ids import id_maker
from recollect.record.spending import prices
from recollect.resting import Resting
from recollect.scoped import ScopedMemory
from recollect.settings import Settings
from recollect.tend.projecting import project_user, rebuild
from recollect.tend.tender import Outcome, Progress, Tender
from recollect.tend.vectors import Counted, rebuild_vectors
from recollect.tend.visits import Planned
from recollect.tend.work import plan, run_once
from recollect.workspace import Searched, Workspace, log

FLUSH_AT = 256
"""How many returned memories, or calls of models, are counted in one go."""


class Memory:
    """A place where memory is kept, open. Use it as a context manager, or close it."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        settings: Settings,
        *,
        model: LanguageModel | None = None,
        reranker: Reranker | None = None,
        working: WorkingStore | None = None,
        index: SearchIndex | None = None,
        graph: GraphIndex | None = None,
        cache: Cache | None = None,
        background: bool = False,
    ) -> None:
        check_settings(settings)
        self.store = store
        self.embedder = embedder
        self.model = model
        self.reranker = reranker
        self.working_store = working or wiring.open_working(settings, clock)
        self.index = index or wiring.open_index(settings, store)
        self.graph = graph or wiring.open_graph(settings, store)
        self.cache = cache or wiring.open_cache(settings)
        self._resting = Resting()
        self._policies = Policies()
        self._searched = Searched(store.active_space)
        _claim(store, embedder, self._searched)
        self.clock = clock
        self.settings = settings
        self._new_ids = id_maker(clock)
        self._measures = Measures(clock)
        self._meter = Meter(store, clock, self._measures)
        self._reads = Reads(store, clock, self._new_ids, settings.audit, self._flush_if_many)
        self._returned: dict[str, dict[str, tuple[str, int, datetime]]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._background: threading.Thread | None = None
        self._counting: threading.Thread | None = None
        if background:
            self._background = threading.Thread(target=self._tend_forever, name="recollect-tend", daemon=True)
            self._background.start()

    @classmethod
    def open(
        cls,
        db: str | PathLike[str] | None = None,
        *,
        embedder: Embedder | str | None = None,
        model: LanguageModel | str | None = None,
        reranker: Reranker | str | None = None,
        clock: Clock | None = None,
        background: bool = False,
        **settings: Any,
    ) -> Self:
        """Open the memory at a path, or the user's own. `settings` override the environment's.

        `embedder`, `model` and `reranker` are one each, or the setting of that name (see `Settings`).
        `background` tends it in a thread of its own: vectors that are missing, erasures to finish.
        """
        if db is not None:
            settings["db"] = str(db)
        ports = {"embedder": embedder, "model": model, "reranker": reranker}
        settings |= {name: given for name, given in ports.items() if isinstance(given, str)}
        loaded = settings_module.load(**settings)
        clock = clock or SystemClock()
        store = wiring.open_store(loaded, clock)
        try:
            if embedder is None or isinstance(embedder, str):
                embedder = wiring.open_embedder(loaded)
            if model is None or isinstance(model, str):
                model = wiring.open_model(loaded)
            if reranker is None or isinstance(reranker, str):
                reranker = wiring.open_reranker(loaded, model)
            return cls(store, embedder, clock, loaded, model=model, reranker=reranker, background=background)
        except BaseException:
            store.close()
            raise

    def scope(
        self,
        user: str | None = None,
        channel: str = GLOBAL,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> ScopedMemory:
        """One user's memory, or, without one, yours (RECOLLECT_USER). Nobody else's can be reached through
        it."""
        whose = self.settings.user if user is None else user
        work = self._workspace(Scope(whose, channel, agent, conversation))
        return ScopedMemory(work, self._count, partial(self._erased, whose), self._reads)

    def _workspace(self, scope: Scope) -> Workspace:
        """What the pipelines work with; what its models are asked for is counted as the user's."""
        spend = self._spend(scope.user)
        return Workspace(
            scope,
            self.store.user(scope.user),
            metered_embedder(self.embedder, spend) if self.embedder else None,
            self.clock,
            self._new_ids,
            self.settings,
            self._searched,
            metered_model(self.model, spend) if self.model else None,
            metered_reranker(self.reranker, spend) if self.reranker else None,
            self._resting,
            self.flush,
            self._policies,
            self.working_store,
            index=self.index,
            graph=self.graph,
            measures=self._measures,
            spend=spend,
            cache=self.cache,
        )

    def working_state(self) -> WorkingState:
        """How the store of working memory is doing: its size, what it had to drop, what is wrong with it."""
        return self.working_store.state()

    def tend(self, progress: Progress | None = None, *, user: str | None = None) -> list[Outcome]:
        """Do the background's work now, once; for one user, only what is done for users."""
        self._note_returned()
        try:
            return run_once(self._tender(progress), user)
        finally:
            self._meter.write()
            self._measured()

    def tending(self, user: str | None = None) -> Iterator[Planned]:
        """What `tend` would do for users, or for one, and why, without doing it."""
        self.flush()
        return plan(self._tender(), user)

    def stop(self) -> None:
        """Have `tend` end after the step it is at, from another thread or a signal. There is no way back."""
        self._stopping.set()

    def metrics(self) -> str:
        """What is counted and how things stand, of everybody together, as a Prometheus server reads it."""
        self.flush()
        return exposition(figures(self.store, self.settings, self.clock.now()))

    def _tender(self, progress: Progress | None = None) -> Tender:
        return Tender(
            self.store,
            self.embedder,
            self.clock,
            self.settings,
            self._workspace,
            progress,
            self._stopping.is_set,
            self._spend,
            lambda action, times: self._measures.count(tended(action), times),
            self._projections,
        )

    @property
    def _projections(self) -> tuple[Projection, ...]:
        """The copies in other engines."""
        return tuple(copy for copy in (self.index, self.graph) if copy is not None)

    def flush(self) -> None:
        """Write down which memories were returned, what was read, what models used and what is counted for
        operators; what cannot be written is dropped."""
        self._note_returned()
        self._meter.write()
        self._measured()

    def _note_returned(self) -> None:
        """What the background goes by."""
        with self._lock:
            returned, self._returned = self._returned, {}
            counting = self._counting
        if counting is not None and counting is not threading.current_thread():
            counting.join()
        for user, ids in returned.items():
            try:
                self.store.user(user).touch(ids)
            except RecollectError as error:
                log.warning("Returned memories were not counted: %s", error)
        self._reads.write()

    def _measured(self) -> None:
        try:
            for name, times in self.store.tally().items():
                self._measures.count(name, times)
            if measures := self._measures.take():
                self.store.measure(measures)
        except RecollectError as error:  # told to operators only: nobody misses it
            log.info("What was counted was dropped: %s", error)

    def rebuild_text(self) -> Iterator[int]:
        """Build the text index anew, yielding how many chunks are done."""
        return self.store.rebuild_text()

    def rebuild_projection(self, name: str, progress: Progress | None = None) -> int:
        """Drop a copy in another engine and make it anew; how many users were."""
        return rebuild(self._tender(progress), name)

    def rebuild_vectors(self, progress: Counted | None = None, embedder: Embedder | None = None) -> int:
        """Search by vectors of the configured embedder, or of another, once there is one of every chunk;
        how many had to be computed. Until then the memory is searched as before. Stopped half way, it
        goes on where it was; for the model that is searched already, every vector is computed anew."""
        return rebuild_vectors(replace(self._tender(), embedder=embedder or self.embedder), progress)

    def close(self) -> None:
        """Finish what was begun and let go of the database."""
        self._stopping.set()
        if self._background is not None:
            self.flush()  # it may be at something long, and a server that ends waits for so long only
            self._background.join()
            self._background = None
        self.flush()
        try:
            if self.store.needs_scrub():
                self._erased()
        except RecollectError as error:
            log.warning("What was erased may still be in the files: %s Run `recollect tend`.", error)
        own = (self.model, self.reranker, self.embedder, self.working_store, self.cache)
        for port in (*own, *self._projections):
            if (close := getattr(port, "close", None)) is not None:  # few embedders have something to let go
                close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _count(self, user: str, found: Recollection) -> None:
        """Note what was returned; it is written later, out of the request's way."""
        now = self.clock.now()
        self._measures.count(HITS, len(found.hits))
        with self._lock:
            ids = self._returned.setdefault(user, {})
            for hit in found.hits:
                for id, kind in ((hit.id, hit.kind), *((id, "fact") for id in hit.says)):
                    _, times, _ = ids.get(id, ("", 0, now))
                    ids[id] = (kind, times + 1, now)
            waiting = sum(len(ids) for ids in self._returned.values())
        self._flush_if_many(waiting)

    def _spend(self, user: str) -> Spend:
        """Notes what models use for this user; it is written later."""
        return self._meter.of(user, self._flush_if_many)

    def spent(self, user: str, source: Source, model: str, tokens: Tokens) -> None:
        """Count a call of a model that was made for a user outside the memory: an answer that the gateway
        passed on, for instance."""
        self._spend(Scope(user).user)(source, model, tokens)

    def _flush_if_many(self, waiting: int) -> None:
        """Have counts written in a thread of its own: the background may be busy for hours."""
        if waiting < FLUSH_AT or self._stopping.is_set():
            return
        with self._lock, suppress(RuntimeError):  # no thread to be had: closing writes them
            if self._counting is None or not self._counting.is_alive():
                counting = threading.Thread(target=self.flush, name="recollect-count", daemon=True)
                counting.start()
                self._counting = counting

    def _erased(self, user: str | None = None) -> None:
        """Leave no byte of what was forgotten, of a user's: at once, or by the background within its
        interval."""
        if self._background is not None:
            return
        if user is not None and self._projections and (problem := project_user(self._tender(), user)):
            log.warning(
                "What was erased may still be in a copy of it until `recollect tend` ran: %s", problem
            )
        try:
            if not self.store.scrub():
                log.warning(
                    "Erased bytes are still in the files because others read them; run `recollect tend`."
                )
        except RecollectError as error:  # what was forgotten is gone from the memory all the same
            log.warning("What was erased may still be in the files: %s", error)

    def _tend_forever(self) -> None:
        while not self._stopping.wait(self.settings.tend_seconds):
            try:
                self.tend()
            except Exception:  # noqa: BLE001 - a thread that dies tends nothing any more
                log.exception("The background failed and goes on")


def measures_of(memory: Memory) -> Measures:
    """What is counted for operators, for parts of the product that count something too."""
    return memory._measures  # pyright: ignore[reportPrivateUsage]


def check_settings(settings: Settings) -> None:
    """Tell what cannot be read now, not with each question."""
    configured(settings.techniques)
    prices(settings.prices)
    try:
        parsed(settings.retention)
    except Invalid as error:
        raise SettingsError(f"RECOLLECT_RETENTION: {error}") from None


def _claim(store: Store, embedder: Embedder | None, searched: Searched) -> None:
    """Have a new database searched by this embedder; say so when another one's is: vectors of two
    models do not compare."""
    if embedder is not None and not store.claim_space(embedder.space):
        log.warning("%s", searched.problem(embedder.space))
