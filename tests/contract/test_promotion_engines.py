"""Quotas, promotion and channels apart, on every engine."""

from typing import Any

import pytest

from recollect import Entity, Invalid, Memory, NotFound, QuotaExceeded, ScopedMemory
from recollect.model.records import Fact, MemoryRecord
from recollect.testing.store_samples import ManualClock
from tests.contract.keeping import DAY, a_fact, audited, inferred, pass_time, planned, returned, tended
from tests.unit.mining import facts, say

# Quotas


def test_turns_over_the_quota_are_refused(derek: ScopedMemory) -> None:
    derek.set_retention(turn_quota=2)
    derek.set_retention(channel="side", channel_turn_quota=1)
    say(derek, "One.", "Two.")
    with pytest.raises(QuotaExceeded, match="turn_quota"):
        say(derek, "Three.")
    assert len(derek.conversation("a")) == 2
    assert derek.record("user", "Two.", conversation="a", index=1).index == 1  # it is there already


def test_a_channel_has_a_quota_of_its_own(memory: Memory, derek: ScopedMemory) -> None:
    derek.set_retention(channel="side", channel_turn_quota=1)
    side = memory.scope(derek.scope.user, "side")
    say(side, "One.", conversation="s")
    with pytest.raises(QuotaExceeded, match="channel_turn_quota"):
        say(side, "Two.", conversation="s")
    say(derek, "Two.", "Three.")


def many(memory: Memory, user: ScopedMemory, count: int, **given: Any) -> list[Fact]:
    return [
        inferred(
            memory,
            user,
            id=f"0195a3c2-0000-7000-8000-{number:012}",
            content=f"Number {number}.",
            salience=0.1 + number / 100,
            **given,
        )
        for number in range(count)
    ]


def test_the_least_valuable_mined_memories_go(memory: Memory, derek: ScopedMemory) -> None:
    derek.set_retention(memory_quota=5)
    mined = many(memory, derek, 5)
    saved = [derek.remember(f"Saved {n}.", salience=0.01) for n in range(1)]
    assert [f.id for f in derek.list("fact", oldest_first=True, origin="rules")] == [f.id for f in mined[1:]]
    many(memory, derek, 5)  # mining is never refused
    pinned = mined[1]
    derek.pin(pinned.id)
    returned(memory, derek, mined[2], 50)
    memory.tend()
    left = {fact.id for fact in derek.list("fact")}
    assert len(left) == 5
    assert {saved[0].id, pinned.id} <= left
    assert mined[0].id not in left


def test_nothing_that_was_saved_goes_for_something_to_be_saved(derek: ScopedMemory) -> None:
    derek.set_retention(memory_quota=2)
    derek.remember("One.")
    derek.remember("Two.")
    with pytest.raises(QuotaExceeded, match="memory_quota"):
        derek.remember("Three.")
    assert len(facts(derek)) == 2


def test_what_cannot_fit_makes_nothing_go(derek: ScopedMemory) -> None:
    for city in ("Lyon", "Porto", "Turin", "Basel"):
        derek.record("user", f"My friend {city}a lives in {city}.", conversation=city)
    derek.mine()
    mined = facts(derek)
    derek.set_retention(memory_quota=len(mined) + 1)
    with pytest.raises(QuotaExceeded, match="memory_quota"):
        derek.remember_many([f"Saved {n}." for n in range(len(mined) + 2)])
    assert facts(derek) == mined


def test_what_cannot_fit_in_its_channel_makes_nothing_go_elsewhere(
    memory: Memory, derek: ScopedMemory
) -> None:
    mined = many(memory, derek, 3)
    side = memory.scope(derek.scope.user, "side")
    side.remember("Saved.")
    derek.set_retention(memory_quota=4)
    derek.set_retention(channel="side", channel_memory_quota=1)
    with pytest.raises(QuotaExceeded, match="memory_quota"):
        side.remember("One too many.")
    assert {fact.id for fact in derek.list("fact", origin="rules")} == {fact.id for fact in mined}


def test_what_makes_room_in_its_channel_makes_room_for_all(memory: Memory, derek: ScopedMemory) -> None:
    (elsewhere,) = many(memory, derek, 1)
    side = memory.scope(derek.scope.user, "side")
    inferred(memory, derek, id="0195a3c2-0000-7000-8000-000000000100", channel="side", salience=0.9)
    derek.set_retention(memory_quota=2)
    derek.set_retention(channel="side", channel_memory_quota=1)
    saved = side.remember("Saved.")
    assert {fact.id for fact in derek.list("fact")} == {elsewhere.id, saved.id}


def test_no_reason_to_evict_names_a_channel(memory: Memory, derek: ScopedMemory) -> None:
    name = "Zqsidechannelqz"
    side = memory.scope(derek.scope.user, name)
    derek.set_retention(channel=name, channel_memory_quota=1)
    many(memory, derek, 3, channel=name)
    memory.tend()
    evicted = audited(side, "evict")
    assert [entry.details["used"] for entry in evicted] == [3, 3]
    assert name not in repr([entry.details for entry in evicted])
    side.forget(channel=name)
    assert name not in repr(derek.audit(limit=1000))


