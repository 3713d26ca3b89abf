"""What the retention policy does has to come out the same on every engine, sealed or not."""

from datetime import timedelta

import pytest

from recollect import Entity, Memory, NotFound, ScopedMemory
from recollect.model.changes import Chunk, Put, Revise
from recollect.model.records import Conversation, Fact, Tombstone, Turn
from recollect.model.searched import searchable_text
from recollect.testing.store_samples import START, ManualClock
from tests.contract.keeping import DAY, a_fact, audited, inferred, pass_time, planned, returned, tended, usage
from tests.unit.mining import facts, say

# Expiry


def test_a_memory_expires_or_is_renewed(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True, ttl_days=15.0, popular=10)
    plain = derek.remember("The gate code is 4711.")
    loved = derek.remember("Derek takes the window seat.")
    kept = derek.remember("Derek is allergic to peanuts.", pinned=True)
    own = derek.remember("The parking spot is 12.", expires_at=START + 2 * DAY)
    assert plain.expires_at == loved.expires_at == START + 15 * DAY
    assert kept.expires_at is None
    returned(memory, derek, loved, 10)
    returned(memory, derek, own, 50)  # its end was set by somebody, and stays
    returned(memory, derek, plain, 9)

    pass_time(clock, 2 * DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("expire", own.id)]
    pass_time(clock, 12 * DAY + timedelta(hours=1))  # it would run out before anybody looks again
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("renew", loved.id)]
    assert a_fact(derek, loved.id).expires_at == START + 30 * DAY
    assert (usage(memory, derek, loved.id).since_renewal, usage(memory, derek, loved.id).count) == (0, 10)
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("expire", plain.id)]
    with pytest.raises(NotFound):
        derek.get(plain.id)
    assert any(hit.id == loved.id for hit in derek.recall("window seat").hits)
    pass_time(clock, 15 * DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("expire", loved.id)]
    assert [entry.details["popular"] for entry in audited(derek, "renew")] == [10]
    pass_time(clock, 1000 * DAY)
    tended(memory, derek)
    assert a_fact(derek, kept.id).pinned


