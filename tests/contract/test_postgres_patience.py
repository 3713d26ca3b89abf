"""How long a server that is gone is waited for. The clock is ours: nothing here waits."""

from collections.abc import Callable

import psycopg
import pytest

from recollect.stores.postgres import session
from recollect.stores.postgres.session import Sessions, parsed

REFUSED = 'connection to server at "127.0.0.1", port 1 failed: Connection refused'
STARTING = "FATAL: the database system is starting up"


class Time:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + 0.01


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(session, "time", time)
    monkeypatch.setattr(session, "_reached", set())
    return time


@pytest.fixture
def sessions(time: Time) -> Sessions:
    return Sessions(parsed("postgresql://me@127.0.0.1:1/memory"), pool=1, timeout=30.0)


def failing(time: Time, said: str, seconds: float) -> Callable[[], float]:
    """A step that fails for so long, then tells the time."""
    end = time.now + seconds

    def step() -> float:
        if time.now < end:
            raise psycopg.OperationalError(said)
        return time.now

    return step


def waited(time: Time, sessions: Sessions, said: str) -> float:
    begun, step = time.now, failing(time, said, 1000)
    with pytest.raises(psycopg.OperationalError):
        sessions.again(lambda: sessions.again(step))  # as a reading method asks its session
    return time.now - begun


def test_an_address_that_never_worked_is_told_at_once(time: Time, sessions: Sessions) -> None:
    assert 0.5 < waited(time, sessions, REFUSED) < 1.5
    assert waited(time, sessions, "failed to resolve host 'nowhere'") < 1.5


def test_a_server_that_was_there_is_waited_for_once(time: Time, sessions: Sessions) -> None:
    session._reached.add(sessions.where)
    assert session.PATIENCE - 1.5 < waited(time, sessions, REFUSED) < session.PATIENCE + 0.5
    assert sessions.again(failing(time, REFUSED, 7.0)) >= 107.0


def test_a_server_that_is_starting_is_waited_for_from_the_first(time: Time, sessions: Sessions) -> None:
    assert sessions.again(failing(time, STARTING, 25.0)) >= 125.0
    assert 25 < waited(time, sessions, STARTING) < 30.5
