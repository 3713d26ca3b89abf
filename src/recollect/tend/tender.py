"""What the background works with, and how many workers keep out of each other's way."""

import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.errors import RecollectError
from recollect.model.scope import Scope
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
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


def new_holder() -> str:
    return uuid.uuid4().hex


def renewed(tender: Tender, take: Callable[[datetime, datetime], bool]) -> Hold:
    """Holds by `take(now, until)`, which writes: again only once half of the time is over, as until then
    nobody else can have taken it."""
    held: list[datetime] = []

    def hold() -> bool:
        now = tender.clock.now()
        if tender.stopping():
            return False
        if held and timedelta(0) <= now - held[-1] < tender.lease / 2:
            return True
        held[:] = [now] if take(now, now + tender.lease) else []
        return bool(held)

    return hold


@contextmanager
def leased(tender: Tender, name: str) -> Generator[Hold]:
    """A lease on a job as a whole."""
    holder = new_holder()
    try:
        yield renewed(tender, lambda now, until: tender.store.acquire(name, holder, now, until))
    finally:
        tender.store.release(name, holder)