def test_unpinned_it_lives_on_from_there(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    kept = derek.remember("Derek is allergic to peanuts.")
    derek.pin(kept.id)
    pass_time(clock, 100 * DAY)
    assert [hit.id for hit in derek.recall("peanuts").hits] == [kept.id]
    assert derek.pin(kept.id, False).expires_at == clock.now() + 15 * DAY
    assert [hit.id for hit in derek.recall("peanuts").hits] == [kept.id]


def test_what_expires_brings_nothing_back(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    old = derek.remember("The budget is $10,000.")  # before there was a policy
    derek.set_retention(expire=True)
    derek.correct(old.id, "The budget is $12,500.")
    pass_time(clock, 20 * DAY)
    assert {action for action, _, _ in tended(memory, derek)} == {"expire"}
    assert facts(derek) == []


def test_what_has_expired_is_not_mined_again_unless_it_is_said_again(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(expire=True)
    say(derek, "I live in Lyon.")
    derek.mine()
    pass_time(clock, 20 * DAY)
    tended(memory, derek)
    assert facts(derek) == []
    store = memory.store.user(derek.scope.user)
    store.apply([Revise("conversation", "a", {"mined_to": 0})])
    derek.mine()
    assert facts(derek) == []
    say(derek, "I live in Lyon.")
    derek.mine()
    assert len(facts(derek)) == 1


def test_said_again_it_lives_as_long_as_a_new_one(derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    say(derek, "I live in Lyon.")
    derek.mine()
    pass_time(clock, 10 * DAY)
    say(derek, "I live in Lyon.")
    derek.mine()
    (fact,) = derek.list("fact")
    assert isinstance(fact, Fact)
    assert fact.expires_at == clock.now() + 15 * DAY


# Decay


def test_an_entity_fades_and_comes_back(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    say(derek, "My sister Anna works at Acme.")
    derek.mine()
    before = {e.name: e for e in derek.list("entity") if isinstance(e, Entity)}
    acme = before["Acme"]
    pass_time(clock, 14 * DAY)
    told = tended(memory, derek)
    assert {action for action, _, _ in told} == {"decay"}
    faded = derek.get(acme.id)
    assert isinstance(faded, Entity)
    assert faded.initial == acme.salience
    assert faded.salience == pytest.approx(acme.salience * 0.95**14.04, rel=0.01)
    seq = memory.store.user(derek.scope.user).seq()
    pass_time(clock, DAY / 100)
    memory.tend()
    assert memory.store.user(derek.scope.user).seq() == seq  # computed from what it was at first

    say(derek, "Anna likes it at Acme.")
    say(derek, "I work at Acme.")
    derek.mine()
    again = derek.get(acme.id)
    assert isinstance(again, Entity)
    assert again.initial is None
    assert again.salience > acme.salience
    assert again.last_seen is not None
    assert clock.now() - again.last_seen < timedelta(hours=1)


def test_what_is_recorded_of_long_ago_is_not_idle_yet(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(archive=False)
    derek.record("user", "My sister Anna works at Acme.", conversation="a", at=START - 1000 * DAY)
    derek.mine()
    assert tended(memory, derek) == []


def test_what_is_recalled_counts_as_before(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    anna = Entity(id="anna", name="Anna", description="plays the cello", first_seen=START)
    memory.store.user(derek.scope.user).apply([Put(anna, (Chunk(0, len(searchable_text(anna))),))])
    pass_time(clock, 20 * DAY)
    tended(memory, derek)
    faded = derek.get(anna.id)
    returned(memory, derek, anna, 1)
    pass_time(clock, DAY)
    tended(memory, derek)
    found = derek.get(anna.id)
    assert isinstance(faded, Entity)
    assert isinstance(found, Entity)
    assert faded.salience < anna.salience == found.salience


def test_what_was_inferred_grows_unsure(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    fact = inferred(memory, derek)
    sure = inferred(memory, derek, id="0195a3c2-0000-7000-8000-000000000002", confidence=0.95)
    kept = inferred(memory, derek, id="0195a3c2-0000-7000-8000-000000000003", pinned=True)
    said = derek.remember("Derek likes rock.", confidence=0.5)
    pass_time(clock, 70 * DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("decay", fact.id)]
    assert a_fact(derek, fact.id).confidence == pytest.approx(0.7 * 0.95**10)
    assert a_fact(derek, fact.id).initial == 0.7
    assert [a_fact(derek, m.id) for m in (sure, kept, said)] == [sure, kept, said]


def test_nothing_fades_where_that_is_off(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(decay=False)
    inferred(memory, derek)
    pass_time(clock, 1000 * DAY)
    assert tended(memory, derek) == []


# Cleanup


def test_old_conversations_are_archived_until_they_go_on(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    say(derek, "Nice weather.")
    pass_time(clock, 89 * DAY)
    assert tended(memory, derek) == []
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("archive", "a")]
    pass_time(clock, DAY)
    assert tended(memory, derek) == []
    say(derek, "Still nice.")
    pass_time(clock, DAY)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("unarchive", "a")]
    found = derek.get("a")
    assert isinstance(found, Conversation)
    assert found.archived_at is None


def test_an_entity_goes_when_nothing_is_about_it(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.remember("Anna plays the cello.", about=["Anna"])
    gone = derek.remember("Globex is a customer.", about=["Globex"])
    store = memory.store.user(derek.scope.user)
    lonely = Entity(id="lonely", name="Nobody", first_seen=START, salience=0.05)
    young = Entity(id="young", name="Somebody", first_seen=START + 20 * DAY, salience=0.05)
    store.apply([Put(lonely, ()), Put(young, ())])
    pass_time(clock, 40 * DAY)
    assert ("prune", "lonely") in [(action, id) for action, id, _ in tended(memory, derek)]
    assert {e.name for e in derek.list("entity") if isinstance(e, Entity)} == {"Anna", "Globex", "Somebody"}
    store.apply([Revise("fact", gone.id, {"retired_at": clock.now(), "valid_to": clock.now()})])
    pass_time(clock, 60 * DAY)
    tended(memory, derek)
    assert [e.name for e in derek.list("entity") if isinstance(e, Entity)] == ["Anna"]


def test_turns_go_after_so_many_days_with_what_rests_on_them(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    derek.set_retention(turn_days=30.0)
    say(derek, "I live in Lyon.", conversation="old")
    say(derek, "I have a dog.", conversation="kept")
    call = derek.record_tool("weather", {"city": "Lyon"}, {"sky": "clear"})
    note = derek.remember("Derek is allergic to peanuts.")
    derek.mine()
    dog = next(f for f in derek.list("fact") if isinstance(f, Fact) and "dog" in f.content)
    derek.pin(dog.id)
    pass_time(clock, 20 * DAY)
    say(derek, "Hello.", conversation="new")
    pass_time(clock, 10 * DAY)
    erased = [id for action, id, _ in tended(memory, derek) if action == "erase"]
    assert len(erased) == 3
    assert "old" in erased
    assert derek.conversation("old") == []
    with pytest.raises(NotFound):
        derek.get(call.id)
    assert [turn.content for turn in derek.conversation("kept")] == ["I have a dog."]
    assert len(derek.conversation("new")) == 1
    assert facts(derek) == sorted([dog.content, note.content])
    assert not [entry for entry in derek.audit() if "old" in (entry.conversation or entry.subject).split()]
    (receipt,) = [entry for entry in derek.audit("erase") if entry.memory_kind == "turn"]
    assert (receipt.count, receipt.details["turn_days"]) == (1, 30.0)
    assert "kept for 30 days" in receipt.details["why"]
    with pytest.raises(NotFound):
        derek.get("old")


# All of it


def test_a_dry_run_tells_and_changes_nothing(memory: Memory, derek: ScopedMemory, clock: ManualClock) -> None:
    derek.set_retention(expire=True)
    derek.remember("The gate code is 4711.", about=["Gate"])
    say(derek, "Nice weather.")
    derek.mine()
    pass_time(clock, 100 * DAY)
    store = memory.store.user(derek.scope.user)
    before = (store.seq(), list(derek.export()))
    told = planned(memory, derek)
    assert {action for action, _, _ in told} == {"expire", "archive", "decay"}
    assert not any("4711" in why or "Gate" in why for _, _, why in told)
    assert (store.seq(), list(derek.export())) == before
    memory.tend()
    assert store.seq() > before[0]
    assert memory.store.user(derek.scope.user).count(Tombstone) == 1
    assert not derek.list("fact")
    assert store.count(Turn, {"role": "note"}) == 0