def test_a_warning_once_a_day_until_it_falls_below(
    memory: Memory, derek: ScopedMemory, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    derek.set_retention(memory_quota=10, decay=False)
    saved = [derek.remember(f"Saved {n}.") for n in range(8)]

    def day() -> list[str]:
        pass_time(clock, DAY)
        return [action for action, _, _ in tended(memory, derek)]

    assert day() == ["quota_warning"]
    assert "nearly used up: 8 of 10 memories" in caplog.text
    derek.remember("One more.")
    assert day() == ["quota_warning"]
    for gone in saved[:4]:
        derek.forget(gone.id)
    assert day() == []
    for n in range(4):
        derek.remember(f"Again {n}.")
    assert day() == ["quota_warning"]
    warning = audited(derek, "quota_warning")[0]
    assert warning.details == {"used": 8, "quota": 10}


# Promotion


def promotable(memory: Memory, user: ScopedMemory) -> MemoryRecord:
    """A fact of a channel that was said in two conversations and returned five times."""
    say(user, "I live in Lyon.", conversation="first")
    say(user, "I live in Lyon.", conversation="second")
    user.mine()
    found = user.list("fact", channel=user.scope.channel)
    (fact,) = [f for f in found if isinstance(f, MemoryRecord)]
    assert fact.confidence >= 0.85
    returned(memory, user, fact, 5)
    return fact


def test_a_fact_that_matters_is_promoted_and_still_corrected(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    user = derek.scope.user
    work, home = memory.scope(user, "work"), memory.scope(user, "home")
    fact = promotable(memory, work)
    assert [(action, id) for action, id, _ in tended(memory, derek)] == [("promote", fact.id)]
    moved = a_fact(derek, fact.id)
    assert (moved.channel, moved.promoted_from) == ("_global", "work")
    assert fact.id in [hit.id for hit in home.recall("Where do I live?").hits]
    details = audited(derek, "promote")[0].details
    assert details["promote_count"] == 5
    assert (details["from"], details["to"]) == ("work", "_global")
    assert details["conversations"] == 2

    say(work, "I live in Lyon.", conversation="third")
    work.mine()
    assert len(derek.list("fact")) == 1
    assert len(a_fact(derek, fact.id).sources) == 3

    pass_time(clock, DAY)
    say(work, "I moved to Porto.", conversation="third")
    work.mine()
    (now,) = [f for f in derek.list("fact", superseded_by=None, tense="current") if isinstance(f, Fact)]
    assert "Porto" in now.content
    assert (now.channel, now.promoted_from, now.supersedes) == ("_global", "work", fact.id)

    pass_time(clock, DAY)
    say(derek, "I moved to Rome.", conversation="fourth")
    derek.mine()
    pass_time(clock, DAY)
    say(work, "I moved to Oslo.", conversation="fifth")
    work.mine()
    held = [f for f in derek.list("fact", superseded_by=None, tense="current") if isinstance(f, Fact)]
    assert ["Oslo" in f.content for f in held] == [True]
    assert len(derek.list("fact", tense="current")) == 4


def test_what_is_not_sure_or_not_asked_for_stays(memory: Memory, derek: ScopedMemory) -> None:
    work = memory.scope(derek.scope.user, "work")
    say(work, "I live in Lyon.", conversation="first")
    work.mine()
    (fact,) = work.list("fact")
    returned(memory, work, fact, 5)
    assert tended(memory, derek) == []  # said in one conversation only
    derek.set_retention(promote_conversations=1, promote_count=6)
    assert [a for a, _, _ in planned(memory, derek)] == []
    derek.set_retention(promote_count=5, promote=False)
    assert [a for a, _, _ in planned(memory, derek)] == []


def test_nothing_is_promoted_beside_what_answers_the_same(
    memory: Memory, derek: ScopedMemory, clock: ManualClock
) -> None:
    work = memory.scope(derek.scope.user, "work")
    fact = promotable(memory, work)
    say(derek, "I live in Rome.", conversation="elsewhere")
    derek.mine()
    assert [a for a, _, _ in planned(memory, derek) if a == "promote"] == []
    with pytest.raises(Invalid, match="answers the same"):
        work.promote(fact.id)


def test_promoted_and_taken_back_by_hand(memory: Memory, derek: ScopedMemory) -> None:
    work = memory.scope(derek.scope.user, "work")
    fact = promotable(memory, work)
    assert work.promote(fact.id).channel == "_global"
    with pytest.raises(Invalid, match="already"):
        work.promote(fact.id)
    assert work.promote(fact.id, False).channel == "work"
    with pytest.raises(Invalid, match="was not promoted"):
        work.promote(fact.id, False)
    assert [a for a, _, _ in planned(memory, derek) if a == "promote"] == []  # somebody wants it there


def test_an_isolated_channel_is_apart(memory: Memory, derek: ScopedMemory) -> None:
    user = derek.scope.user
    derek.remember("The safe is behind the mirror.", about=["Anna"])
    apart = memory.scope(user, "apart")
    assert len(apart.recall("Where is the safe?").hits) == 1
    derek.add_goal("Open the safe")
    apart.add_goal("Find the key")
    derek.set_retention(channel="apart", isolated=True)
    for inside, own in ((apart, "Find the key"), (derek, "Open the safe")):
        brought = inside.recall("Where is the safe?", include=["goals"]).goals
        assert {g.description for g in (*brought, *inside.goals())} == {own}
    assert apart.recall("Where is the safe?").hits == ()
    assert apart.timeline() == []
    with pytest.raises(NotFound):
        apart.timeline("Anna")
    note = apart.remember("Anna has the key.", about=["Anna"])
    assert [e.channel for e in derek.list("entity", name="Anna") if isinstance(e, Entity)].count("apart") == 1
    assert note.about != derek.remember("Anna is away.", about=["Anna"]).about
    apart.forget(note.id)
    fact = promotable(memory, apart)
    say(apart, "My sister Anna works at Acme.", conversation="third")
    apart.mine()
    assert {e.channel for e in apart.list("entity", name="Anna") if isinstance(e, Entity)} == {
        "_global",
        "apart",
    }
    assert [a for a, _, _ in tended(memory, derek) if a == "promote"] == []
    with pytest.raises(Invalid, match="isolated"):
        apart.promote(fact.id)
