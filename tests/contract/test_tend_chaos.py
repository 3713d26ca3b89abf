"""Many workers on one database, one of them killed every second: nothing is done twice, nothing is skipped,
nothing stays locked."""

import random
import signal
from datetime import datetime, timedelta
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from time import monotonic, sleep

import pytest

from recollect import Memory
from recollect.model.records import Conversation
from recollect.ports.clock import SystemClock
from recollect.tend import work
from tests.contract.chaos import STAMP, assert_nothing_is_left, assert_sound, opened, worker
from tests.contract.mining import FIRST, said

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.timeout(600)]

SECONDS = 60
PROCESSES = get_context("forkserver")  # they are there at once, with everything imported
PROCESSES.set_forkserver_preload(["tests.contract.chaos"])
USERS = ("alice", "bob", "cara", "dan", "eve")
ROUNDS = 30
"""So often the background comes at most before nothing is left to do."""


class Later(SystemClock):
    """When every lease has run out."""

    ahead = timedelta(hours=1)

    def now(self) -> datetime:
        return super().now() + self.ahead


def _talk(memory: Memory, user: str, talk: int) -> list[str]:
    """A conversation of its own, and one more word in an earlier one."""
    scope, start = memory.scope(user), FIRST + timedelta(days=talk)
    texts = list(said(talk))
    scope.record_many(
        {"role": "user", "content": text, "conversation": f"talk-{talk}", "at": start + timedelta(minutes=n)}
        for n, text in enumerate(texts)
    )
    more = f"I have {talk + 40} kites."
    scope.record("user", more, conversation=f"talk-{talk // 2}", at=start + timedelta(hours=1))
    scope.recall("Where do I live?")
    return [*texts, more]


def _killed_every_second(
    memory: Memory, address: str, workers: int, chance: random.Random
) -> dict[str, list[str]]:
    """What each user said while workers came and went."""
    told: dict[str, list[str]] = {user: [] for user in USERS}
    living = [_started(address) for _ in range(workers)]
    try:
        talk, end, kill = 0, monotonic() + SECONDS, monotonic() + 1
        while monotonic() < end:
            user = chance.choice(USERS)
            told[user] += _talk(memory, user, talk)
            talk += 1
            sleep(0.2)
            if monotonic() >= kill:
                kill += 1
                _kill(living.pop(chance.randrange(len(living))))
                living.append(_started(address))
    finally:
        for process in living:
            _kill(process)
    return told


def _started(address: str) -> ForkServerProcess:
    process = PROCESSES.Process(target=worker, args=(address,))
    process.start()
    return process


def _kill(process: ForkServerProcess) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "it ended by itself"


@pytest.mark.parametrize(("engine", "workers"), [("postgres", 8), ("sqlite", 4)])
def test_workers_that_are_killed_do_everything_once(
    engine: str, workers: int, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite = engine == "sqlite"
    address = str(tmp_path / "memory.db") if sqlite else request.getfixturevalue("empty")
    with opened(address, embed_on_write=False) as memory:
        told = _killed_every_second(memory, address, workers, random.Random(workers))
        mined = sum(talk.mined_to for user in USERS for talk in memory.store.user(user).find(Conversation))
    assert mined > 0, "those who were killed had done something"
    monkeypatch.setattr(work, "CHORES", (*work.CHORES, STAMP))
    usual = dict.fromkeys(("consolidate_minutes", "promote_minutes", "patterns_minutes"), 60.0)
    clock = Later()
    with opened(address, clock=clock, **usual, lease_seconds=120.0) as memory:
        rounds = 0
        while any(outcome.done for outcome in memory.tend()) and rounds < ROUNDS:
            rounds += 1
            clock.ahead += timedelta(seconds=1)  # a chore that was here a moment ago would not be due
        for user in USERS:
            assert_sound(memory, user, told[user])
        assert_nothing_is_left(memory)
