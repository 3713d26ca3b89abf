"""What users set for their own memory holds on every engine, sealed or not (H4)."""

import pytest

from recollect import Memory, ScopedMemory
from recollect.policies import KEPT
from recollect.testing.store_samples import ManualClock
from recollect.wishes import OFF, OFF_FOR_AGENT
from tests.unit.mining import say


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    return request.node.originalname


def test_set_followed_and_taken_back(
    memory: Memory, derek: ScopedMemory, user: str, clock: ManualClock
) -> None:
    planner = memory.scope(user, agent="planner")
    derek.update_settings(
        agents={"planner": {"recall": False, "mining": False}}, custom={"ü": [1, None, "x"]}
    )
    say(planner, "I live in Lyon.")
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact") == []
    assert planner.recall("Where do I live?").skipped == OFF_FOR_AGENT
    assert [hit.content for hit in derek.recall("Where do I live?").hits] == ["I live in Lyon."]
    derek.update_settings(agents={"planner": {"recall": None, "mining": None}}, top_k=1, enabled=False)
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact") == []
    assert derek.recall("Where do I live?").skipped == OFF
    derek.update_settings(enabled=None)
    clock.advance(hours=1)
    memory.tend()
    assert derek.list("fact")
    assert len(planner.recall("Where do I live?").hits) == 1
    assert derek.settings().values["custom"] == {"ü": [1, None, "x"]}


def test_what_is_stored_is_read_again_after_a_moment(
    memory: Memory, derek: ScopedMemory, user: str, clock: ManualClock
) -> None:
    derek.update_settings(enabled=False)
    stored = derek.settings()
    assert not derek.is_on()
    memory.store.user(user).erase()
    assert not derek.is_on()  # as it was a moment ago
    clock.advance(seconds=KEPT.total_seconds())
    assert derek.is_on()
    assert stored.values == {"enabled": False}
