"""Recall from hot standbys: which of them may answer, and when none may.

A standby may answer when it has replayed all that the primary had written some seconds ago, and all that
this process wrote of the user. Both are told by places in the primary's log, so that neither an idle primary
nor the clock of any machine matters. One that is down or slow, or that follows another primary, is left alone
for a while; whatever fails there is asked of the primary.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine

from recollect.errors import StoreUnavailable
from recollect.resting import Resting
from recollect.stores.postgres import failures
from recollect.stores.postgres.session import Sessions, ended
from recollect.stores.postgres.standby import UNTOLD, Standby, place_of
from recollect.stores.sql.fork import watch

LEAST_TIMEOUT = 5.0
"""Seconds that a standby has for a statement at least, however fresh it has to be."""
MANY = 10_000


class Elsewhere(psycopg.OperationalError):
    """What failed at a standby: to be done once more, at the primary."""

    sqlstate = "40001"


class Replicas:
    """The standbys of one primary."""

    def __init__(
        self,
        primary: Sessions,
        standbys: Sequence[Standby],
        seconds: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._primary, self._standbys, self._seconds, self._now = primary, standbys, seconds, now
        self._resting = Resting()
        self._turn = count()
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._places: deque[tuple[float, int]] = deque()
        """How far the primary's log had come at which moment, oldest first."""
        self._history = UNTOLD
        self._written: dict[str | None, tuple[float, int | None]] = {}
        """How far it had come when this process last wrote of a user; None: that was not heard."""
        primary.told = self.wrote
        for standby in standbys:
            watch(standby)

    def wrote(self, user: str | None, place: int | None) -> None:
        """Note that something of a user, or with None of nobody in particular, was committed. Of two at once
        who committed first may tell last."""
        now = self._now()
        with self._lock:
            if len(self._written) > MANY:  # older ones are behind what any standby in use has replayed
                recent = {u: one for u, one in self._written.items() if one[0] >= now - self._seconds}
                self._written = recent
            _, before = self._written.get(user, (now, None))
            self._written[user] = (now, place if place is None or before is None else max(place, before))

    @contextmanager
    def read(self, user: str | None) -> Generator[Connection]:
        """A connection that sees one state of the database, of a standby if one may answer."""
        if (found := self._begun(user)) is None:
            with self._primary.read(user) as connection:
                yield connection
            return
        standby, connection = found
        try:
            with ended(connection):
                yield connection
        except failures.FAILURES as error:  # of this connection: what fails elsewhere is in our words
            self._leave_alone(standby, error)
            lost = Elsewhere(failures.first_line(error))
            raise StoreUnavailable(f"{standby.where} failed. Try again.") from lost

    def states(self) -> list[dict[str, Any]]:
        """How each of them is doing, for operators."""
        history, place = place_of(self._primary)
        return [_state(standby, history, place) for standby in self._standbys]

    def engines(self) -> list[Engine]:
        return [standby.engine for standby in self._standbys]

    def close(self) -> None:
        for standby in self._standbys:
            standby.close()

    def _in_turn(self) -> Iterator[Standby]:
        first, some = next(self._turn), len(self._standbys)
        for n in range(some):
            standby = self._standbys[(first + n) % some]
            if self._resting.reason(standby.where) is None:
                yield standby

    def _wanted(self, user: str | None) -> int | None:
        """The place that a standby must have come to; None when only the primary will do."""
        now = self._now()
        with self._lock:
            while self._places and self._places[0][0] < now - self._seconds:
                self._places.popleft()
            due = not self._places or self._places[-1][0] < now - self._seconds / 2
        if due and self._asking.acquire(blocking=False):
            try:
                history, place = place_of(self._primary)
                with self._lock:
                    self._history = history
                    self._places.append((now, place))
            finally:
                self._asking.release()
        with self._lock:
            written = [one for one in map(self._written.get, (user, None)) if one is not None]
            places = [place for at, place in written if at >= now - self._seconds]
            places.append(self._places[0][1] if self._places else None)
        known = [place for place in places if place is not None]
        return max(known) if len(known) == len(places) else None

    def _begun(self, user: str | None) -> tuple[Standby, Connection] | None:
        """A standby that may answer, and a transaction there."""
        place = self._wanted(user)
        for standby in self._in_turn() if place is not None else ():
            try:
                if (connection := standby.begun_at(user, self._history, place or 0)) is not None:
                    return standby, connection
            except (*failures.FAILURES, StoreUnavailable) as error:
                self._leave_alone(standby, error)
        return None

    def _leave_alone(self, standby: Standby, error: Exception) -> None:
        """For a while, unless it was in the way of what it replays: that passes at once."""
        if failures.connection_lost(error) or not failures.may_pass(error):
            self._resting.rest(standby.where, failures.first_line(error))
            standby.mistrust()


def _state(standby: Standby, history: str, place: int) -> dict[str, Any]:
    try:
        follows, replayed = standby.state(history)
        if replayed and not follows:
            return {"path": standby.where, "problem": "it follows another primary, or did until a moment ago"}
        return {"path": standby.where, "behind_bytes": max(0, place - replayed) if replayed else None}
    except (*failures.FAILURES, StoreUnavailable) as error:
        return {"path": standby.where, "problem": failures.first_line(error)}
