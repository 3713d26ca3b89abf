"""What the background works with, and how many workers keep out of each other's way."""

import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.errors import RecollectError
from recollect.model.scope import Scope
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.projection import Projection
from recollect.ports.spending import Spend, nobody
from recollect.ports.store import Store
from recollect.settings import Settings
from recollect.workspace import Workspace

Progress = Callable[[str, int], None]
"""Is told a job's name and how many rows it has put right."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one job did: how many rows it put right, or why it could not."""

    job: str
    done: int
    seconds: float
    problem: str | None = None
    elsewhere: bool = False
    """Another worker is at it, or this one is ending."""
    cpu: float = 0.0
    """Seconds of processor time of this process, for chores: what they take however busy the machine is."""


@dataclass(frozen=True, slots=True)
class Tender:
    """What the jobs work with."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    settings: Settings
    workspace: Callable[[Scope], Workspace]
    progress: Progress | None = None
    stopping: Callable[[], bool] = lambda: False
    spend: Callable[[str], Spend] = lambda user: nobody
    """Who is told what models use for a user."""
    count: Callable[[str, int], None] = lambda name, times: None
    """Who is told how often something was done."""
    projections: tuple[Projection, ...] = ()

    def tell(self, job: str, done: int) -> None:
        if self.progress:
            self.progress(job, done)

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.settings.lease_seconds)


Hold = Callable[[], bool]
"""Takes or renews the lease on what is worked on: True while it is ours and there is no stopping."""
Done = tuple[int, RecollectError | None]
"""How many rows were put right, and what kept others from it."""
Job = Callable[[Tender, Hold], Done]


Take = Callable[[datetime, datetime], bool]
"""Takes something, or renews it, from now until then; False while it is another's."""

RENEWALS = 3
"""How often something is renewed before it would run out."""
_LOST = datetime.min.replace(tzinfo=UTC)


def new_holder() -> str:
    return uuid.uuid4().hex


@contextmanager
def leased(tender: Tender, name: str) -> Generator[Hold]:
    """A lease on a job as a whole."""
    holder = new_holder()
    try:
        with holding(tender, lambda now, until: tender.store.acquire(name, holder, now, until)) as hold:
            yield hold
    finally:
        tender.store.release(name, holder)


@contextmanager
def holding(tender: Tender, take: Take) -> Generator[Hold]:
    """Something that is ours once `Hold` says so. From then on it is renewed in a thread of its own as well,
    because a step may take longer than a lease; that ends before whoever holds it lets go of it."""
    held, over = _Held(tender, take), threading.Event()
    renewing = threading.Thread(target=held.keep, args=(over,), name="recollect-renew", daemon=True)

    def hold() -> bool:
        ours = not tender.stopping() and held.renew()
        if ours and renewing.ident is None:
            with suppress(RuntimeError):  # no thread to be had: steps renew it
                renewing.start()
        return ours

    try:
        yield hold
    finally:
        over.set()
        if renewing.ident is not None:
            renewing.join()


class _Held:
    """What was taken. Once it ran out it is not taken again: another may have had it in between, and has
    changed what was read."""

    def __init__(self, tender: Tender, take: Take) -> None:
        self._tender, self._take = tender, take
        self._until: datetime | None = None
        self._lock = threading.Lock()

    def renew(self) -> bool:
        with self._lock:
            now = self._tender.clock.now()
            if self._until is not None and now >= self._until:
                return False
            if self._until is not None and self._until - now > self._tender.lease / 2:
                return True  # nobody else can have taken it, and to take it again is a write
            if self._take(now, now + self._tender.lease):
                self._until = now + self._tender.lease
                return True
            self._until = None if self._until is None else _LOST
            return False

    def keep(self, over: threading.Event) -> None:
        while not over.wait(self._tender.lease.total_seconds() / RENEWALS):
            with suppress(RecollectError):  # the database may be back before it runs out
                if not self.renew():
                    return
