"""What is read, for the audit: noted as it happens, written later, out of the request's way.

A read never fails because of it. What waits to be written is lost when the process is killed; what is
forgotten while it waits is not written.
"""

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from recollect.errors import RecollectError
from recollect.model.recollection import Recollection
from recollect.model.records import AuditEntry, Record
from recollect.model.scope import Scope
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.tending import Moment

log = logging.getLogger("recollect")

ROOM = 10_000
"""How many entries wait at most; beyond that they are not noted, but for how many they were."""
AT_ONCE = 500
"""How many entries are one transaction."""
PROBLEM_LENGTH = 80

LEVELS = ("reads", "verbose")
"""The levels at which reading is noted."""


@dataclass(slots=True)
class _Waiting:
    """What waits of one user, and the state of the memory before the first of it was read."""

    since: Moment
    entries: list[AuditEntry] = field(default_factory=list[AuditEntry])


class Reads:
    """Takes in what is read until it is written. Safe in any thread."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        new_ids: Callable[[int], list[str]],
        level: str,
        after: Callable[[int], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_ids = new_ids
        self.level = level
        self._after = after
        self._lock = threading.Lock()
        self._since: dict[str, Moment] = {}
        self._waiting: dict[tuple[str, int], _Waiting] = {}
        self._count = 0
        self._lost = 0

    def reading(self, scope: Scope, operation: str, subject: str) -> "Reading":
        """To read within; it is told what was found."""
        return Reading(self if self.level in LEVELS else None, scope, operation, subject)

    def begin(self, user: str) -> Moment | None:
        """The state before something is read: what is erased after it is not told."""
        with self._lock:
            since = self._since.get(user)
        try:
            since = since or self._store.user(user).moment()
        except RecollectError:  # as the read itself will say
            return None
        if since is not None:
            with self._lock:  # asked once for all that is written together
                self._since[user] = since
        return since

    def add(self, since: Moment | None, reading: "Reading", latency: float, error: str | None) -> None:
        scope, payload = reading.scope, reading.payload if self.level == "verbose" else None
        entry = AuditEntry(
            id=self._new_ids(1)[0],
            operation=reading.operation,
            subject=reading.subject,
            at=self._clock.now(),
            count=reading.count,
            channel=scope.channel,
            agent=scope.agent,
            conversation=scope.conversation,
            memory_kind=reading.kind,
            latency_ms=round(latency * 1000, 3),
            success=error is None,
            error=error or reading.problem,
            details=reading.details,
            payload=json.dumps(payload, default=str) if payload else None,
        )
        if since is None:  # nothing is kept of somebody of whom nothing is stored
            return
        with self._lock:
            if self._count >= ROOM:
                self._lost += 1
                return
            waiting = self._waiting.setdefault((scope.user, since.number), _Waiting(since))
            if since.seq < waiting.since.seq:
                waiting.since = since
            waiting.entries.append(entry)
            self._count = count = self._count + 1
        self._after(count)

    def write(self) -> None:
        """Have them stored; what cannot be is dropped."""
        with self._lock:
            waiting, self._waiting, self._since, self._count = self._waiting, {}, {}, 0
            lost, self._lost = self._lost, 0
        if lost:
            log.warning(
                "The audit does not tell of %d reads: more were waiting than there was room for.", lost
            )
        for (user, _), told in waiting.items():
            try:
                for start in range(0, len(told.entries), AT_ONCE):
                    self._store.user(user).note(told.entries[start : start + AT_ONCE], told.since)
            except RecollectError as error:
                log.warning("What was read was not noted in the audit: %s", error)


class Reading:
    """One read, from its beginning to its end. Without anybody to tell, it does nothing."""

    __slots__ = (
        "_reads",
        "_since",
        "_started",
        "count",
        "details",
        "kind",
        "operation",
        "payload",
        "problem",
        "scope",
        "subject",
    )

    def __init__(self, reads: Reads | None, scope: Scope, operation: str, subject: str) -> None:
        self._reads = reads
        self.scope = scope
        self.operation = operation
        self.subject = subject
        self.count = 0
        self.kind: str | None = None
        self.problem: str | None = None
        self.details: dict[str, Any] = {}
        self.payload: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if self._reads is not None:
            self._since = self._reads.begin(self.scope.user)
            self._started = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reads is not None:
            latency = perf_counter() - self._started
            failed = kind is not None and issubclass(kind, Exception)
            self._reads.add(self._since, self, latency, kind.__name__ if kind and failed else None)

    def found(self, records: Iterable[Record], **asked: Any) -> None:
        """Tell which records were read, and what had been asked for."""
        if self._reads is not None:
            self.told([(r.kind, r.id, getattr(r, "channel", None)) for r in records], **asked)

    def told(self, found: Iterable[tuple[str, str, str | None]], **asked: Any) -> None:
        """The same of kinds, ids and channels."""
        if self._reads is not None:
            self._tell([*found])
            self.payload = {**{name: value for name, value in asked.items() if value}, **self.payload}

    def recalled(self, found: Recollection, searched: Iterable[str]) -> Recollection:
        """Tell what came of a question in these channels; how it came about only to those who may know what
        was asked."""
        if self._reads is None:
            return found
        self._tell([(hit.kind, hit.id, hit.channel) for hit in found.hits])
        self.details["searched"] = [*searched]
        if found.skipped:
            self.details["skipped"] = found.skipped
        if found.problems:
            self.problem = "; ".join(problem.split(":")[0][:PROBLEM_LENGTH] for problem in found.problems)
        scores = [{"kind": hit.kind, "id": hit.id, "score": round(hit.score, 6)} for hit in found.hits]
        steps = [step._asdict() for step in found.used]
        self.payload = {"query": found.query, "found": scores, "steps": steps}
        return found

    def _tell(self, found: list[tuple[str, str, str | None]]) -> None:
        self.count = len(found)
        kinds = Counter(kind for kind, _, _ in found)
        channels = Counter(channel for _, _, channel in found if channel is not None)
        self.kind = next(iter(kinds)) if len(kinds) == 1 else None
        tally: Mapping[str, Counter[str]] = {"kinds": kinds, "channels": channels}
        self.details |= {name: dict(counts) for name, counts in tally.items() if counts}
        self.payload = {"found": [{"kind": kind, "id": id} for kind, id, _ in found]}
