"""Which retention policy holds where, and what setting it does."""

from typing import Any

import pytest

from recollect import Invalid, Memory, QuotaExceeded, Retention, ScopedMemory, UserSettings
from recollect.model.changes import Put
from recollect.testing.store_samples import ManualClock
from tests.unit.mining import say
from tests.unit.support import OpenMemory


def test_a_user_differs_from_the_deployment_and_a_channel_from_the_user(
    open_memory: OpenMemory, clock: ManualClock
) -> None:
    memory = open_memory(retention="ttl_days=30, popular=7")
    derek, work, anna = memory.scope("derek"), memory.scope("derek", "work"), memory.scope("anna")
    assert derek.retention() == Retention(ttl_days=30, popular=7)
    derek.set_retention(popular=5, expire=True)
    assert derek.set_retention(channel="work", popular=3) == work.retention()
    assert [scope.retention().popular for scope in (derek, work, anna)] == [5, 3, 7]
    assert [scope.retention().ttl_days for scope in (derek, work, anna)] == [30, 30, 30]
    derek.set_retention(popular=None, expire=None)
    assert derek.retention() == anna.retention()
    assert work.retention().popular == 3
    derek.set_retention(channel="work", popular=None)
    assert "retention" not in derek.settings().values
    assert set(work.retention_origins().values()) == {"default", "deployment"}


@pytest.mark.parametrize(
    "values", [{"nope": 1}, {"nope": None}, {"ttl_days": "soon"}, {"ttl_days": 0}, {"expire": 1}]
)
def test_what_cannot_be_is_refused(derek: ScopedMemory, values: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        derek.set_retention(**values)
    assert derek.retention() == Retention()


def test_quotas_of_the_whole_are_not_a_channels(derek: ScopedMemory) -> None:
    with pytest.raises(Invalid, match="channel_turn_quota"):
        derek.set_retention(channel="work", turn_quota=1)
    with pytest.raises(Invalid, match="channel"):
        derek.set_retention(channel="\n", popular=1)


def test_another_process_follows_within_a_moment(open_memory: OpenMemory, clock: ManualClock) -> None:
    one, other = open_memory().scope("derek"), open_memory().scope("derek")
    assert not other.retention().expire
    one.set_retention(expire=True)
    clock.advance(seconds=31)
    assert other.retention().expire


def test_a_correction_is_not_refused(memory: Memory, derek: ScopedMemory) -> None:
    derek.set_retention(memory_quota=1)
    saved = derek.remember("The budget is $10,000.")
    derek.correct(saved.id, "The budget is $12,500.")
    assert memory.store.user("derek").sizes()[""].memories == 2


def test_a_policy_that_cannot_be_followed_is_left_out_of_account(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    for odd in ({"": {"from_tomorrow": 1}}, ["x"], {"": {"ttl_days": -1}}):
        settings = UserSettings(id="settings", values={"retention": odd}, updated_at=clock.now())
        memory.store.user("derek").apply([Put(settings)])
        clock.advance(minutes=1)
        derek.record("user", "Hello.")
        assert derek.retention() == Retention()
    assert "left out of account" in caplog.text
    assert derek.set_retention(expire=True).expire


def test_nothing_is_evicted_for_a_note_that_has_no_room(memory: Memory, derek: ScopedMemory) -> None:
    say(derek, "I live in Lyon.")
    derek.mine()
    derek.set_retention(turn_quota=1, memory_quota=1)
    with pytest.raises(QuotaExceeded, match="turn_quota"):
        derek.remember("The budget is $10,000.")
    assert len(derek.list("fact")) == 1
