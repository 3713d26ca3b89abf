"""With a cache in Redis recall answers as without one, whatever is done in whichever order and process."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("redis", reason="the client is an extra")

from recollect import Memory, Recollection
from recollect.testing.store_samples import ManualClock
from tests.contract import redis
from tests.contract.conftest import ENGINES, NAMES

pytestmark = [pytest.mark.engine, pytest.mark.slow]

STEPS = 60
TEXTS = ("I drink green tea", "I live in Lyon", "My cat is called Milo", "I work as a baker", "I like rain")
QUERIES = ("tea", "Where do I live?", "What is my cat called?", "my work", "rain or tea")
Memories = tuple[Memory, Memory, Memory]
GIVEN: tuple[dict[str, Any], ...] = ({}, {}, {"top_k": 1}, {"kinds": ["fact"]}, {"include": ["goals"]})


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with redis.own_server() as server:
        yield server.url


@pytest.fixture
def memories(
    place: dict[str, str], clock: ManualClock, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Memories]:
    """Two processes that share a cache, and one that has none."""
    monkeypatch.setattr("recollect.wiring.IMPATIENT", 30.0)
    given: dict[str, Any] = {"embedder": "hashing", "clock": clock, "redis": redis_url, **place}
    opened = [Memory.open(cache_seconds=seconds, redis_timeout=30.0, **given) for seconds in (300, 300, 0)]
    yield opened[0], opened[1], opened[2]
    for memory in opened:
        memory.close()


class Walk:
    """Somebody's memory, changed at random through one process or the other."""

    def __init__(self, memories: Memories, clock: ManualClock, seed: int) -> None:
        user, self.dice = f"user {seed}", random.Random(seed)
        self.clock = clock
        self.shared = [memory.scope(user) for memory in memories[:2]]
        self.bare = memories[2].scope(user)
        self.hits = 0

    def step(self) -> None:
        dice, scope = self.dice, self.dice.choice(self.shared)
        facts = [fact.id for fact in self.bare.list("fact") if fact.superseded_by is None]  # type: ignore[attr-defined]
        match dice.choice(("record", "remember", "mortal", "forget", "correct", "goal", "mine")):
            case "record":
                scope.record("user", dice.choice(TEXTS), conversation=dice.choice("ab"))
            case "remember":
                scope.remember(f"{dice.choice(TEXTS)} {dice.randrange(9)}")
            case "mortal":
                scope.remember(dice.choice(TEXTS), expires_at=self._soon())
            case "forget" if facts and dice.random() < 0.5:
                scope.forget(dice.choice(facts))
            case "forget":
                scope.forget(conversation=dice.choice("ab"))
            case "correct" if facts:
                scope.correct(dice.choice(facts), f"{dice.choice(TEXTS)} now")
            case "goal":
                scope.add_goal("Buy tea")
            case _:
                scope.mine()

    def check(self) -> None:
        """Ask the same, again and again, while time goes by."""
        query, given = self.dice.choice(QUERIES), self.dice.choice(GIVEN)
        for _ in range(2):
            expected = told(self.bare.recall(query, **given))
            for scope in self.shared:
                found = scope.recall(query, **given)
                self.hits += found.used[-1].name == "cache"
                assert told(found) == expected
            self.clock.advance(seconds=self.dice.randrange(100))

    def _soon(self) -> datetime:
        return self.clock.now() + timedelta(seconds=self.dice.randrange(1, 400))


def told(found: Recollection) -> Recollection:
    assert not found.problems
    return replace(found, used=())


@pytest.mark.parametrize("place", ENGINES, ids=NAMES, indirect=True)
@pytest.mark.parametrize("seed", range(2))
def test_with_and_without_are_the_same(memories: Memories, clock: ManualClock, seed: int) -> None:
    walk = Walk(memories, clock, seed)
    for _ in range(STEPS):
        walk.step()
        walk.check()
    assert walk.hits > STEPS  # most of those asked the same again
